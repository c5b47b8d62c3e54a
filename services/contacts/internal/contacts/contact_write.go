package contacts

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// NewContact is what a contact is made of. It needs at least a name, an address or a number.
type NewContact struct {
	ContactInput
}

// ContactChange is what PATCH may change of a contact.
type ContactChange struct {
	ID   uuid.UUID `json:"id"`
	Mode string    `json:"mode,omitempty" enum:"fill_empty,overwrite" doc:"fill_empty, the default, only fills what is empty and adds tags."`
	ContactInput
}

// createContact makes a contact. An address that a contact has already is 409 svc_duplicate.
func (s *service) createContact(ctx context.Context, tx *db.Tx, in NewContact) (Contact, error) {
	c, err := s.readContactInput(ctx, tx, in)
	if err != nil {
		return c, err
	}
	if c.Tags, err = tagNames(ctx, tx, c.Tags); err != nil {
		return c, err
	}
	made, err := s.makeContact(ctx, tx, c)
	if errors.Is(err, errTaken) {
		return c, duplicateContact(ctx, tx, address.Key(c.Email))
	}
	return made, err
}

// readContactInput gives the contact that a request asks for, with an id and the tags as they were typed. Values that break a
// rule are 400 svc_invalid_param.
func (s *service) readContactInput(ctx context.Context, tx *db.Tx, in NewContact) (Contact, error) {
	clean, err := s.cleanerFor(ctx, tx, "contact", in.Fields)
	if err != nil {
		return Contact{}, err
	}
	c, _ := in.read(clean)
	c.ID = db.NewID()
	// Who sees only contacts of their own makes contacts of their own.
	if c.OwnerUserID == nil && tx.Who.Own {
		c.OwnerUserID = &tx.Who.UserID
	}
	clean.size(c.Fields)
	if err := clean.err(); err != nil {
		return c, err
	}
	return c, nameless(c)
}

// makeContact writes a new contact with its timeline entry and event, or fails with errTaken. Its tags are names that tagNames
// gave.
func (s *service) makeContact(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	if tx.Trusts(addressIsNew) {
		return s.insertOptimistically(ctx, tx, c)
	}
	return s.insertContact(ctx, tx, c)
}

// addressIsNew: no contact has the address, its owner has not unsubscribed, and the second of the transaction's time is not
// over when the contact is stamped.
const addressIsNew = db.Assumption("the address is new")

// insertOptimistically writes a new contact with its timeline entry and event in the round trip of the commit, assuming
// addressIsNew.
func (s *service) insertOptimistically(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	c = newContact(c, tx.Now)
	deferInsert(tx, c)
	logCreated(tx, c)
	tx.Assume(addressIsNew, `exists (select from contact where id = $1 and updated_at = $2) and not exists (select from unsubscribed where address_hash = $3)`,
		c.ID, c.UpdatedAt, s.addressHash(address.Key(c.Email)))
	return c, tx.Emit(ctx, contactEvent(proto.KindContactCreated, c, nil, nil))
}

// insertContact writes a new contact with its timeline entry and event, or fails with errTaken. Its tags are names that
// tagNames gave.
func (s *service) insertContact(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	c, err := s.recallMarketing(ctx, tx, newContact(c, tx.Now))
	if err != nil {
		return c, err
	}
	made, err := insertContacts(ctx, tx, c)
	if err != nil {
		return c, err
	}
	c, ok := made[c.ID]
	if !ok {
		return c, errTaken
	}
	logCreated(tx, c)
	return c, tx.Emit(ctx, contactEvent(proto.KindContactCreated, c, nil, nil))
}

func logCreated(tx *db.Tx, c Contact) {
	deferLog(tx, newEntry{contact: &c.ID, kind: entryCreated, subject: "Contact created", data: creation(c)})
}

// duplicateContact is the 409 of an address that is taken, with the id of the contact when the actor may see it.
func duplicateContact(ctx context.Context, tx *db.Tx, key string) error {
	h, err := contactWithEmail(ctx, tx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		// The contact was deleted in the meantime.
		return fault.Conflict("email", "This email address was in use a moment ago. Try again.")
	}
	if err != nil {
		return err
	}
	const message = "A contact with this email address exists."
	if !sees(tx, h.OwnerUserID) {
		return fault.Duplicate(message, nil)
	}
	return fault.Duplicate(message, h.ID)
}

// getContact reads a contact, also one in the trash.
func (s *service) getContact(ctx context.Context, tx *db.Tx, in op.ByID) (Contact, error) {
	return contactByID(ctx, tx, in.ID)
}

// updateContact changes a contact: fills what is empty, or overwrites.
func (s *service) updateContact(ctx context.Context, tx *db.Tx, in ContactChange) (Contact, error) {
	old, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	if err := tx.Match(old.Version); err != nil {
		return old, err
	}
	clean, err := s.cleanerFor(ctx, tx, "contact", in.Fields)
	if err != nil {
		return old, err
	}
	from, given := in.read(clean)
	if err := clean.err(); err != nil {
		return old, err
	}
	if from.Tags, err = tagNames(ctx, tx, from.Tags); err != nil {
		return old, err
	}
	c := contactFields.Fill(old, from)
	if in.Mode == modeOverwrite {
		c = contactFields.Overwrite(old, from, given)
	}
	clean.size(c.Fields)
	if err := clean.err(); err != nil {
		return old, err
	}
	if err := nameless(c); err != nil {
		return old, err
	}
	saved, changed, err := s.saveContact(ctx, tx, old, c, "Contact changed")
	switch {
	case errors.Is(err, errTaken):
		return old, duplicateContact(ctx, tx, address.Key(c.Email))
	case err != nil:
		return old, err
	case !changed:
		return readContact(ctx, tx, c.ID)
	}
	return saved, nil
}

// saveContact writes what differs between old, a locked contact, and c: row, timeline entry, event. It gives the contact as it is
// shown then, and reports whether anything differed. It fails with errTaken when another contact has the address. A change of
// address ends the subscription, which belongs to the address.
func (s *service) saveContact(ctx context.Context, tx *db.Tx, old, c Contact, subject string) (saved Contact, changed bool, err error) {
	update := updateContact
	if address.Key(c.Email) != address.Key(old.Email) {
		update = updateContactAndAddress
		c.Marketing = marketingNone
		if c, err = s.recallMarketing(ctx, tx, c); err != nil {
			return c, false, err
		}
		if c.Marketing != old.Marketing {
			c.MarketingUpdatedAt = &tx.Now
		}
		if err := endConfirmLinks(ctx, tx, c.ID); err != nil {
			return c, false, err
		}
		if err := rememberAddress(ctx, tx, c.ID, address.Key(old.Email)); err != nil {
			return c, false, err
		}
	}
	diff := contactFields.Diff(old, c)
	if len(diff) == 0 {
		return c, false, nil
	}
	tx.Changed(diff)
	if saved, err = update(ctx, tx, c); err != nil {
		return c, false, err
	}
	deferLog(tx, newEntry{contact: &c.ID, kind: entryUpdated, subject: subject, data: diff})
	return saved, true, tx.Emit(ctx, contactEvent(proto.KindContactUpdated, saved, diff.Names(), nil))
}

// deleteContact moves a contact to the trash.
func (s *service) deleteContact(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	c, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(c.Version); err != nil {
		return op.None{}, err
	}
	c.DeletedAt = &tx.Now
	deleted, err := updateContact(ctx, tx, c)
	if err != nil {
		return op.None{}, err
	}
	deferLog(tx, newEntry{contact: &c.ID, kind: entryDeleted, subject: "Contact moved to the trash"})
	return op.None{}, tx.Emit(ctx, contactEvent(proto.KindContactDeleted, deleted, nil, nil))
}

// restoreContact takes a contact out of the trash, with all it had. An address that another contact has
// taken meanwhile is 409 svc_duplicate.
func (s *service) restoreContact(ctx context.Context, tx *db.Tx, in op.ByID) (Contact, error) {
	old, err := lockContact(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	if old.DeletedAt == nil {
		return old, fault.InvalidStatus("active", "The contact is not in the trash.")
	}
	// The person may have unsubscribed while the contact was away.
	c, err := s.recallMarketing(ctx, tx, old)
	if err != nil {
		return c, err
	}
	c.DeletedAt = nil
	restored, err := updateContactAndAddress(ctx, tx, c)
	if err != nil {
		if errors.Is(err, errTaken) {
			return c, duplicateContact(ctx, tx, address.Key(c.Email))
		}
		return c, err
	}
	deferLog(tx, newEntry{contact: &c.ID, kind: entryRestored, subject: "Contact restored", data: contactFields.Diff(old, c)})
	return restored, tx.Emit(ctx, contactEvent(proto.KindContactRestored, restored, nil, nil))
}

// DuplicateQuery asks who has an address.
type DuplicateQuery struct {
	Email string `json:"email" required:"true" maxLength:"190" doc:"The email address to look for."`
}

// Match is a contact with the address; its id is null when the caller may not see it.
type Match struct {
	ID *uuid.UUID `json:"id" nullable:"true" doc:"The id of the contact; null if the caller may not see it."`
}

// findDuplicates finds the contact with an address, if any.
func (s *service) findDuplicates(ctx context.Context, tx *db.Tx, in DuplicateQuery) (db.List[Match], error) {
	email, problem := emailValue(in.Email)
	if !problem.IsZero() {
		return db.List[Match]{}, fault.Invalid("email", problem)
	}
	h, err := contactWithEmail(ctx, tx, address.Key(email))
	if errors.Is(err, pgx.ErrNoRows) {
		return db.All[Match](nil), nil
	}
	if err != nil {
		return db.List[Match]{}, err
	}
	if !sees(tx, h.OwnerUserID) {
		return db.All([]Match{{}}), nil
	}
	return db.All([]Match{{ID: &h.ID}}), nil
}
