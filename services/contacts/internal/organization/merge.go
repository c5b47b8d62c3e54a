package organization

import (
	"context"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/timeline"
)

// mergeOrganizations merges another organization into this one, as mergeContacts does with people.
func (r *Room) mergeOrganizations(ctx context.Context, tx *db.Tx, in contact.OtherID) (Organization, error) {
	if in.ID == in.OtherID {
		return Organization{}, fault.Invalid("other_id", contact.SameRecord("organization"))
	}
	// People are locked before organizations everywhere.
	if _, err := tx.Exec(ctx, `select c.id from contact c where c.id in (select contact_id from contact_organization where organization_id = $1)
		order by c.id for no key update`, in.OtherID); err != nil {
		return Organization{}, err
	}
	winner, loser, err := contact.LockPair(ctx, tx, in, Lock)
	if err != nil {
		return winner, err
	}
	if winner.DeletedAt != nil {
		return winner, contact.InTrash("organization")
	}
	o := Merged(winner, loser)
	for _, move := range r.Moved {
		if err := move(ctx, tx, winner.ID, loser.ID); err != nil {
			return winner, err
		}
	}
	b := &pgx.Batch{}
	timeline.QueueMoveOrganization(b, loser.ID, winner.ID)
	b.Queue(`delete from organization where id = $1`, loser.ID)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return winner, err
	}
	if err := update(ctx, tx, o); err != nil {
		return winner, err
	}
	diff := Fields.Diff(winner, o)
	data := map[string]any{"merged_id": loser.ID, "values": Fields.Lost(o, loser), "changes": diff}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Organization: &o.ID, Kind: timeline.Merged, Subject: "Merged with " + loser.Name, Data: data}); err != nil {
		return winner, err
	}
	if err := Emit(ctx, tx, proto.KindOrganizationMerged, o.ID, diff.Names(), &proto.Merged{MergedId: loser.ID.String()}); err != nil {
		return winner, err
	}
	tx.Tombstone(proto.OrganizationTopic, loser.ID.String())
	return ByID(ctx, tx, o.ID)
}

// Merged is winner with its empty values taken from other.
func Merged(winner, other Organization) Organization {
	o := Fields.Fill(winner, other)
	if field.TooMuch(o.Fields) {
		o.Fields = winner.Fields
	}
	return o
}
