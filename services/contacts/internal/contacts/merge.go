package contacts

import (
	"context"
	"errors"

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
	if err := moveContact(ctx, tx, winner, loser); err != nil {
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
	deferLog(tx, newEntry{contact: &c.ID, kind: entryMerged, subject: "Merged with " + loser.Name(), data: data})
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

// moveContact moves everything that hangs on loser to winner and deletes loser.
func moveContact(ctx context.Context, tx *db.Tx, winner, loser Contact) error {
	if err := moveLinks(ctx, tx, winner.ID, loser.ID); err != nil {
		return err
	}
	if err := moveConsents(ctx, tx, winner.ID, loser.ID); err != nil {
		return err
	}
	if err := absorb(ctx, tx, winner.ID, loser); err != nil {
		return err
	}
	if err := alias(ctx, tx, loser.ID, winner.ID); err != nil {
		return err
	}
	return mergedAway(ctx, tx, loser.ID, winner.ID)
}

// alias makes id stand for target from now on, and moves the records stored under id. An alias always leads to a contact in
// one step.
func alias(ctx context.Context, tx *db.Tx, id, target uuid.UUID) error {
	if err := pinAlone(ctx, tx, id); err != nil {
		return err
	}
	b := &pgx.Batch{}
	queueAlias(b, id, target, tx.Now)
	queueMoveContact(b, id, target)
	queueMoveCopies(b, id, target)
	queueLastActivity(b, target)
	return tx.SendBatch(ctx, b).Close()
}
