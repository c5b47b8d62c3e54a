package joining

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/copies"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/people"
	"frontdesk/services/contacts/internal/task"
	"frontdesk/services/contacts/internal/timeline"
)

// mergeContacts merges another contact, also one in the trash, into this one: empty values are filled,
// everything linked moves, values that differ are kept in the timeline. The other is gone for good.
func (r *Room) mergeContacts(ctx context.Context, tx *db.Tx, in contact.OtherID) (contact.Contact, error) {
	if in.ID == in.OtherID {
		return contact.Contact{}, fault.Invalid("other_id", contact.SameRecord("contact"))
	}
	// Nothing is filed under the loser any more while it goes. Whoever files something locks the id first, then the contact.
	if err := contact.PinAlone(ctx, tx, in.OtherID); err != nil {
		return contact.Contact{}, err
	}
	winner, loser, err := contact.LockPair(ctx, tx, in, contact.Lock)
	if err != nil {
		return winner, err
	}
	if winner.DeletedAt != nil {
		return winner, contact.InTrash("contact")
	}
	c := mergedContact(winner, loser)
	if err := moveContact(ctx, tx, winner, loser); err != nil {
		return winner, err
	}
	if c, err = r.marketing.Recall(ctx, tx, c); err != nil {
		return winner, err
	}
	if c.Marketing != winner.Marketing {
		c.MarketingUpdatedAt = &tx.Now
	}
	merged, err := contact.UpdateAddress(ctx, tx, c)
	if err != nil {
		if errors.Is(err, contact.ErrTaken) {
			return winner, people.Duplicate(ctx, tx, address.Key(c.Email))
		}
		return winner, err
	}
	diff := contact.Fields.Diff(winner, c)
	tx.Changed(diff)
	data := map[string]any{"merged_id": loser.ID, "values": lostContact(c, loser), "changes": diff}
	timeline.Defer(tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Merged, Subject: "Merged with " + loser.Name(), Data: data})
	return merged, tx.Emit(ctx, contact.Event(proto.KindContactMerged, merged, diff.Names(), &proto.Merged{MergedId: loser.ID.String()}))
}

// mergedContact is winner with its empty values taken from loser. The subscription comes with the address.
func mergedContact(winner, loser contact.Contact) contact.Contact {
	c := contact.Fields.Fill(winner, loser)
	if field.TooMuch(c.Fields) {
		c.Fields = winner.Fields
	}
	if key := address.Key(loser.Email); key != "" && key == address.Key(c.Email) && winner.Marketing == contact.MarketingNone {
		c.Marketing = loser.Marketing
	}
	return c
}

// lostContact returns the values of loser that c does not have. Another spelling of c's address is not among them.
func lostContact(c, loser contact.Contact) map[string]any {
	lost := contact.Fields.Lost(c, loser)
	if address.Key(loser.Email) == address.Key(c.Email) {
		delete(lost, "email")
	}
	return lost
}

// moveContact moves everything that hangs on loser to winner and deletes loser.
func moveContact(ctx context.Context, tx *db.Tx, winner, loser contact.Contact) error {
	for _, move := range []func(_ context.Context, _ *db.Tx, winner, loser uuid.UUID) error{link.MoveContact, task.MoveContact, marketing.Move} {
		if err := move(ctx, tx, winner.ID, loser.ID); err != nil {
			return err
		}
	}
	if err := contact.Absorb(ctx, tx, winner.ID, loser); err != nil {
		return err
	}
	if err := alias(ctx, tx, loser.ID, winner.ID); err != nil {
		return err
	}
	return contact.MergedAway(ctx, tx, loser.ID, winner.ID)
}

// alias makes id stand for target from now on, and moves the records stored under id. An alias always leads to a contact in
// one step.
func alias(ctx context.Context, tx *db.Tx, id, target uuid.UUID) error {
	if err := contact.PinAlone(ctx, tx, id); err != nil {
		return err
	}
	b := &pgx.Batch{}
	contact.QueueAlias(b, id, target, tx.Now)
	timeline.QueueMoveContact(b, id, target)
	copies.QueueMove(b, id, target)
	contact.QueueLastActivity(b, target)
	return tx.SendBatch(ctx, b).Close()
}
