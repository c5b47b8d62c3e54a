package people

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
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/tag"
	"frontdesk/services/contacts/internal/timeline"
)

// newContact is what a contact is made of. It needs at least a name, an address or a number.
type newContact struct {
	contact.ContactInput
}

// contactChange is what PATCH may change of a contact.
type contactChange struct {
	ID   uuid.UUID `json:"id"`
	Mode string    `json:"mode,omitempty" enum:"fill_empty,overwrite" doc:"fill_empty, the default, only fills what is empty and adds tags."`
	contact.ContactInput
}

// createContact makes a contact. An address that a contact has already is 409 svc_duplicate.
func (r *Room) createContact(ctx context.Context, tx *db.Tx, in newContact) (contact.Contact, error) {
	c, err := r.readContactInput(ctx, tx, in)
	if err != nil {
		return c, err
	}
	if c.Tags, err = tag.Names(ctx, tx, c.Tags); err != nil {
		return c, err
	}
	made, err := r.makeContact(ctx, tx, c)
	if errors.Is(err, contact.ErrTaken) {
		return c, Duplicate(ctx, tx, address.Key(c.Email))
	}
	return made, err
}

// readContactInput gives the contact that a request asks for, with an id and the tags as they were typed. Values that break a
// rule are 400 svc_invalid_param.
func (r *Room) readContactInput(ctx context.Context, tx *db.Tx, in newContact) (contact.Contact, error) {
	clean, err := r.field.CleanerFor(ctx, tx, "contact", in.Fields)
	if err != nil {
		return contact.Contact{}, err
	}
	c, _ := in.Read(clean)
	c.ID = db.NewID()
	// Who sees only contacts of their own makes contacts of their own.
	if c.OwnerUserID == nil && tx.Who.Own {
		c.OwnerUserID = &tx.Who.UserID
	}
	clean.Size(c.Fields)
	if err := clean.Err(); err != nil {
		return c, err
	}
	return c, contact.Nameless(c)
}

// makeContact writes a new contact with its timeline entry and event, or fails with contact.ErrTaken. Its tags are names that tag.Names
// gave.
func (r *Room) makeContact(ctx context.Context, tx *db.Tx, c contact.Contact) (contact.Contact, error) {
	if tx.Trusts(addressIsNew) {
		return r.insertOptimistically(ctx, tx, c)
	}
	return r.Insert(ctx, tx, c)
}

// addressIsNew: no contact has the address, its owner has not unsubscribed, and the second of the transaction's time is not
// over when the contact is stamped.
const addressIsNew = db.Assumption("the address is new")

// insertOptimistically writes a new contact with its timeline entry and event in the round trip of the commit, assuming
// addressIsNew.
func (r *Room) insertOptimistically(ctx context.Context, tx *db.Tx, c contact.Contact) (contact.Contact, error) {
	c = contact.MadeAt(c, tx.Now)
	contact.DeferInsert(tx, c)
	logCreated(tx, c)
	tx.Assume(addressIsNew, `exists (select from contact where id = $1 and updated_at = $2) and not exists (select from unsubscribed where address_hash = $3)`,
		c.ID, c.UpdatedAt, r.marketing.AddressHash(address.Key(c.Email)))
	return c, created(ctx, tx, c)
}

// Insert writes a new contact with its timeline entry and event, or fails with contact.ErrTaken. Its tags are names that
// tag.Names gave.
func (r *Room) Insert(ctx context.Context, tx *db.Tx, c contact.Contact) (contact.Contact, error) {
	c, err := r.marketing.Recall(ctx, tx, contact.MadeAt(c, tx.Now))
	if err != nil {
		return c, err
	}
	made, err := contact.Insert(ctx, tx, c)
	if err != nil {
		return c, err
	}
	c, ok := made[c.ID]
	if !ok {
		return c, contact.ErrTaken
	}
	logCreated(tx, c)
	return c, created(ctx, tx, c)
}

// created publishes a new contact, and tells its owner.
func created(ctx context.Context, tx *db.Tx, c contact.Contact) error {
	if err := tx.Emit(ctx, contact.Event(proto.KindContactCreated, c, nil, nil)); err != nil {
		return err
	}
	return assign(ctx, tx, nil, c)
}

func assign(ctx context.Context, tx *db.Tx, had *int64, c contact.Contact) error {
	given := contact.Assigned{}
	given.Note(had, c)
	return given.Tell(ctx, tx)
}

func logCreated(tx *db.Tx, c contact.Contact) {
	timeline.Defer(tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Created, Subject: "Contact created", Data: contact.Creation(c)})
}

// Duplicate is the 409 of an address that is taken, with the id of the contact when the actor may see it.
func Duplicate(ctx context.Context, tx *db.Tx, key string) error {
	h, err := contact.WithEmail(ctx, tx, key)
	if errors.Is(err, pgx.ErrNoRows) {
		// The contact was deleted in the meantime.
		return fault.Conflict("email", "This email address was in use a moment ago. Try again.")
	}
	if err != nil {
		return err
	}
	const message = "A contact with this email address exists."
	if !contact.Sees(tx, h.OwnerUserID) {
		return fault.Duplicate(message, nil)
	}
	return fault.Duplicate(message, h.ID)
}

// getContact reads a contact, also one in the trash.
func (r *Room) getContact(ctx context.Context, tx *db.Tx, in op.ByID) (contact.Contact, error) {
	return contact.ByID(ctx, tx, in.ID)
}

// updateContact changes a contact: fills what is empty, or overwrites.
func (r *Room) updateContact(ctx context.Context, tx *db.Tx, in contactChange) (contact.Contact, error) {
	old, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	if err := tx.Match(old.Version); err != nil {
		return old, err
	}
	clean, err := r.field.CleanerFor(ctx, tx, "contact", in.Fields)
	if err != nil {
		return old, err
	}
	from, given := in.Read(clean)
	if err := clean.Err(); err != nil {
		return old, err
	}
	if from.Tags, err = tag.Names(ctx, tx, from.Tags); err != nil {
		return old, err
	}
	c := contact.Fields.Fill(old, from)
	if in.Mode == contact.ModeOverwrite {
		c = contact.Fields.Overwrite(old, from, given)
	}
	clean.Size(c.Fields)
	if err := clean.Err(); err != nil {
		return old, err
	}
	if err := contact.Nameless(c); err != nil {
		return old, err
	}
	saved, changed, err := r.Save(ctx, tx, old, c, "Contact changed")
	switch {
	case errors.Is(err, contact.ErrTaken):
		return old, Duplicate(ctx, tx, address.Key(c.Email))
	case err != nil:
		return old, err
	case !changed:
		return contact.Read(ctx, tx, c.ID)
	}
	return saved, nil
}

// Save writes what differs between old, a locked contact, and c: row, timeline entry, event. It gives the contact as it is
// shown then, and reports whether anything differed. It fails with contact.ErrTaken when another contact has the address. A change of
// address ends the subscription, which belongs to the address.
func (r *Room) Save(ctx context.Context, tx *db.Tx, old, c contact.Contact, subject string) (saved contact.Contact, changed bool, err error) {
	update := contact.Update
	if address.Key(c.Email) != address.Key(old.Email) {
		update = contact.UpdateAddress
		c.Marketing = contact.MarketingNone
		if c, err = r.marketing.Recall(ctx, tx, c); err != nil {
			return c, false, err
		}
		if c.Marketing != old.Marketing {
			c.MarketingUpdatedAt = &tx.Now
		}
		if err := marketing.EndConfirmLinks(ctx, tx, c.ID); err != nil {
			return c, false, err
		}
		if err := contact.RememberAddress(ctx, tx, c.ID, address.Key(old.Email)); err != nil {
			return c, false, err
		}
	}
	diff := contact.Fields.Diff(old, c)
	if len(diff) == 0 {
		return c, false, nil
	}
	tx.Changed(diff)
	if saved, err = update(ctx, tx, c); err != nil {
		return c, false, err
	}
	timeline.Defer(tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Updated, Subject: subject, Data: diff})
	if err := tx.Emit(ctx, contact.Event(proto.KindContactUpdated, saved, diff.Names(), nil)); err != nil {
		return c, false, err
	}
	return saved, true, assign(ctx, tx, old.OwnerUserID, saved)
}

// deleteContact moves a contact to the trash.
func (r *Room) deleteContact(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	c, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(c.Version); err != nil {
		return op.None{}, err
	}
	c.DeletedAt = &tx.Now
	deleted, err := contact.Update(ctx, tx, c)
	if err != nil {
		return op.None{}, err
	}
	timeline.Defer(tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Deleted, Subject: "Contact moved to the trash"})
	if err := link.PublishCounts(ctx, tx, c.ID); err != nil {
		return op.None{}, err
	}
	return op.None{}, tx.Emit(ctx, contact.Event(proto.KindContactDeleted, deleted, nil, nil))
}

// restoreContact takes a contact out of the trash, with all it had. An address that another contact has
// taken meanwhile is 409 svc_duplicate.
func (r *Room) restoreContact(ctx context.Context, tx *db.Tx, in op.ByID) (contact.Contact, error) {
	old, err := contact.Lock(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	if old.DeletedAt == nil {
		return old, fault.InvalidStatus("active", "The contact is not in the trash.")
	}
	// The person may have unsubscribed while the contact was away.
	c, err := r.marketing.Recall(ctx, tx, old)
	if err != nil {
		return c, err
	}
	c.DeletedAt = nil
	restored, err := contact.UpdateAddress(ctx, tx, c)
	if err != nil {
		if errors.Is(err, contact.ErrTaken) {
			return c, Duplicate(ctx, tx, address.Key(c.Email))
		}
		return c, err
	}
	timeline.Defer(tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Restored, Subject: "Contact restored", Data: contact.Fields.Diff(old, c)})
	if err := link.PublishCounts(ctx, tx, c.ID); err != nil {
		return c, err
	}
	return restored, tx.Emit(ctx, contact.Event(proto.KindContactRestored, restored, nil, nil))
}

// duplicateQuery asks who has an address.
type duplicateQuery struct {
	Email string `json:"email" required:"true" maxLength:"190" doc:"The email address to look for."`
}

// match is a contact with the address; its id is null when the caller may not see it.
type match struct {
	ID *uuid.UUID `json:"id" nullable:"true" doc:"The id of the contact; null if the caller may not see it."`
}

// findDuplicates finds the contact with an address, if any.
func (r *Room) findDuplicates(ctx context.Context, tx *db.Tx, in duplicateQuery) (db.List[match], error) {
	email, problem := field.EmailValue(in.Email)
	if !problem.IsZero() {
		return db.List[match]{}, fault.Invalid("email", problem)
	}
	h, err := contact.WithEmail(ctx, tx, address.Key(email))
	if errors.Is(err, pgx.ErrNoRows) {
		return db.All[match](nil), nil
	}
	if err != nil {
		return db.List[match]{}, err
	}
	if !contact.Sees(tx, h.OwnerUserID) {
		return db.All([]match{{}}), nil
	}
	return db.All([]match{{ID: &h.ID}}), nil
}
