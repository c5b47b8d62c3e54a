package contacts

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// MergeContacts merges another contact, also one in the trash, into this one: empty values are filled,
// everything linked moves, values that differ are kept in the timeline. The other is gone for good.
func (s *service) MergeContacts(ctx context.Context, tx *db.Tx, in OtherID) (Contact, error) {
	if in.ID == in.OtherID {
		return Contact{}, fault.Param("other_id", "must be another contact")
	}
	winner, loser, err := lockPair(ctx, tx, in, lockContact)
	if err != nil {
		return winner, err
	}
	if winner.DeletedAt != nil {
		return winner, inTrash("contact")
	}
	// Nothing arrives for the loser any more while it goes.
	if err := pinAlone(ctx, tx, loser.ID); err != nil {
		return winner, err
	}
	c, kept := fillFrom(winner, loser)
	if err := s.moveContact(ctx, tx, winner, loser); err != nil {
		return winner, err
	}
	key := address.Key(c.Email)
	if err := s.recallMarketing(ctx, tx, &c, key); err != nil {
		return winner, err
	}
	if c.Marketing != winner.Marketing {
		c.MarketingUpdatedAt = &tx.Now
	}
	if err := writeContact(ctx, tx, c, key, true); err != nil {
		return winner, err
	}
	data := map[string]any{"merged_id": loser.ID, "values": kept, "changes": contactChanges(winner, c)}
	if _, err := log(ctx, tx, entry{contact: &c.ID, kind: entryMerged, subject: "Merged with " + loser.Name(), data: data}); err != nil {
		return winner, err
	}
	return emitContact(ctx, tx, "contact.merged", c.ID, contactChanges(winner, c).names(), map[string]any{"merged_id": loser.ID})
}

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

// filler fills one record from another and keeps what differs.
type filler struct{ kept map[string]any }

func (f filler) text(field string, target *string, other string) {
	switch {
	case *target == "":
		*target = other
	case other != "" && other != *target:
		f.kept[field] = other
	}
}

func (f filler) owner(target **int64, other *int64) {
	switch {
	case *target == nil:
		*target = other
	case other != nil && *other != **target:
		f.kept["owner_user_id"] = *other
	}
}

func (f filler) fields(own, other map[string]any) map[string]any {
	for k, v := range other {
		if mine, has := own[k]; has && !same(mine, v) {
			f.kept["fields."+k] = v
		}
	}
	merged := mergeFields(own, other, true)
	if tooMuch(merged) {
		for k, v := range other {
			f.kept["fields."+k] = v
		}
		return own
	}
	return merged
}

func same(a, b any) bool {
	c := changes{}
	c.note("x", a, b)
	return len(c) == 0
}

// fillFrom is winner with its empty values taken from loser, and the values of loser that differ. The
// subscription comes with the address.
func fillFrom(winner, loser Contact) (Contact, map[string]any) {
	c, f := winner, filler{map[string]any{}}
	f.text("first_name", &c.FirstName, loser.FirstName)
	f.text("last_name", &c.LastName, loser.LastName)
	f.text("phone", &c.Phone, loser.Phone)
	f.text("source", &c.Source, loser.Source)
	f.text("status", &c.Status, loser.Status)
	f.text("email", &c.Email, loser.Email)
	if key := address.Key(loser.Email); key != "" && key == address.Key(c.Email) {
		delete(f.kept, "email")
		if winner.Marketing == marketingNone {
			c.Marketing = loser.Marketing
		}
	}
	f.owner(&c.OwnerUserID, loser.OwnerUserID)
	c.Tags = withTags(winner.Tags, loser.Tags)
	c.Fields = f.fields(winner.Fields, loser.Fields)
	return c, f.kept
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
	if err := alias(ctx, tx, loser.ID, winner.ID); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `update contact_alias set lingers = true where id = $1`, loser.ID)
	return err
}

func rememberAddress(ctx context.Context, tx *db.Tx, contact uuid.UUID, key string) error {
	if key == "" {
		return nil
	}
	_, err := tx.Exec(ctx, `insert into former_address (email_key, contact_id) values ($1, $2) on conflict do nothing`, key, contact)
	return err
}

// lingering is how long the topic keeps the last event of a contact that was merged away: as long as a
// consumer may be behind, since a tombstone that overtakes the merge would make it forget what it should
// move.
const lingering = 7 * 24 * time.Hour

// endLingering sends the tombstones that are due.
func (s *service) endLingering(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `update contact_alias set lingers = false where id in
			(select id from contact_alias where lingers and created_at < $1 limit 1000) returning id`, tx.Now.Add(-lingering))
		if err != nil {
			return err
		}
		ids, err := collectIDs(rows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := tx.Tombstone(ctx, proto.ContactTopic, id.String()); err != nil {
				return err
			}
		}
		return nil
	})
}

// MergeOrganizations merges another organization into this one, as MergeContacts does with people.
func (s *service) MergeOrganizations(ctx context.Context, tx *db.Tx, in OtherID) (Organization, error) {
	if in.ID == in.OtherID {
		return Organization{}, fault.Param("other_id", "must be another organization")
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
	o, kept := fillOrganization(winner, loser)
	moved, err := moveOrganization(ctx, tx, winner.ID, loser.ID)
	if err != nil {
		return winner, err
	}
	if err := writeOrganization(ctx, tx, o); err != nil {
		return winner, err
	}
	diff := organizationChanges(winner, o)
	data := map[string]any{"merged_id": loser.ID, "values": kept, "changes": diff}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryMerged, subject: "Merged with " + loser.Name, data: data}); err != nil {
		return winner, err
	}
	for _, id := range moved {
		if _, err := tx.Exec(ctx, `update contact set version = version + 1, updated_at = $2 where id = $1`, id, tx.Now); err != nil {
			return winner, err
		}
		if _, err := emitContact(ctx, tx, "contact.updated", id, []string{"organization"}, nil); err != nil {
			return winner, err
		}
	}
	if err := emitOrganization(ctx, tx, "organization.merged", o.ID, diff.names(), map[string]any{"merged_id": loser.ID}); err != nil {
		return winner, err
	}
	if err := tx.Tombstone(ctx, proto.OrganizationTopic, loser.ID.String()); err != nil {
		return winner, err
	}
	return organizationByID(ctx, tx, o.ID)
}

// fillOrganization is winner with its empty values taken from other, and the values of other that differ.
func fillOrganization(winner, other Organization) (Organization, map[string]any) {
	o, f := winner, filler{map[string]any{}}
	f.text("name", &o.Name, other.Name)
	f.text("vat_number", &o.VATNumber, other.VATNumber)
	f.text("email", &o.Email, other.Email)
	f.text("phone", &o.Phone, other.Phone)
	f.text("website", &o.Website, other.Website)
	f.text("address_line", &o.AddressLine, other.AddressLine)
	f.text("postal_code", &o.PostalCode, other.PostalCode)
	f.text("city", &o.City, other.City)
	f.text("country", &o.Country, other.Country)
	f.owner(&o.OwnerUserID, other.OwnerUserID)
	o.Fields = f.fields(winner.Fields, other.Fields)
	return o, f.kept
}

// moveOrganization moves people and timeline of loser to winner, deletes loser, and gives the people that
// moved.
func moveOrganization(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) ([]uuid.UUID, error) {
	// Who is linked with both keeps the winner's link, as the main one if either was.
	if _, err := tx.Exec(ctx, `
		with both_sides as (delete from contact_organization l using contact_organization w
			where l.organization_id = $2 and w.organization_id = $1 and w.contact_id = l.contact_id returning l.contact_id, l.is_primary, l.role)
		update contact_organization w set is_primary = w.is_primary or b.is_primary, role = coalesce(nullif(w.role, ''), b.role)
			from both_sides b where w.organization_id = $1 and w.contact_id = b.contact_id`, winner, loser); err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, `update contact_organization set organization_id = $1 where organization_id = $2 returning contact_id`, winner, loser)
	if err != nil {
		return nil, err
	}
	moved, err := collectIDs(rows)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(moved, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	for _, q := range []string{
		`update activity set organization_id = $1 where organization_id = $2`,
		`delete from organization where id = $2 and $1 <> $2`,
	} {
		if _, err := tx.Exec(ctx, q, winner, loser); err != nil {
			return nil, err
		}
	}
	return moved, nil
}
