package submission

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// contact is a contact as far as the copy keeps it.
type contact struct {
	ID           uuid.UUID
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name"`
	Email        string
	Phone        string
	OwnerUserID  *int64 `json:"owner_user_id"`
	Organization *ref
}

func (r *Room) onContact(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	switch {
	case e.Tombstone:
		// The contact is gone, for whatever reason. The submissions are forms' own.
		_, err := tx.Exec(ctx, `delete from contact where id = $1`, id)
		return err
	case e.Kind == proto.KindContactErased:
		return forgetContact(ctx, tx, id)
	case e.Kind == proto.KindContactMergedAway:
		var x proto.MergedAway
		if err := e.DecodeExtra(&x); err != nil {
			return err
		}
		into, err := uuid.Parse(x.GetInto())
		if err != nil {
			return fmt.Errorf("the contact that %s went into: %w", id, err)
		}
		return mergeContact(ctx, tx, into, id)
	}
	var c contact
	if len(e.Data) > 0 && string(e.Data) != "null" {
		if err := e.Decode(&c); err != nil {
			return err
		}
		if err := keepContact(ctx, tx, c, e); err != nil {
			return err
		}
		if e.State {
			// contacts went back to a backup from before a merge.
			if _, err := tx.Exec(ctx, `delete from contact_alias where id = $1`, id); err != nil {
				return err
			}
		}
	}
	switch e.Kind {
	case proto.KindContactMerged:
		merged, err := mergedID(e)
		if err != nil {
			return err
		}
		return mergeContact(ctx, tx, id, merged)
	case proto.KindContactEnsured:
		return r.contactEnsured(ctx, tx, e)
	}
	return nil
}

// mergedID is the id of the record that was merged away.
func mergedID(e bus.Event) (uuid.UUID, error) {
	var x proto.Merged
	if err := e.DecodeExtra(&x); err != nil {
		return uuid.Nil, err
	}
	id, err := uuid.Parse(x.GetMergedId())
	if err != nil {
		return id, fmt.Errorf("merged_id of %s: %w", e.Kind, err)
	}
	return id, nil
}

// keepContact stores the contact of an event, unless the copy has a newer version.
func keepContact(ctx context.Context, tx *db.Tx, c contact, e bus.Event) error {
	var organization *uuid.UUID
	if c.Organization != nil {
		organization = &c.Organization.ID
		// The event of the organization may come later, or never while it stays as it is.
		_, err := tx.Exec(ctx, `insert into organization (id, version, name) values ($1, 0, $2) on conflict (id) do nothing`,
			c.Organization.ID, c.Organization.Name)
		if err != nil {
			return err
		}
	}
	_, err := tx.Exec(ctx, `insert into contact as c (id, version, name, email, owner_user_id, organization_id) values ($1, $2, $3, $4, $5, $6)
		on conflict (id) do update set version = excluded.version, name = excluded.name, email = excluded.email,
			owner_user_id = excluded.owner_user_id, organization_id = excluded.organization_id
			where c.version < $7`,
		c.ID, e.Version, definition.NameOf(c.FirstName, c.LastName, c.Email, c.Phone), address.Key(c.Email), c.OwnerUserID, organization, e.ReplacesBelow())
	return err
}

// contactEnsured completes the submission that asked for the contact, publishes form.submitted and mails the owner.
func (r *Room) contactEnsured(ctx context.Context, tx *db.Tx, e bus.Event) error {
	var x proto.Ensured
	if err := e.DecodeExtra(&x); err != nil {
		return err
	}
	if x.GetOrigin() != originSubmission {
		return nil
	}
	id, err := uuid.Parse(x.GetOriginId())
	if err != nil {
		return fmt.Errorf("origin_id of %s: %w", e.Kind, err)
	}
	contact := optionalID(x.GetContactId())
	// contact.merged can be consumed before this event: then the submission is the surviving contact's.
	var form int64
	var toOwner bool
	err = tx.QueryRow(ctx, `update submission s set result = $2, held = null, version = s.version + 1,
			contact_id = coalesce((select a.contact_id from contact_alias a where a.id = $3::uuid), $3::uuid)
		from form f where s.id = $1 and s.status = 'received' and s.result = 'pending' and f.id = s.form_id
		returning f.id, coalesce((f.definition->'notify'->>'owner')::boolean, false)`, id, x.GetResult(), contact).Scan(&form, &toOwner)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	sub, err := emit(ctx, tx, proto.KindFormSubmitted, id, nil)
	if err != nil || !toOwner || !sub.Contact.Given() {
		return err
	}
	return r.notifyOwner(ctx, tx, form, sub)
}

// mergeContact moves the submissions of a contact that was merged away to the surviving one.
func mergeContact(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error {
	for _, q := range []string{
		`update contact_alias set contact_id = $1 where contact_id = $2`,
		`insert into contact_alias (contact_id, id) values ($1, $2) on conflict (id) do update set contact_id = excluded.contact_id`,
	} {
		if _, err := tx.Exec(ctx, q, winner, loser); err != nil {
			return err
		}
	}
	if _, err := tx.Exec(ctx, `delete from contact where id = $1`, loser); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `with s as (select id from submission where contact_id = $2 order by id for update)
		update submission set contact_id = $1, version = version + 1 from s where submission.id = s.id returning submission.id`, winner, loser)
	if err != nil {
		return err
	}
	moved, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	for _, id := range moved {
		if _, err := emit(ctx, tx, proto.KindSubmissionUpdated, id, []string{"contact"}); err != nil {
			return err
		}
	}
	return nil
}

func onOrganization(ctx context.Context, tx *db.Tx, e bus.Event) error {
	id, err := uuid.Parse(e.Key)
	if err != nil {
		return err
	}
	if e.Tombstone {
		if _, err := tx.Exec(ctx, `update contact set organization_id = null where organization_id = $1`, id); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, `delete from organization where id = $1`, id)
		return err
	}
	var o ref
	if err := e.Decode(&o); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, `insert into organization as o (id, version, name) values ($1, $2, $3)
		on conflict (id) do update set version = excluded.version, name = excluded.name where o.version < $4`,
		id, e.Version, o.Name, e.ReplacesBelow())
	if err != nil || e.Kind != proto.KindOrganizationMerged || tag.RowsAffected() == 0 {
		return err // no row: the copy is newer, and so is what contacts say of their organization
	}
	merged, err := mergedID(e)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update contact set organization_id = $1 where organization_id = $2`, id, merged)
	return err
}
