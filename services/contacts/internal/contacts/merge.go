package contacts

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// mergeContacts merges another contact, also one in the trash, into this one: empty values are filled,
// everything linked moves, values that differ are kept in the timeline. The other is gone for good.
func (s *service) mergeContacts(ctx context.Context, tx *db.Tx, in OtherID) (Contact, error) {
	if in.ID == in.OtherID {
		return Contact{}, fault.Invalid("other_id", sameRecord("contact"))
	}
	// Nothing is filed under the loser any more while it goes. Whoever files something locks the id first, then the contact.
	if err := pinAlone(ctx, tx, in.OtherID); err != nil {
		return Contact{}, err
	}
	winner, loser, err := lockPair(ctx, tx, in, lockContact)
	if err != nil {
		return winner, err
	}
	if winner.DeletedAt != nil {
		return winner, inTrash("contact")
	}
	c := mergedContact(winner, loser)
	if err := s.moveContact(ctx, tx, winner, loser); err != nil {
		return winner, err
	}
	if c, err = s.recallMarketing(ctx, tx, c); err != nil {
		return winner, err
	}
	if c.Marketing != winner.Marketing {
		c.MarketingUpdatedAt = &tx.Now
	}
	merged, err := updateContactAndAddress(ctx, tx, c)
	if err != nil {
		if errors.Is(err, errTaken) {
			return winner, duplicateContact(ctx, tx, address.Key(c.Email))
		}
		return winner, err
	}
	diff := contactFields.Diff(winner, c)
	tx.Changed(diff)
	data := map[string]any{"merged_id": loser.ID, "values": lostContact(c, loser), "changes": diff}
	deferLog(tx, entry{contact: &c.ID, kind: entryMerged, subject: "Merged with " + loser.Name(), data: data})
	return merged, tx.Emit(ctx, contactEvent(proto.KindContactMerged, merged, diff.Names(), &proto.Merged{MergedId: loser.ID.String()}))
}

// mergedContact is winner with its empty values taken from loser. The subscription comes with the address.
func mergedContact(winner, loser Contact) Contact {
	c := contactFields.Fill(winner, loser)
	if tooMuch(c.Fields) {
		c.Fields = winner.Fields
	}
	if key := address.Key(loser.Email); key != "" && key == address.Key(c.Email) && winner.Marketing == marketingNone {
		c.Marketing = loser.Marketing
	}
	return c
}

// lostContact returns the values of loser that c does not have. Another spelling of c's address is not among them.
func lostContact(c, loser Contact) map[string]any {
	lost := contactFields.Lost(c, loser)
	if address.Key(loser.Email) == address.Key(c.Email) {
		delete(lost, "email")
	}
	return lost
}

func sameRecord(what string) fault.Problem { return fault.NewProblem("same", "must be another "+what) }

// lockPair locks two records by id and gives them as they were named.
func lockPair[T any](ctx context.Context, tx *db.Tx, in OtherID, lock func(context.Context, *db.Tx, uuid.UUID) (T, error)) (one, other T, err error) {
	ids := []uuid.UUID{in.ID, in.OtherID}
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for _, id := range ids {
		record, err := lock(ctx, tx, id)
		if err != nil {
			return one, other, err
		}
		if id == in.ID {
			one = record
		} else {
			other = record
		}
	}
	return one, other, nil
}

// moveContact moves everything that hangs on loser to winner and deletes loser.
func (s *service) moveContact(ctx context.Context, tx *db.Tx, winner, loser Contact) error {
	for _, q := range []string{
		// The winner's main organization stays the main one.
		`update contact_organization set is_primary = false where contact_id = $2
			and exists (select from contact_organization where contact_id = $1 and is_primary)`,
		`with both_sides as (delete from contact_organization l using contact_organization w
			where l.contact_id = $2 and w.contact_id = $1 and w.organization_id = l.organization_id returning l.organization_id, l.is_primary, l.role)
		update contact_organization w set is_primary = w.is_primary or b.is_primary, role = coalesce(nullif(w.role, ''), b.role)
			from both_sides b where w.contact_id = $1 and w.organization_id = b.organization_id`,
		`update contact_organization set contact_id = $1 where contact_id = $2`,
		`update consent set contact_id = $1 where contact_id = $2`,
		`update marketing_link set contact_id = $1 where contact_id = $2`,
		`insert into former_address (email_key, contact_id) select email_key, $1 from former_address where contact_id = $2 on conflict do nothing`,
		`delete from contact where id = $2 and $1 <> $2`,
	} {
		if _, err := tx.Exec(ctx, q, winner.ID, loser.ID); err != nil {
			return err
		}
	}
	if err := rememberAddress(ctx, tx, winner.ID, address.Key(loser.Email)); err != nil {
		return err
	}
	return mergeAway(ctx, tx, loser.ID, winner.ID)
}

// mergeAway makes loser an alias of winner, and publishes so for loser and for every contact that was merged into it before.
func mergeAway(ctx context.Context, tx *db.Tx, loser, winner uuid.UUID) error {
	if err := alias(ctx, tx, loser, winner); err != nil {
		return err
	}
	rows, err := tx.Query(ctx, `update contact_alias set merged = true where id = $1 or target = $2 and merged and not lingers returning id`, loser, winner)
	if err != nil {
		return err
	}
	ids, err := collectIDs(rows)
	if err != nil {
		return err
	}
	return emitMergedAway(ctx, tx, ids, winner)
}

// emitMergedAway publishes the last event of contacts that were merged into another. It stays in the topic for good, and so
// names nobody.
func emitMergedAway(ctx context.Context, tx *db.Tx, ids []uuid.UUID, into uuid.UUID) error {
	who := tx.Who
	defer func() { tx.Who = who }()
	tx.Who = db.Actor{Channel: db.ChannelSystem}
	for _, id := range ids {
		if err := tx.Emit(ctx, mergedAwayEvent(id, into)); err != nil {
			return err
		}
	}
	return nil
}

func mergedAwayEvent(id, into uuid.UUID) db.Event {
	return db.Event{Topic: proto.ContactTopic, Kind: proto.KindContactMergedAway, Key: id.String(), Data: map[string]any{"id": id},
		Extra: &proto.MergedAway{Into: into.String()}}
}

func rememberAddress(ctx context.Context, tx *db.Tx, contact uuid.UUID, key string) error {
	if key == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `insert into former_address (email_key, contact_id) values ($1, $2) on conflict do nothing`, key, contact)
	return err
}

// endLingering publishes the last event of contacts that were merged away before merging itself did so.
func (s *service) endLingering(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `update contact_alias set lingers = false where id in
			(select id from contact_alias where lingers limit 1000) returning id, target`)
		if err != nil {
			return err
		}
		into := map[uuid.UUID]uuid.UUID{}
		var id, target uuid.UUID
		if _, err := pgx.ForEachRow(rows, []any{&id, &target}, func() error {
			into[id] = target
			return nil
		}); err != nil {
			return err
		}
		for id, target := range into {
			if err := emitMergedAway(ctx, tx, []uuid.UUID{id}, target); err != nil {
				return err
			}
		}
		return nil
	})
}

// mergeOrganizations merges another organization into this one, as mergeContacts does with people.
func (s *service) mergeOrganizations(ctx context.Context, tx *db.Tx, in OtherID) (Organization, error) {
	if in.ID == in.OtherID {
		return Organization{}, fault.Invalid("other_id", sameRecord("organization"))
	}
	// People are locked before organizations everywhere.
	rows, err := tx.Query(ctx, `select c.id from contact c where c.id in (select contact_id from contact_organization where organization_id = $1)
		order by c.id for no key update`, in.OtherID)
	if err != nil {
		return Organization{}, err
	}
	if _, err := collectIDs(rows); err != nil {
		return Organization{}, err
	}
	winner, loser, err := lockPair(ctx, tx, in, lockOrganization)
	if err != nil {
		return winner, err
	}
	if winner.DeletedAt != nil {
		return winner, inTrash("organization")
	}
	o := mergedOrganization(winner, loser)
	moved, err := moveOrganization(ctx, tx, winner.ID, loser.ID)
	if err != nil {
		return winner, err
	}
	if err := updateOrganization(ctx, tx, o); err != nil {
		return winner, err
	}
	diff := organizationFields.Diff(winner, o)
	data := map[string]any{"merged_id": loser.ID, "values": organizationFields.Lost(o, loser), "changes": diff}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryMerged, subject: "Merged with " + loser.Name, data: data}); err != nil {
		return winner, err
	}
	if err := publishLinked(ctx, tx, moved); err != nil {
		return winner, fmt.Errorf("publish people: %w", err)
	}
	if err := emitOrganization(ctx, tx, proto.KindOrganizationMerged, o.ID, diff.Names(), &proto.Merged{MergedId: loser.ID.String()}); err != nil {
		return winner, err
	}
	tx.Tombstone(proto.OrganizationTopic, loser.ID.String())
	return organizationByID(ctx, tx, o.ID)
}

// mergedOrganization is winner with its empty values taken from other.
func mergedOrganization(winner, other Organization) Organization {
	o := organizationFields.Fill(winner, other)
	if tooMuch(o.Fields) {
		o.Fields = winner.Fields
	}
	return o
}

// moveOrganization moves people and timeline of loser to winner, deletes loser, and gives the people whose link changed.
func moveOrganization(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) ([]uuid.UUID, error) {
	// Who is linked with both keeps the winner's link, as the main one if either was.
	rows, err := tx.Query(ctx, `
		with both_sides as (delete from contact_organization l using contact_organization w
			where l.organization_id = $2 and w.organization_id = $1 and w.contact_id = l.contact_id returning l.contact_id, l.is_primary, l.role)
		update contact_organization w set is_primary = w.is_primary or b.is_primary, role = coalesce(nullif(w.role, ''), b.role)
			from both_sides b where w.organization_id = $1 and w.contact_id = b.contact_id returning w.contact_id`, winner, loser)
	if err != nil {
		return nil, err
	}
	joined, err := collectIDs(rows)
	if err != nil {
		return nil, err
	}
	if rows, err = tx.Query(ctx, `update contact_organization set organization_id = $1 where organization_id = $2 returning contact_id`, winner, loser); err != nil {
		return nil, err
	}
	moved, err := collectIDs(rows)
	if err != nil {
		return nil, err
	}
	b := &pgx.Batch{}
	b.Queue(`update activity set organization_id = $1 where organization_id = $2`, winner, loser)
	b.Queue(`delete from organization where id = $1`, loser)
	return append(moved, joined...), tx.SendBatch(ctx, b).Close()
}
