package contacts

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// Contact is a person as REST and events show one.
type Contact struct {
	ID                 uuid.UUID                      `json:"id"`
	FirstName          string                         `json:"first_name"`
	LastName           string                         `json:"last_name"`
	Email              string                         `json:"email"`
	Phone              string                         `json:"phone"`
	Status             string                         `json:"status" enum:"lead,customer,inactive"`
	Marketing          string                         `json:"marketing" enum:"none,pending,subscribed,unsubscribed"`
	MarketingUpdatedAt *time.Time                     `json:"marketing_updated_at"`
	Source             string                         `json:"source"`
	OwnerUserID        *int64                         `json:"owner_user_id"`
	Tags               []string                       `json:"tags"`
	Fields             map[string]any                 `json:"fields" doc:"Custom field values by key; empty ones are left out."`
	Organization       opt.Value[PrimaryOrganization] `json:"organization"`
	LastActivity       *time.Time                     `json:"last_activity"`
	CreatedAt          time.Time                      `json:"created_at"`
	UpdatedAt          time.Time                      `json:"updated_at"`
	DeletedAt          *time.Time                     `json:"deleted_at"`

	version int64
}

// PrimaryOrganization is the organization that a person belongs to first of all.
type PrimaryOrganization struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
	Role string    `json:"role"`
}

// ContactRef names a contact.
type ContactRef struct {
	ID   uuid.UUID `json:"id"`
	Name string    `json:"name"`
}

// Name is how lists call the contact: by name, else by address or number.
func (c Contact) Name() string {
	return displayName(c.FirstName, c.LastName, c.Email, c.Phone)
}

func displayName(first, last, email, phone string) string {
	if name := strings.TrimSpace(first + " " + last); name != "" {
		return name
	}
	if email != "" {
		return email
	}
	return phone
}

const (
	// Two ways to read the custom fields: as they are shown, and with those that are archived.
	shownContactFields = `c.fields - array(select key from field where entity = 'contact' and archived)`
	allContactFields   = `c.fields`

	contactFrom = ` from contact c
		left join contact_organization p on p.contact_id = c.id and p.is_primary
		left join organization po on po.id = p.organization_id and po.deleted_at is null`
)

func contactColumns(fields string) string {
	return `c.id, c.version, c.first_name, c.last_name, c.email, c.phone, c.status, c.marketing, c.marketing_updated_at, c.source,
		c.owner_user_id, c.tags, ` + fields + `, c.last_activity, c.created_at, c.updated_at, c.deleted_at, po.id, po.name, p.role`
}

// scanContact reads contactColumns, and into more what is selected behind them.
func scanContact(row pgx.CollectableRow, more ...any) (Contact, error) {
	var c Contact
	var org *uuid.UUID
	var name, role *string
	err := row.Scan(append([]any{&c.ID, &c.version, &c.FirstName, &c.LastName, &c.Email, &c.Phone, &c.Status, &c.Marketing, &c.MarketingUpdatedAt, &c.Source,
		&c.OwnerUserID, &c.Tags, &c.Fields, &c.LastActivity, &c.CreatedAt, &c.UpdatedAt, &c.DeletedAt, &org, &name, &role}, more...)...)
	if org != nil {
		c.Organization = opt.Of(PrimaryOrganization{ID: *org, Name: *name, Role: *role})
	}
	return c, err
}

// contactByID reads one contact that the actor may see, trashed ones too; 404 svc_not_found otherwise.
func contactByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	return oneContact(ctx, tx, id, shownContactFields, "")
}

// lockContact locks a contact that the actor may see and reads it whole, with archived fields.
func lockContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	return oneContact(ctx, tx, id, allContactFields, " for no key update of c")
}

// lockLiveContact is lockContact for writes that the trash refuses: 409 svc_invalid_status.
func lockLiveContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	c, err := lockContact(ctx, tx, id)
	if err == nil && c.DeletedAt != nil {
		err = inTrash("contact")
	}
	return c, err
}

func inTrash(what string) error {
	return fault.InvalidStatus("deleted", "The "+what+" is in the trash. Restore it first.")
}

func oneContact(ctx context.Context, tx *db.Tx, id uuid.UUID, fields, lock string) (Contact, error) {
	var w where
	w.and("c.id = ?", id)
	w.own(tx, "c")
	rows, err := tx.Query(ctx, `select `+contactColumns(fields)+contactFrom+` where `+w.String()+lock, w.args...)
	if err != nil {
		return Contact{}, err
	}
	c, err := pgx.CollectExactlyOneRow(rows, wholeContact)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, fault.NotFound("contact")
	}
	return c, err
}

func wholeContact(row pgx.CollectableRow) (Contact, error) { return scanContact(row) }

// change is the old and new value of a field in the timeline.
type change struct {
	Old any `json:"old"`
	New any `json:"new"`
}

// changes are those of one edit, by field.
type changes map[string]change

func (c changes) note(field string, old, new any) {
	if !reflect.DeepEqual(old, new) {
		c[field] = change{old, new}
	}
}

// names are the changed fields, sorted; custom ones come under fields.
func (c changes) names() []string {
	names := map[string]bool{}
	for k := range c {
		k, _, _ = strings.Cut(k, ".")
		names[k] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// fieldChanges notes custom fields one by one, as fields.<key>.
func (c changes) fieldChanges(old, new map[string]any) {
	for k, v := range new {
		c.note("fields."+k, old[k], v)
	}
	for k, v := range old {
		if _, still := new[k]; !still {
			c.note("fields."+k, v, nil)
		}
	}
}

func contactChanges(old, new Contact) changes {
	c := changes{}
	c.note("first_name", old.FirstName, new.FirstName)
	c.note("last_name", old.LastName, new.LastName)
	c.note("email", old.Email, new.Email)
	c.note("phone", old.Phone, new.Phone)
	c.note("status", old.Status, new.Status)
	c.note("marketing", old.Marketing, new.Marketing)
	c.note("source", old.Source, new.Source)
	c.note("owner_user_id", number(old.OwnerUserID), number(new.OwnerUserID))
	if !slices.Equal(old.Tags, new.Tags) {
		c.note("tags", old.Tags, new.Tags)
	}
	c.fieldChanges(old.Fields, new.Fields)
	return c
}

// number is n as JSON has it.
func number(n *int64) any {
	if n == nil {
		return nil
	}
	return *n
}

// created are the changes of a new record: every field that is filled in.
func (c changes) created() changes {
	for k, v := range c {
		c[k] = change{nil, v.New}
	}
	return c
}

// emitContact tells the other services of a contact as it is now. Extra may be nil.
func emitContact(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string, extra any) (Contact, error) {
	c, err := readContact(ctx, tx, id)
	if err != nil {
		return c, err
	}
	return c, tx.Emit(ctx, contactEvent(kind, c, changed, extra))
}

func contactEvent(kind string, c Contact, changed []string, extra any) db.Event {
	return db.Event{Topic: proto.ContactTopic, Kind: kind, Key: c.ID.String(), Version: c.version, Changed: changed, Data: c, Extra: extra}
}

// readContact reads a contact whoever asks.
func readContact(ctx context.Context, tx *db.Tx, id uuid.UUID) (Contact, error) {
	rows, err := tx.Query(ctx, `select `+contactColumns(shownContactFields)+contactFrom+` where c.id = $1`, id)
	if err != nil {
		return Contact{}, err
	}
	return pgx.CollectExactlyOneRow(rows, wholeContact)
}
