package contact

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
	"frontdesk/proto"
)

// A query of contacts is "select " + Shown or Whole + From; Query reads it.
const (
	contactStart = `c.id, c.version, c.first_name, c.last_name, c.email, c.phone, c.status, c.marketing, c.marketing_updated_at, c.source,
		c.owner_user_id, c.tags, `
	contactEnd = ` as fields, c.last_activity, c.created_at, c.updated_at, c.deleted_at,
		case when po.id is null then 'null' else jsonb_build_object('id', po.id, 'name', po.name, 'role', p.role) end as organization`

	// A contact as it is shown, and with the values of archived fields, which a write has to keep.
	Shown = contactStart + `c.fields - array(select key from field where entity = 'contact' and archived)` + contactEnd
	Whole = contactStart + `c.fields` + contactEnd

	From = ` from contact c
		left join contact_organization p on p.contact_id = c.id and p.is_primary
		left join organization po on po.id = p.organization_id and po.deleted_at is null`
)

// Contacts whose address another contact has are left out. A batch is fastest as a list per column, one contact as plain values: a function scan
// takes longer to set up than the row to insert.
const (
	insertStart = `
		insert into contact (id, version, first_name, last_name, email, email_key, phone, status, marketing, marketing_updated_at, source,
			owner_user_id, tags, fields, last_activity, created_at, updated_at)`
	insertEnd = `
		on conflict (email_key) where deleted_at is null and email_key <> '' do nothing
		returning id, updated_at`

	insertContactSQL = insertStart + `
		values (@id, 1, @first_name, @last_name, @email, @key, @phone, @status, @marketing, @marketing_at, @source,
			@owner, @tags, @fields, @made, @made, @made)` + insertEnd
	insertContactsSQL = insertStart + `
		select id, 1, first_name, last_name, email, email_key, phone, status, marketing, marketing_updated_at, source,
			owner_user_id, tags::text[], fields, made, made, made
		from unnest(@ids::uuid[], @first_names::text[], @last_names::text[], @emails::text[], @keys::text[], @phones::text[], @statuses::text[],
			@marketing::text[], @marketing_times::timestamptz[], @sources::text[], @owners::bigint[], @tags::text[], @fields::jsonb[], @made::timestamptz[])
			n (id, first_name, last_name, email, email_key, phone, status, marketing, marketing_updated_at, source, owner_user_id, tags, fields, made)` + insertEnd
)

// newRow returns the arguments of insertContactSQL for a contact that MadeAt made.
func newRow(c Contact) db.Args {
	return db.Args{"id": c.ID, "first_name": c.FirstName, "last_name": c.LastName, "email": c.Email, "key": address.Key(c.Email), "phone": c.Phone,
		"status": c.Status, "marketing": c.Marketing, "marketing_at": c.MarketingUpdatedAt, "source": c.Source, "owner": c.OwnerUserID, "tags": c.Tags,
		"fields": c.Fields, "made": c.CreatedAt}
}

// changedRow returns the arguments of updateContactSQL.
func changedRow(c Contact, now time.Time) db.Args {
	row := newRow(c)
	row["deleted"], row["now"] = c.DeletedAt, now
	return row
}

// newRows is newRow for insertContactsSQL.
func newRows(contacts []Contact) db.Args {
	return db.Args{
		"ids":             column(contacts, func(c Contact) uuid.UUID { return c.ID }),
		"first_names":     column(contacts, func(c Contact) string { return c.FirstName }),
		"last_names":      column(contacts, func(c Contact) string { return c.LastName }),
		"emails":          column(contacts, func(c Contact) string { return c.Email }),
		"keys":            column(contacts, func(c Contact) string { return address.Key(c.Email) }),
		"phones":          column(contacts, func(c Contact) string { return c.Phone }),
		"statuses":        column(contacts, func(c Contact) string { return c.Status }),
		"marketing":       column(contacts, func(c Contact) string { return c.Marketing }),
		"marketing_times": column(contacts, func(c Contact) *time.Time { return c.MarketingUpdatedAt }),
		"sources":         column(contacts, func(c Contact) string { return c.Source }),
		"owners":          column(contacts, func(c Contact) *int64 { return c.OwnerUserID }),
		"tags":            column(contacts, func(c Contact) string { return arrayText(c.Tags) }),
		"fields":          column(contacts, func(c Contact) map[string]any { return c.Fields }),
		"made":            column(contacts, func(c Contact) time.Time { return c.CreatedAt }),
	}
}

func column[T any](contacts []Contact, of func(c Contact) T) []T {
	values := make([]T, len(contacts))
	for i, c := range contacts {
		values[i] = of(c)
	}
	return values
}

var inArray = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// arrayText returns words as the text of a PostgreSQL array. The tags of several contacts cannot be one array of arrays: those have to be of
// equal length.
func arrayText(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + inArray.Replace(w) + `"`)
	}
	return "{" + b.String() + "}"
}

// Insert inserts contacts of MadeAt, and gives those whose address was free, as the database stamped them.
func Insert(ctx context.Context, tx *db.Tx, contacts ...Contact) (map[uuid.UUID]Contact, error) {
	var rows pgx.Rows
	var err error
	if len(contacts) == 1 {
		rows, err = tx.Query(ctx, insertContactSQL, newRow(contacts[0]))
	} else {
		rows, err = tx.Query(ctx, insertContactsSQL, newRows(contacts))
	}
	if err != nil {
		return nil, err
	}
	return stamped(rows, contacts)
}

// DeferInsert inserts a contact of MadeAt in the round trip of the commit, unless its address is taken.
func DeferInsert(tx *db.Tx, c Contact) { tx.Defer(insertContactSQL, newRow(c)) }

// stamped gives the contacts that rows of id and updated_at name, with that time.
func stamped(rows pgx.Rows, contacts []Contact) (map[uuid.UUID]Contact, error) {
	times := make(map[uuid.UUID]time.Time, len(contacts))
	var id uuid.UUID
	var at time.Time
	if _, err := pgx.ForEachRow(rows, []any{&id, &at}, func() error { times[id] = at; return nil }); err != nil {
		return nil, err
	}
	written := make(map[uuid.UUID]Contact, len(times))
	for _, c := range contacts {
		if at, ok := times[c.ID]; ok {
			c.UpdatedAt = at
			written[c.ID] = c
		}
	}
	return written, nil
}

// As with an insert, a batch is JSON and one contact is plain values: one row of VALUES is planned as if there were no join.
const (
	updateStart = `
		update contact c set version = c.version + 1, first_name = n.first_name, last_name = n.last_name, email = n.email, email_key = n.email_key,
			phone = n.phone, status = n.status, marketing = n.marketing, marketing_updated_at = n.marketing_updated_at, source = n.source,
			owner_user_id = n.owner_user_id, tags = n.tags, fields = n.fields, deleted_at = n.deleted_at,
			last_activity = greatest(c.last_activity, @now), updated_at = @now
		from `
	updateEnd = ` where c.id = n.id
		returning c.id, c.updated_at`

	updateContactSQL = updateStart + `
		(values (@id::uuid, @first_name::text, @last_name::text, @email::text, @key::text, @phone::text, @status::text, @marketing::text,
			@marketing_at::timestamptz, @source::text, @owner::bigint, @tags::text[], @fields::jsonb, @deleted::timestamptz))
		n (id, first_name, last_name, email, email_key, phone, status, marketing, marketing_updated_at, source, owner_user_id, tags, fields, deleted_at)` + updateEnd
	updateContactsSQL = updateStart + `jsonb_populate_recordset(null::contact, @contacts) n` + updateEnd
)

// contactRow is a contact in the JSON of updateContactsSQL, by the names of the columns.
type contactRow struct {
	Contact
	Version  int64  `json:"version"`
	EmailKey string `json:"email_key"`
}

// updateContacts stores locked contacts as their next versions, and gives them so, as the database stamped them. Their
// addresses stay as they were: see UpdateAddress.
func updateContacts(ctx context.Context, tx *db.Tx, contacts ...Contact) (map[uuid.UUID]Contact, error) {
	next, changed := slices.Clone(contacts), make([]contactRow, len(contacts))
	for i, c := range contacts {
		next[i].Version++
		changed[i] = contactRow{c, c.Version, address.Key(c.Email)}
	}
	rows, err := tx.Query(ctx, updateContactsSQL, db.Args{"contacts": changed, "now": tx.Now})
	if err != nil {
		return nil, err
	}
	return stamped(rows, next)
}

// Update is updateContacts for one, and gives it as it is shown, in the same round trip.
func Update(ctx context.Context, tx *db.Tx, c Contact) (shown Contact, err error) {
	b := &pgx.Batch{}
	b.Queue(updateContactSQL, changedRow(c, tx.Now))
	b.Queue(readContactSQL, c.ID).Query(func(rows pgx.Rows) error {
		shown, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Contact])
		return err
	})
	err = tx.SendBatch(ctx, b).Close()
	return shown, err
}

// UpdateAddress is Update for one that gets an address, or gets it back. It fails with ErrTaken when
// another contact has the address; the transaction can go on then.
func UpdateAddress(ctx context.Context, tx *db.Tx, c Contact) (Contact, error) {
	if h, err := WithEmail(ctx, tx, address.Key(c.Email)); err == nil && h.ID != c.ID {
		return c, ErrTaken
	} else if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return c, err
	}
	// Somebody may take the address between that look and this write.
	err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error {
		_, err := inner.Exec(ctx, updateContactSQL, changedRow(c, tx.Now))
		return err
	})
	if db.Violates(err, "contact_email") {
		return c, ErrTaken
	}
	if err != nil {
		return c, err
	}
	return Read(ctx, tx, c.ID)
}

// ErrTaken means that another contact, not in the trash, has the address.
var ErrTaken = errors.New("contacts: the address is taken")

// ByID reads one contact that the actor may see, trashed ones too; 404 svc_not_found otherwise.
func ByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	w := visible(tx, id)
	return oneContact(ctx, tx, `select `+Shown+From+` where `+w.String(), w.Args...)
}

// Lock locks a contact that the actor may see and reads it whole, with archived fields; 404 svc_not_found
// otherwise.
func Lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	w := visible(tx, id)
	return oneContact(ctx, tx, `select `+Whole+From+` where `+w.String()+` for no key update of c`, w.Args...)
}

// LockLive is Lock for writes that the trash refuses: 409 svc_invalid_status.
func LockLive(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	c, err := Lock(ctx, tx, id)
	if err == nil && c.DeletedAt != nil {
		err = InTrash("contact")
	}
	return c, err
}

// Query reads the contacts of a query, see From.
func Query(ctx context.Context, tx *db.Tx, query string, args ...any) ([]Contact, error) {
	return db.Rows[Contact](ctx, tx, query, args...)
}

// Read reads a contact, whoever asks; 404 svc_not_found when it is gone.
func Read(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	return oneContact(ctx, tx, readContactSQL, id)
}

const readContactSQL = `select ` + Shown + From + ` where c.id = $1`

func visible(tx *db.Tx, id uuid.UUID) *db.Where {
	w := &db.Where{}
	w.And("c.id = ?", id)
	OnlyOwn(w, tx)
	return w
}

// OnlyOwn limits the contacts c to those that the actor may see.
func OnlyOwn(w *db.Where, tx *db.Tx) {
	if tx.Who.Own {
		w.And("c.owner_user_id = ?", tx.Who.UserID)
	}
}

func oneContact(ctx context.Context, tx *db.Tx, query string, args ...any) (Contact, error) {
	return db.Find[Contact](ctx, tx, fault.NotFound("contact"), query, args...)
}

// FailTrashed says in descriptions when inTrash is the answer, see op.Fails.
const FailTrashed = "The record is in the trash. Restore it first."

// InTrash refuses a write to a record in the trash: 409 svc_invalid_status.
func InTrash(what string) error {
	return fault.InvalidStatus("deleted", "The "+what+" is in the trash. Restore it first.")
}

// holder is the contact, not in the trash, that has an address.
type holder struct {
	ID          uuid.UUID
	OwnerUserID *int64
}

const holderSQL = `select id, owner_user_id from contact where email_key = $1 and deleted_at is null and email_key <> ''`

// WithEmail finds the contact that has an address, by the address's key; pgx.ErrNoRows when none has.
func WithEmail(ctx context.Context, tx *db.Tx, key string) (h holder, err error) {
	return h, tx.QueryRow(ctx, holderSQL, key).Scan(&h.ID, &h.OwnerUserID)
}

// LockWithEmail is WithEmail that locks the contact.
func LockWithEmail(ctx context.Context, tx *db.Tx, key string) (h holder, err error) {
	return h, tx.QueryRow(ctx, holderSQL+` for no key update`, key).Scan(&h.ID, &h.OwnerUserID)
}

// Sees reports whether the actor may see a contact with this owner.
func Sees(tx *db.Tx, owner *int64) bool {
	return !tx.Who.Own || owner != nil && *owner == tx.Who.UserID
}

// Emit publishes a contact as it is now, and gives it. Extra may be nil.
func Emit(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string, extra any) (Contact, error) {
	c, err := Read(ctx, tx, id)
	if err != nil {
		return c, err
	}
	return c, tx.Emit(ctx, Event(kind, c, changed, extra))
}

// publish publishes contact.updated for contacts as they are now, and gives them.
func publish(ctx context.Context, tx *db.Tx, ids []uuid.UUID, changed []string) ([]Contact, error) {
	contacts, err := Query(ctx, tx, `select `+Shown+From+` where c.id = any($1) order by c.id`, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range contacts {
		if err := tx.Emit(ctx, Event(proto.KindContactUpdated, c, changed, nil)); err != nil {
			return nil, err
		}
	}
	return contacts, nil
}

// Event is an event about a contact as it is, under its version. Extra may be nil.
func Event(kind string, c Contact, changed []string, extra any) db.Event {
	return db.Event{Topic: proto.ContactTopic, Kind: kind, Key: c.ID.String(), Version: c.Version, Changed: changed, Data: c, Extra: extra}
}

// LockWithEmails locks the contacts that have addresses, by the addresses' keys, and gives them whole.
func LockWithEmails(ctx context.Context, tx *db.Tx, keys []string) (map[string]Contact, error) {
	found := map[string]Contact{}
	if len(keys) == 0 {
		return found, nil
	}
	locked, err := tx.Exec(ctx, `select from contact where email_key = any($1) and email_key <> '' and deleted_at is null order by id for no key update`, keys)
	if err != nil || locked.RowsAffected() == 0 {
		return found, err
	}
	contacts, err := Query(ctx, tx, `select `+Whole+From+` where c.email_key = any($1) and c.email_key <> '' and c.deleted_at is null
		for no key update of c`, keys) // one that came in between is locked now
	for _, c := range contacts {
		found[address.Key(c.Email)] = c
	}
	return found, err
}

// OtherID names a second record in the body.
type OtherID struct {
	ID      uuid.UUID `json:"id"`
	OtherID uuid.UUID `json:"other_id" required:"true" doc:"The id of the record that is merged into this one and deleted."`
}

// SameRecord is the problem of a second record that is the first one.
func SameRecord(what string) fault.Problem { return fault.NewProblem("same", "must be another "+what) }

// LockPair locks two records by id and gives them as they were named.
func LockPair[T any](ctx context.Context, tx *db.Tx, in OtherID, lock func(context.Context, *db.Tx, uuid.UUID) (T, error)) (one, other T, err error) {
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

// IDsOf gives the ids that a query selects.
func IDsOf(ctx context.Context, tx *db.Tx, query string, args ...any) ([]uuid.UUID, error) {
	return db.Column[uuid.UUID](ctx, tx, query, args...)
}
