package organization

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/timeline"
)

// A query of organizations is "select " + shownOrganization or wholeOrganization + organizationFrom; rows are read with
// pgx.RowToStructByName[Organization].
const (
	organizationStart = `o.id, o.version, o.name, o.vat_number, o.email, o.phone, o.website, o.address_line, o.postal_code, o.city, o.country,
		o.owner_user_id, `
	organizationEnd = ` as fields, people.n as contacts_count, greatest(o.last_activity, people.last_activity) as last_activity, o.created_at, o.updated_at,
		o.deleted_at`

	// An organization as it is shown, and with the values of archived fields, which a write has to keep.
	shownOrganization = organizationStart + `o.fields - array(select key from field where entity = 'organization' and archived)` + organizationEnd
	wholeOrganization = organizationStart + `o.fields` + organizationEnd
)

// organizationFrom joins the number of people that the actor may see, and when something last happened to
// one of them.
func organizationFrom(tx *db.Tx, w *db.Where) string {
	seen := "true"
	if tx.Who.Own {
		seen = w.Bind("lc.owner_user_id = ?", tx.Who.UserID)
	}
	return ` from organization o cross join lateral (select count(*) n, max(lc.last_activity) last_activity from contact_organization l
		join contact lc on lc.id = l.contact_id where l.organization_id = o.id and lc.deleted_at is null and ` + seen + `) people`
}

// ByID reads an organization, trashed ones too; 404 svc_not_found for an unknown id.
func ByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	return oneOrganization(ctx, tx, id, shownOrganization)
}

// Lock locks an organization and reads it whole, with archived fields.
func Lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	if _, err := tx.Exec(ctx, `select from organization where id = $1 for no key update`, id); err != nil {
		return Organization{}, err
	}
	return oneOrganization(ctx, tx, id, wholeOrganization)
}

// LockLive is Lock for writes that the trash refuses: 409 svc_invalid_status.
func LockLive(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	o, err := Lock(ctx, tx, id)
	if err == nil && o.DeletedAt != nil {
		err = contact.InTrash("organization")
	}
	return o, err
}

// Touch moves the last_activity of a locked organization up to now.
func Touch(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	_, err := tx.Exec(ctx, `update organization set last_activity = greatest(last_activity, $2) where id = $1`, id, tx.Now)
	return err
}

func oneOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID, columns string) (Organization, error) {
	var w db.Where
	from := organizationFrom(tx, &w)
	w.And("o.id = ?", id)
	return db.Find[Organization](ctx, tx, fault.NotFound("organization"), `select `+columns+from+` where `+w.String(), w.Args...)
}

// Emit publishes an organization as it is now, with all of its people counted, whoever acts.
func Emit(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string, extra any) error {
	who := tx.Who
	defer func() { tx.Who = who }()
	tx.Who.Own = false
	o, err := ByID(ctx, tx, id)
	if err != nil {
		return err
	}
	if who.UserID == 0 {
		// The topic keeps the organization when the visitor who named it is erased.
		tx.Who.Label = ""
	}
	return tx.Emit(ctx, db.Event{Topic: proto.OrganizationTopic, Kind: kind, Key: o.ID.String(), Version: o.Version, Changed: changed, Data: o, Extra: extra})
}

// rowOfOrganization returns the arguments of the statements that write an organization.
func rowOfOrganization(o Organization, now time.Time) db.Args {
	return db.Args{"id": o.ID, "name": o.Name, "vat_number": o.VATNumber, "email": o.Email, "phone": o.Phone, "website": o.Website,
		"address_line": o.AddressLine, "postal_code": o.PostalCode, "city": o.City, "country": o.Country, "owner": o.OwnerUserID, "fields": o.Fields,
		"name_key": person.NameKey(o.Name), "vat_key": person.VATKey(o.VATNumber), "email_key": address.Key(o.Email), "deleted": o.DeletedAt, "now": now}
}

// Insert writes a new organization with its timeline entry and event.
func Insert(ctx context.Context, tx *db.Tx, o Organization) (Organization, error) {
	o = Fields.Fill(Organization{ID: o.ID}, o)
	o.Version, o.CreatedAt, o.UpdatedAt, o.LastActivity = 1, tx.Now, tx.Now, &tx.Now
	// The database stamps the change by its own clock.
	if err := tx.QueryRow(ctx, `
		insert into organization (id, version, name, vat_number, email, phone, website, address_line, postal_code, city, country, owner_user_id, fields,
			name_key, vat_key, email_key, last_activity, created_at, updated_at)
		values (@id, 1, @name, @vat_number, @email, @phone, @website, @address_line, @postal_code, @city, @country, @owner, @fields,
			@name_key, @vat_key, @email_key, @now, @now, @now)
		returning updated_at`, rowOfOrganization(o, tx.Now)).Scan(&o.UpdatedAt); err != nil {
		return o, err
	}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Organization: &o.ID, Kind: timeline.Created, Subject: "Organization created",
		Data: Fields.Diff(Organization{}, o).Created()}); err != nil {
		return o, err
	}
	return o, Emit(ctx, tx, proto.KindOrganizationCreated, o.ID, nil, nil)
}

// Save writes what differs between old, a locked organization, and o, if anything does: row, timeline entry, event.
func Save(ctx context.Context, tx *db.Tx, old, o Organization, subject string) error {
	diff := Fields.Diff(old, o)
	if len(diff) == 0 {
		return nil
	}
	tx.Changed(diff)
	tx.TakeBack("update-organization", diff.Before(map[string]any{"id": o.ID, "mode": contact.ModeOverwrite}))
	if err := update(ctx, tx, o); err != nil {
		return err
	}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Organization: &o.ID, Kind: timeline.Updated, Subject: subject, Data: diff}); err != nil {
		return err
	}
	return Emit(ctx, tx, proto.KindOrganizationUpdated, o.ID, diff.Names(), nil)
}

// update stores a locked organization as its next version.
func update(ctx context.Context, tx *db.Tx, o Organization) error {
	_, err := tx.Exec(ctx, `
		update organization set version = version + 1, name = @name, vat_number = @vat_number, email = @email, phone = @phone,
			website = @website, address_line = @address_line, postal_code = @postal_code, city = @city, country = @country,
			owner_user_id = @owner, fields = @fields, name_key = @name_key, vat_key = @vat_key, email_key = @email_key,
			deleted_at = @deleted, updated_at = @now, last_activity = greatest(last_activity, @now)
		where id = @id`, rowOfOrganization(o, tx.Now))
	return err
}

// publish publishes organization.updated for organizations as they are now.
func publish(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	for _, id := range ids {
		if err := Emit(ctx, tx, proto.KindOrganizationUpdated, id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// QueueNextVersion stores a locked organization as its next version, with which nothing but its people has changed.
func QueueNextVersion(b *pgx.Batch, id uuid.UUID, now time.Time) {
	b.Queue(`update organization set version = version + 1, updated_at = $2, last_activity = greatest(last_activity, $2) where id = $1`, id, now)
}

// PublishCounted stores organizations whose number of people is another now as their next versions, and publishes them. Those in the trash are
// published when they are restored.
func PublishCounted(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	if len(ids) == 0 {
		return nil
	}
	ids, err := contact.IDsOf(ctx, tx, `
		with locked as materialized (select id from organization where id = any($1) and deleted_at is null order by id for no key update)
		update organization o set version = version + 1, updated_at = $2 from locked where o.id = locked.id returning o.id`, ids, tx.Now)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if err := Emit(ctx, tx, proto.KindOrganizationUpdated, id, []string{"contacts_count"}, nil); err != nil {
			return err
		}
	}
	return nil
}
