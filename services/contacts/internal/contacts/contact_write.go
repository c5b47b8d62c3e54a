package contacts

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/person"
)

// NewContact is what a contact is made of. It needs at least a name, an address or a number.
type NewContact struct {
	FirstName   string         `json:"first_name,omitempty" maxLength:"100"`
	LastName    string         `json:"last_name,omitempty" maxLength:"100"`
	Email       string         `json:"email,omitempty" maxLength:"190"`
	Phone       string         `json:"phone,omitempty" maxLength:"50"`
	Status      string         `json:"status,omitempty" enum:"lead,customer,inactive" doc:"lead when left out."`
	Source      string         `json:"source,omitempty" maxLength:"50"`
	OwnerUserID *int64         `json:"owner_user_id,omitempty" minimum:"1" doc:"User id of a team member."`
	Tags        []string       `json:"tags,omitempty" maxItems:"100" doc:"Names, at most 100 characters each; new ones are made."`
	Fields      map[string]any `json:"fields,omitempty" doc:"Custom field values by key."`
}

// ContactChange is what PATCH may change of a contact.
type ContactChange struct {
	ID          uuid.UUID                 `json:"id"`
	Mode        string                    `json:"mode,omitempty" enum:"fill_empty,overwrite" doc:"fill_empty, the default, only fills what is empty and adds tags."`
	FirstName   opt.Value[string]         `json:"first_name,omitzero" maxLength:"100"`
	LastName    opt.Value[string]         `json:"last_name,omitzero" maxLength:"100"`
	Email       opt.Value[string]         `json:"email,omitzero" maxLength:"190"`
	Phone       opt.Value[string]         `json:"phone,omitzero" maxLength:"50"`
	Status      opt.Value[string]         `json:"status,omitzero" doc:"lead, customer or inactive."`
	Source      opt.Value[string]         `json:"source,omitzero" maxLength:"50"`
	OwnerUserID opt.Value[int64]          `json:"owner_user_id,omitzero" minimum:"1"`
	Tags        opt.Value[[]string]       `json:"tags,omitzero" maxItems:"100"`
	Fields      opt.Value[map[string]any] `json:"fields,omitzero" doc:"Merged by key; null or an empty text clears a value."`
}

const overwrite = "overwrite"

var statuses = []string{"lead", "customer", "inactive"}

// cleaner brings what was typed into its stored form and collects what is wrong with it.
type cleaner struct {
	s      *service
	fields fieldSet
	params map[string]string
	region string
}

func (s *service) newCleaner(ctx context.Context, tx *db.Tx, entity string, withFields bool) (*cleaner, error) {
	c := &cleaner{s: s, params: map[string]string{}, region: s.country()}
	if !withFields {
		return c, nil
	}
	var err error
	c.fields, err = writableFields(ctx, tx, entity)
	return c, err
}

func (c *cleaner) email(name, typed string) string {
	stored, err := address.Parse(typed)
	if err != nil {
		c.params[name] = err.Error()
	}
	return stored
}

func (c *cleaner) phone(typed string) string { return person.Phone(typed, c.region) }

func (c *cleaner) owner(id *int64) *int64 {
	if id != nil && !c.s.Identity.OnTeam(*id) {
		c.params["owner_user_id"] = "must be a member of the team"
	}
	return id
}

func (c *cleaner) tags(tags []string) {
	for _, t := range tags {
		if len([]rune(t)) > 100 {
			c.params["tags"] = "must have at most 100 characters each"
		}
	}
}

func (c *cleaner) values(v map[string]any) map[string]any {
	return c.fields.clean(v, c.region, c.params)
}

// size refuses values that are too much for one record.
func (c *cleaner) size(fields map[string]any) {
	if len(fields) > 0 && tooMuch(fields) {
		c.params["fields"] = "must have at most 262144 bytes in all"
	}
}

func (c *cleaner) fault() error {
	if len(c.params) > 0 {
		return fault.Params(c.params)
	}
	return nil
}

// CreateContact makes a contact. An address that a contact has already is 409 svc_duplicate.
func (s *service) CreateContact(ctx context.Context, tx *db.Tx, in NewContact) (Contact, error) {
	clean, err := s.newCleaner(ctx, tx, "contact", len(in.Fields) > 0)
	if err != nil {
		return Contact{}, err
	}
	c := Contact{
		ID: db.NewID(), FirstName: person.Name(in.FirstName), LastName: person.Name(in.LastName),
		Email: clean.email("email", in.Email), Phone: clean.phone(in.Phone), Status: in.Status, Source: person.Name(in.Source),
		OwnerUserID: clean.owner(in.OwnerUserID), Fields: mergeFields(nil, clean.values(in.Fields), false),
	}
	clean.tags(in.Tags)
	clean.size(c.Fields)
	if c.Status == "" {
		c.Status = "lead"
	}
	// Who sees only contacts of their own makes contacts of their own.
	if c.OwnerUserID == nil && tx.Who.Own {
		c.OwnerUserID = &tx.Who.UserID
	}
	if err := clean.fault(); err != nil {
		return c, err
	}
	if err := nameless(c); err != nil {
		return c, err
	}
	if c.Tags, err = tagNames(ctx, tx, in.Tags); err != nil {
		return c, err
	}
	if tx.Trusts(addressIsNew) {
		return s.insertHoping(ctx, tx, c)
	}
	made, err := s.insertContact(ctx, tx, c)
	if errors.Is(err, errTaken) {
		return c, duplicateContact(ctx, tx, address.Key(c.Email))
	}
	return made, err
}

func nameless(c Contact) error {
	if c.FirstName == "" && c.LastName == "" && c.Email == "" && c.Phone == "" {
		return fault.Params(map[string]string{"first_name": "is needed, or a last name, an email address or a phone number"})
	}
	return nil
}

// errTaken means that another contact has the address.
var errTaken = errors.New("contacts: the address is taken")

// insertContact writes a new contact with its timeline entry and event, or fails with errTaken. Its tags
// are names that tagNames gave.
func (s *service) insertContact(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	c = newContact(c, tx.Now)
	key := address.Key(c.Email)
	made, err := s.insertNew(ctx, tx, c, key, false)
	if err != nil || made {
		return c, err
	}
	// Either the address is taken, or its owner has unsubscribed.
	left, err := s.left(ctx, tx, key)
	if err != nil {
		return c, err
	}
	if left {
		c.Marketing, c.MarketingUpdatedAt = marketingUnsubscribed, &tx.Now
		made, err = s.insertNew(ctx, tx, c, key, true)
	}
	if err == nil && !made {
		err = errTaken
	}
	return c, err
}

// insertHoping is insertContact for most of the time: the insert goes with the commit, and when the address is
// taken or its owner has unsubscribed, the transaction runs again.
func (s *service) insertHoping(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	c = newContact(c, tx.Now)
	tx.Defer(insertIfNew, s.newArgs(tx, c, address.Key(c.Email), false)...)
	tx.Assume(addressIsNew, `exists (select from contact where id = $1)`, c.ID)
	return c, tx.Emit(ctx, contactEvent("contact.created", c, nil, nil))
}

// addressIsNew: no contact has the address, and its owner has not unsubscribed.
const addressIsNew = db.Assumption("the address is new")

func newContact(c Contact, now time.Time) Contact {
	c.version, c.CreatedAt, c.UpdatedAt, c.LastActivity, c.Marketing = 1, now, now, &now, marketingNone
	return c
}

// insertIfNew inserts contact and entry in one statement, for most of what a creation takes is round trips. It
// inserts nothing when the address is taken, or when what is known of its owner is not $16.
const insertIfNew = `
	with made as (
		insert into contact (id, first_name, last_name, email, email_key, phone, status, marketing, marketing_updated_at, source, owner_user_id,
			tags, fields, last_activity, created_at, updated_at)
		select $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::timestamptz, $10::text, $11::bigint,
			$12::text[], $13::jsonb, $14::timestamptz, $14, $14
		where $5 = '' or exists (select from unsubscribed where address_hash = $15) = $16
		on conflict (email_key) where deleted_at is null and email_key <> '' do nothing
		returning id),
	entry as (
		insert into activity (id, contact_id, type, subject, data, channel, actor_label, user_id, created_at)
		select $17::uuid, id, $18, $19, $20::jsonb, $21, $22, nullif($23::bigint, 0), $14 from made)
	select exists (select from made)`

func (s *service) newArgs(tx *db.Tx, c Contact, key string, left bool) []any {
	return []any{c.ID, c.FirstName, c.LastName, c.Email, key, c.Phone, c.Status, c.Marketing, c.MarketingUpdatedAt, c.Source, c.OwnerUserID, c.Tags, c.Fields, tx.Now,
		s.addressHash(key), left, db.NewID(), entryCreated, "Contact created", creation(c), tx.Who.Channel, tx.Who.Label, tx.Who.UserID}
}

func (s *service) insertNew(ctx context.Context, tx *db.Tx, c Contact, key string, left bool) (made bool, err error) {
	if err = tx.QueryRow(ctx, insertIfNew, s.newArgs(tx, c, key, left)...).Scan(&made); err != nil || !made {
		return false, err
	}
	return true, tx.Emit(ctx, contactEvent("contact.created", c, nil, nil))
}

func creation(c Contact) changes {
	return contactChanges(Contact{Status: c.Status, Marketing: "none"}, c).created()
}

// duplicateContact is the 409 of an address that is taken, with the id of the contact when the actor may
// see it.
func duplicateContact(ctx context.Context, tx *db.Tx, key string) error {
	id, owner, err := contactWithEmail(ctx, tx, key, "")
	if err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			// It went in the meantime.
			return fault.Conflict("email", "This email address was in use a moment ago. Try again.")
		}
		return err
	}
	const message = "A contact with this email address exists."
	if !sees(tx, owner) {
		return fault.Duplicate(message, nil)
	}
	return fault.Duplicate(message, id)
}

// contactWithEmail finds the contact, not in the trash, that has an address; pgx.ErrNoRows when none has.
func contactWithEmail(ctx context.Context, tx *db.Tx, key, lock string) (id uuid.UUID, owner *int64, err error) {
	if key == "" {
		return id, nil, pgx.ErrNoRows
	}
	err = tx.QueryRow(ctx, `select id, owner_user_id from contact where email_key = $1 and deleted_at is null and email_key <> ''`+lock, key).Scan(&id, &owner)
	return id, owner, err
}

// sees tells whether the actor may see a contact with this owner.
func sees(tx *db.Tx, owner *int64) bool {
	return !tx.Who.Own || owner != nil && *owner == tx.Who.UserID
}

// GetContact reads a contact, also one in the trash.
func (s *service) GetContact(ctx context.Context, tx *db.Tx, in ByID) (Contact, error) {
	return contactByID(ctx, tx, in.ID)
}

// UpdateContact changes a contact: fills what is empty, or overwrites.
func (s *service) UpdateContact(ctx context.Context, tx *db.Tx, in ContactChange) (Contact, error) {
	old, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	clean, err := s.newCleaner(ctx, tx, "contact", in.Fields.Given())
	if err != nil {
		return old, err
	}
	c := old
	fill := in.Mode != overwrite
	text := func(target *string, v opt.Value[string], stored func(string) string) {
		if v.Set && (!fill || *target == "") {
			*target = stored(v.V)
		}
	}
	text(&c.FirstName, in.FirstName, person.Name)
	text(&c.LastName, in.LastName, person.Name)
	text(&c.Email, in.Email, func(s string) string { return clean.email("email", s) })
	text(&c.Phone, in.Phone, clean.phone)
	text(&c.Source, in.Source, person.Name)
	if in.Status.Set {
		if !slices.Contains(statuses, in.Status.V) {
			clean.params["status"] = "must be one of lead, customer, inactive"
		} else if !fill {
			c.Status = in.Status.V
		}
	}
	if in.OwnerUserID.Set && (!fill || c.OwnerUserID == nil) {
		in.OwnerUserID.ApplyPtr(&c.OwnerUserID)
		clean.owner(c.OwnerUserID)
	}
	clean.tags(in.Tags.V)
	values := clean.values(in.Fields.V)
	c.Fields = mergeFields(old.Fields, values, fill)
	clean.size(c.Fields)
	if err := clean.fault(); err != nil {
		return old, err
	}
	if err := nameless(c); err != nil {
		return old, err
	}
	if in.Tags.Set {
		if c.Tags, err = tagNames(ctx, tx, in.Tags.V); err != nil {
			return old, err
		}
		if fill {
			c.Tags = withTags(old.Tags, c.Tags)
		}
	}
	if err := s.saveContact(ctx, tx, old, c); err != nil {
		if errors.Is(err, errTaken) {
			return old, duplicateContact(ctx, tx, address.Key(c.Email))
		}
		return old, err
	}
	return readContact(ctx, tx, c.ID)
}

// withTags adds tags that are not there yet.
func withTags(old, more []string) []string {
	out := slices.Clone(old)
	for _, t := range more {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}

// saveContact writes what differs between old, a locked contact, and c: row, timeline entry, event. It
// fails with errTaken when another contact has the address. A change of address ends the subscription,
// which belongs to the address.
func (s *service) saveContact(ctx context.Context, tx *db.Tx, old, c Contact) error {
	_, err := s.saveContactAs(ctx, tx, old, c, entryUpdated, "Contact changed")
	return err
}

func (s *service) saveContactAs(ctx context.Context, tx *db.Tx, old, c Contact, kind, subject string) (changed bool, err error) {
	key := address.Key(c.Email)
	moved := key != address.Key(old.Email)
	if moved {
		if id, _, err := contactWithEmail(ctx, tx, key, ""); err == nil && id != c.ID {
			return false, errTaken
		} else if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return false, err
		}
		c.Marketing = "none"
		if err := s.recallMarketing(ctx, tx, &c, key); err != nil {
			return false, err
		}
		if c.Marketing != old.Marketing {
			c.MarketingUpdatedAt = &tx.Now
		}
		if err := endConfirmLinks(ctx, tx, c.ID); err != nil {
			return false, err
		}
		if err := rememberAddress(ctx, tx, c.ID, address.Key(old.Email)); err != nil {
			return false, err
		}
	}
	diff := contactChanges(old, c)
	if len(diff) == 0 {
		return false, nil
	}
	if err := writeContact(ctx, tx, c, key, moved); err != nil {
		return false, err
	}
	if _, err := log(ctx, tx, entry{contact: &c.ID, kind: kind, subject: subject, data: diff}); err != nil {
		return false, err
	}
	_, err = emitContact(ctx, tx, "contact.updated", c.ID, diff.names(), nil)
	return true, err
}

// writeContact stores a locked contact as its next version. guarded sets a savepoint, for writes that may meet
// another contact with the address: they end in errTaken and leave the transaction usable.
func writeContact(ctx context.Context, tx *db.Tx, c Contact, key string, guarded bool) error {
	const update = `
		update contact set version = version + 1, first_name = $2, last_name = $3, email = $4, email_key = $5, phone = $6, status = $7,
			marketing = $8, marketing_updated_at = $9, source = $10, owner_user_id = $11, tags = $12, fields = $13, deleted_at = $14,
			last_activity = greatest(last_activity, $15), updated_at = $15
		where id = $1`
	args := []any{c.ID, c.FirstName, c.LastName, c.Email, key, c.Phone, c.Status, c.Marketing, c.MarketingUpdatedAt, c.Source, c.OwnerUserID, c.Tags,
		c.Fields, c.DeletedAt, tx.Now}
	if !guarded {
		_, err := tx.Exec(ctx, update, args...)
		return err
	}
	err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		_, err := inner.Exec(ctx, update, args...)
		return err
	})
	if db.Violates(err, "contact_email") {
		return errTaken
	}
	return err
}

// DeleteContact moves a contact to the trash.
func (s *service) DeleteContact(ctx context.Context, tx *db.Tx, in ByID) (op.None, error) {
	c, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if _, err := tx.Exec(ctx, `update contact set version = version + 1, deleted_at = $2, updated_at = $2, last_activity = $2 where id = $1`, c.ID, tx.Now); err != nil {
		return op.None{}, err
	}
	if _, err := log(ctx, tx, entry{contact: &c.ID, kind: entryDeleted, subject: "Contact moved to the trash"}); err != nil {
		return op.None{}, err
	}
	_, err = emitContact(ctx, tx, "contact.deleted", c.ID, nil, nil)
	return op.None{}, err
}

// RestoreContact takes a contact out of the trash, with all it had. An address that another contact has
// taken meanwhile is 409 svc_duplicate.
func (s *service) RestoreContact(ctx context.Context, tx *db.Tx, in ByID) (Contact, error) {
	c, err := lockContact(ctx, tx, in.ID)
	if err != nil {
		return c, err
	}
	if c.DeletedAt == nil {
		return c, fault.InvalidStatus("active", "The contact is not in the trash.")
	}
	old := c
	c.DeletedAt = nil
	key := address.Key(c.Email)
	// The person may have unsubscribed while the contact was away.
	if err := s.recallMarketing(ctx, tx, &c, key); err != nil {
		return c, err
	}
	if err := writeContact(ctx, tx, c, key, true); err != nil {
		if errors.Is(err, errTaken) {
			return c, duplicateContact(ctx, tx, key)
		}
		return c, err
	}
	if _, err := log(ctx, tx, entry{contact: &c.ID, kind: entryRestored, subject: "Contact restored", data: contactChanges(old, c)}); err != nil {
		return c, err
	}
	return emitContact(ctx, tx, "contact.restored", c.ID, nil, nil)
}

// DuplicateQuery asks who has an address.
type DuplicateQuery struct {
	Email string `json:"email" required:"true" maxLength:"190"`
}

// Match is a contact with the address; its id is null when the caller may not see it.
type Match struct {
	ID *uuid.UUID `json:"id" nullable:"true"`
}

// FindDuplicates finds the contact with an address, if any.
func (s *service) FindDuplicates(ctx context.Context, tx *db.Tx, in DuplicateQuery) (db.List[Match], error) {
	email, err := address.Parse(in.Email)
	if err != nil {
		return db.List[Match]{}, fault.Param("email", "%s", err.Error())
	}
	id, owner, err := contactWithEmail(ctx, tx, address.Key(email), "")
	if errors.Is(err, pgx.ErrNoRows) {
		return db.All[Match](nil), nil
	}
	if err != nil {
		return db.List[Match]{}, err
	}
	if !sees(tx, owner) {
		return db.All([]Match{{}}), nil
	}
	return db.All([]Match{{ID: &id}}), nil
}

// NewNote is a note for a timeline.
type NewNote struct {
	ID   uuid.UUID `json:"id"`
	Body string    `json:"body" required:"true" maxLength:"65535" doc:"Plain text."`
}

// AddNote writes a note into a contact's timeline.
func (s *service) AddNote(ctx context.Context, tx *db.Tx, in NewNote) (Entry, error) {
	if strings.TrimSpace(in.Body) == "" {
		return Entry{}, fault.Param("body", "must not be empty")
	}
	c, err := lockLiveContact(ctx, tx, in.ID)
	if err != nil {
		return Entry{}, err
	}
	id, err := log(ctx, tx, entry{contact: &c.ID, kind: entryNote, body: in.Body})
	if err != nil {
		return Entry{}, err
	}
	if err := touch(ctx, tx, c.ID); err != nil {
		return Entry{}, err
	}
	rows, err := tx.Query(ctx, `select `+entryColumns+` from activity a join contact c on c.id = a.contact_id where a.id = $1`, id)
	if err != nil {
		return Entry{}, err
	}
	return pgx.CollectExactlyOneRow(rows, scanEntry)
}
