package link

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/reversal"
	"frontdesk/services/contacts/internal/timeline"
)

// Link is the other side of a link between a person and an organization.
type Link struct {
	ID        uuid.UUID `json:"id" doc:"The id of the organization."`
	Name      string    `json:"name" doc:"The name of the organization."`
	Role      string    `json:"role" doc:"What the person does there, in words."`
	IsPrimary bool      `json:"is_primary" doc:"It is the organization that stands beside the name."`
	Version   int64     `json:"version" doc:"The version of the contact, which has its links: the ETag that changes of the link take in If-Match."`
}

// contactOrganizations lists the organizations of a contact, the primary one first.
func (r *Room) contactOrganizations(ctx context.Context, tx *db.Tx, in op.ByID) (db.List[Link], error) {
	if _, err := contact.ByID(ctx, tx, in.ID); err != nil {
		return db.List[Link]{}, err
	}
	links, err := Of(ctx, tx, in.ID)
	return db.All(links), err
}

// Of lists the organizations of a contact that are not in the trash, the primary one first.
func Of(ctx context.Context, tx *db.Tx, contact uuid.UUID) ([]Link, error) {
	return db.Rows[Link](ctx, tx, `
		select o.id, o.name, l.role, l.is_primary, c.version
		from contact_organization l join organization o on o.id = l.organization_id join contact c on c.id = l.contact_id
		where l.contact_id = $1 and o.deleted_at is null order by l.is_primary desc, l.created_at, o.id`, contact)
}

// organizationContacts lists the people of an organization that the actor may see.
func (r *Room) organizationContacts(ctx context.Context, tx *db.Tx, in op.ByID) (db.List[Link], error) {
	if _, err := organization.ByID(ctx, tx, in.ID); err != nil {
		return db.List[Link]{}, err
	}
	var w db.Where
	w.And("l.organization_id = ? and c.deleted_at is null", in.ID)
	contact.OnlyOwn(&w, tx)
	rows, err := tx.Query(ctx, `
		select c.id, c.first_name, c.last_name, c.email, c.phone, l.role, l.is_primary, c.version
		from contact_organization l join contact c on c.id = l.contact_id where `+w.String()+` order by l.created_at, c.id`, w.Args...)
	if err != nil {
		return db.List[Link]{}, err
	}
	links, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Link, err error) {
		var first, last, email, phone string
		err = row.Scan(&l.ID, &first, &last, &email, &phone, &l.Role, &l.IsPrimary, &l.Version)
		l.Name = person.DisplayName(first, last, email, phone)
		return l, err
	})
	return db.All(links), err
}

// newLink links a person with an organization, or changes the link that is there.
type newLink struct {
	linkID
	Role      string `json:"role,omitempty" maxLength:"100" doc:"What the person does there, in words."`
	IsPrimary bool   `json:"is_primary,omitempty" doc:"Marks the person's main organization; any other loses the mark."`
}

// linkContact links a person with an organization.
func (r *Room) linkContact(ctx context.Context, tx *db.Tx, in newLink) (op.Stamp, error) {
	c, o, err := lockBoth(ctx, tx, in.linkID)
	if err != nil {
		return op.Stamp{}, err
	}
	changed, err := Set(ctx, tx, c, o, person.Name(in.Role), in.IsPrimary)
	if changed {
		c.Version++
	}
	return op.Stamp{Version: c.Version}, err
}

// lockBoth locks the two sides of a link; 412 svc_version_mismatch if the caller has seen another version of the contact.
func lockBoth(ctx context.Context, tx *db.Tx, in linkID) (contact.Contact, organization.Organization, error) {
	c, err := contact.LockLive(ctx, tx, in.ContactID)
	if err != nil {
		return c, organization.Organization{}, err
	}
	o, err := organization.LockLive(ctx, tx, in.ID)
	if err != nil {
		return c, o, err
	}
	return c, o, tx.Match(c.Version)
}

// Set makes or changes the link between a locked contact and a locked organization. A link that stays
// as it is changes nothing.
func Set(ctx context.Context, tx *db.Tx, c contact.Contact, o organization.Organization, role string, primary bool) (changed bool, err error) {
	var old, main Link
	err = tx.QueryRow(ctx, `select role, is_primary from contact_organization where (contact_id, organization_id) = ($1, $2)`, c.ID, o.ID).
		Scan(&old.Role, &old.IsPrimary)
	fresh := errors.Is(err, pgx.ErrNoRows)
	if !fresh && (err != nil || old.Role == role && old.IsPrimary == primary) {
		return false, err
	}
	if primary {
		if err := tx.QueryRow(ctx, `update contact_organization set is_primary = false where contact_id = $1 and is_primary and organization_id <> $2 returning organization_id, role`, c.ID, o.ID).Scan(&main.ID, &main.Role); err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return false, err
		}
	}
	tx.TakeBack(reversal.Link{Organization: main.ID, Contact: c.ID, Role: main.Role, Primary: true}.Step(true))
	tx.TakeBack(reversal.Link{Organization: o.ID, Contact: c.ID, Role: old.Role, Primary: old.IsPrimary}.Step(!fresh))
	if _, err := tx.Exec(ctx, `
		insert into contact_organization (contact_id, organization_id, role, is_primary, created_at) values ($1, $2, $3, $4, $5)
		on conflict (contact_id, organization_id) do update set role = excluded.role, is_primary = excluded.is_primary`,
		c.ID, o.ID, role, primary, tx.Now); err != nil {
		return false, err
	}
	data := map[string]any{"organization": map[string]any{"id": o.ID, "name": o.Name}, "role": role, "is_primary": primary}
	subject := "Linked with " + o.Name
	if !fresh {
		subject = "Link with " + o.Name + " changed"
		data["changes"] = change.Set{"role": {Old: old.Role, New: role}, "is_primary": {Old: old.IsPrimary, New: primary}}
	}
	return true, logLink(ctx, tx, c.ID, o.ID, timeline.Linked, subject, data)
}

// logLink writes what happened to a link into both timelines, and publishes both records.
func logLink(ctx context.Context, tx *db.Tx, contactID, organizationID uuid.UUID, kind, subject string, data any) error {
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Contact: &contactID, Organization: &organizationID, Kind: kind, Subject: subject, Data: data}); err != nil {
		return err
	}
	b := &pgx.Batch{}
	contact.QueueNextVersion(b, contactID, tx.Now)
	organization.QueueNextVersion(b, organizationID, tx.Now)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	if _, err := contact.Emit(ctx, tx, proto.KindContactUpdated, contactID, []string{"organization"}, nil); err != nil {
		return err
	}
	return organization.Emit(ctx, tx, proto.KindOrganizationUpdated, organizationID, []string{"contacts_count"}, nil)
}

// linkID names a link in the path.
type linkID struct {
	ID        uuid.UUID `json:"id"`
	ContactID uuid.UUID `json:"contact_id"`
}

// unlinkContact ends a link; both records stay, and so does what the timelines say of it.
func (r *Room) unlinkContact(ctx context.Context, tx *db.Tx, in linkID) (op.None, error) {
	c, o, err := lockBoth(ctx, tx, in)
	if err != nil {
		return op.None{}, err
	}
	var was Link
	err = tx.QueryRow(ctx, `delete from contact_organization where (contact_id, organization_id) = ($1, $2) returning role, is_primary`, c.ID, o.ID).Scan(&was.Role, &was.IsPrimary)
	if errors.Is(err, pgx.ErrNoRows) {
		return op.None{}, fault.NotFound("link")
	}
	if err != nil {
		return op.None{}, err
	}
	tx.TakeBack(reversal.Link{Organization: o.ID, Contact: c.ID, Role: was.Role, Primary: was.IsPrimary}.Step(true))
	data := map[string]any{"organization": map[string]any{"id": o.ID, "name": o.Name}, "role": was.Role}
	return op.None{}, logLink(ctx, tx, c.ID, o.ID, timeline.Unlinked, "Link with "+o.Name+" ended", data)
}

// PublishCounts publishes the organizations of contacts that went to the trash or came back: each has other people now.
func PublishCounts(ctx context.Context, tx *db.Tx, contacts ...uuid.UUID) error {
	ids, err := contact.IDsOf(ctx, tx, `select distinct organization_id from contact_organization where contact_id = any($1)`, contacts)
	if err != nil {
		return err
	}
	return organization.PublishCounted(ctx, tx, ids)
}
