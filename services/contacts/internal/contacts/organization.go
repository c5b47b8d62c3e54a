package contacts

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/person"
)

// Organization is an organization as REST and events show one.
type Organization struct {
	ID            uuid.UUID      `json:"id"`
	Name          string         `json:"name"`
	VATNumber     string         `json:"vat_number"`
	Email         string         `json:"email"`
	Phone         string         `json:"phone"`
	Website       string         `json:"website"`
	AddressLine   string         `json:"address_line"`
	PostalCode    string         `json:"postal_code"`
	City          string         `json:"city"`
	Country       string         `json:"country"`
	OwnerUserID   *int64         `json:"owner_user_id"`
	Fields        map[string]any `json:"fields" doc:"Custom field values by key; empty ones are left out."`
	ContactsCount int64          `json:"contacts_count" doc:"Linked people that you may see."`
	LastActivity  *time.Time     `json:"last_activity"`
	CreatedAt     time.Time      `json:"created_at"`
	UpdatedAt     time.Time      `json:"updated_at"`
	DeletedAt     *time.Time     `json:"deleted_at"`

	version int64
}

const (
	shownOrganizationFields = `o.fields - array(select key from field where entity = 'organization' and archived)`
	allOrganizationFields   = `o.fields`
)

func organizationColumns(fields string) string {
	return `o.id, o.version, o.name, o.vat_number, o.email, o.phone, o.website, o.address_line, o.postal_code, o.city, o.country, o.owner_user_id,
		` + fields + `, people.n, greatest(o.last_activity, people.last_activity), o.created_at, o.updated_at, o.deleted_at`
}

// organizationFrom joins the number of people that the actor may see, and when something last happened to
// one of them.
func organizationFrom(tx *db.Tx, w *where) string {
	seen := "true"
	if tx.Who.Own {
		seen = w.number("lc.owner_user_id = ?", tx.Who.UserID)
	}
	return ` from organization o cross join lateral (select count(*) n, max(lc.last_activity) last_activity from contact_organization l
		join contact lc on lc.id = l.contact_id where l.organization_id = o.id and lc.deleted_at is null and ` + seen + `) people`
}

func scanOrganization(row pgx.CollectableRow) (o Organization, err error) {
	return o, row.Scan(&o.ID, &o.version, &o.Name, &o.VATNumber, &o.Email, &o.Phone, &o.Website, &o.AddressLine, &o.PostalCode, &o.City, &o.Country,
		&o.OwnerUserID, &o.Fields, &o.ContactsCount, &o.LastActivity, &o.CreatedAt, &o.UpdatedAt, &o.DeletedAt)
}

// organizationByID reads an organization, trashed ones too; 404 svc_not_found when there is none.
func organizationByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	return oneOrganization(ctx, tx, id, shownOrganizationFields)
}

// lockOrganization locks an organization and reads it whole, with archived fields.
func lockOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	if _, err := tx.Exec(ctx, `select from organization where id = $1 for no key update`, id); err != nil {
		return Organization{}, err
	}
	return oneOrganization(ctx, tx, id, allOrganizationFields)
}

// lockLiveOrganization is lockOrganization for writes that the trash refuses: 409 svc_invalid_status.
func lockLiveOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	o, err := lockOrganization(ctx, tx, id)
	if err == nil && o.DeletedAt != nil {
		err = inTrash("organization")
	}
	return o, err
}

func oneOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID, fields string) (Organization, error) {
	var w where
	from := organizationFrom(tx, &w)
	w.and("o.id = ?", id)
	rows, err := tx.Query(ctx, `select `+organizationColumns(fields)+from+` where `+w.String(), w.args...)
	if err != nil {
		return Organization{}, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, scanOrganization)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, fault.NotFound("organization")
	}
	return o, err
}

// emitOrganization tells the other services of an organization as it is now, whoever acts: with all of its
// people counted.
func emitOrganization(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string, extra any) error {
	who := tx.Who
	tx.Who.Own = false
	o, err := organizationByID(ctx, tx, id)
	tx.Who = who
	if err != nil {
		return err
	}
	return tx.Emit(ctx, db.Event{Topic: proto.OrganizationTopic, Kind: kind, Key: o.ID.String(), Version: o.version, Changed: changed, Data: o, Extra: extra})
}

func organizationChanges(old, new Organization) changes {
	c := changes{}
	c.note("name", old.Name, new.Name)
	c.note("vat_number", old.VATNumber, new.VATNumber)
	c.note("email", old.Email, new.Email)
	c.note("phone", old.Phone, new.Phone)
	c.note("website", old.Website, new.Website)
	c.note("address_line", old.AddressLine, new.AddressLine)
	c.note("postal_code", old.PostalCode, new.PostalCode)
	c.note("city", old.City, new.City)
	c.note("country", old.Country, new.Country)
	c.note("owner_user_id", number(old.OwnerUserID), number(new.OwnerUserID))
	c.fieldChanges(old.Fields, new.Fields)
	return c
}

// insertOrganization writes a new organization with its timeline entry and event.
func insertOrganization(ctx context.Context, tx *db.Tx, o Organization) (Organization, error) {
	o.version, o.CreatedAt, o.UpdatedAt, o.LastActivity = 1, tx.Now, tx.Now, &tx.Now
	_, err := tx.Exec(ctx, `
		insert into organization (id, name, vat_number, email, phone, website, address_line, postal_code, city, country, owner_user_id, fields,
			name_key, vat_key, email_key, last_activity, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $16, $16)`,
		o.ID, o.Name, o.VATNumber, o.Email, o.Phone, o.Website, o.AddressLine, o.PostalCode, o.City, o.Country, o.OwnerUserID, o.Fields,
		person.NameKey(o.Name), person.VATKey(o.VATNumber), address.Key(o.Email), tx.Now)
	if err != nil {
		return o, err
	}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryCreated, subject: "Organization created",
		data: organizationChanges(Organization{}, o).created()}); err != nil {
		return o, err
	}
	return o, emitOrganization(ctx, tx, "organization.created", o.ID, nil, nil)
}

// saveOrganization writes what differs between old, a locked organization, and o: row, timeline entry,
// event.
func saveOrganization(ctx context.Context, tx *db.Tx, old, o Organization, subject string) (changed bool, err error) {
	diff := organizationChanges(old, o)
	if len(diff) == 0 {
		return false, nil
	}
	if err := writeOrganization(ctx, tx, o); err != nil {
		return false, err
	}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryUpdated, subject: subject, data: diff}); err != nil {
		return false, err
	}
	return true, emitOrganization(ctx, tx, "organization.updated", o.ID, diff.names(), nil)
}

// writeOrganization stores a locked organization as its next version.
func writeOrganization(ctx context.Context, tx *db.Tx, o Organization) error {
	_, err := tx.Exec(ctx, `
		update organization set version = version + 1, name = $2, vat_number = $3, email = $4, phone = $5, website = $6, address_line = $7,
			postal_code = $8, city = $9, country = $10, owner_user_id = $11, fields = $12, name_key = $13, vat_key = $14, email_key = $15,
			deleted_at = $16, updated_at = $17, last_activity = greatest(last_activity, $17)
		where id = $1`,
		o.ID, o.Name, o.VATNumber, o.Email, o.Phone, o.Website, o.AddressLine, o.PostalCode, o.City, o.Country, o.OwnerUserID, o.Fields,
		person.NameKey(o.Name), person.VATKey(o.VATNumber), address.Key(o.Email), o.DeletedAt, tx.Now)
	return err
}
