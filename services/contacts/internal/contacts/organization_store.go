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
	"frontdesk/services/contacts/internal/person"
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

// organizationByID reads an organization, trashed ones too; 404 svc_not_found for an unknown id.
func organizationByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	return oneOrganization(ctx, tx, id, shownOrganization)
}

// lockOrganization locks an organization and reads it whole, with archived fields.
func lockOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	if _, err := tx.Exec(ctx, `select from organization where id = $1 for no key update`, id); err != nil {
		return Organization{}, err
	}
	return oneOrganization(ctx, tx, id, wholeOrganization)
}

// lockLiveOrganization is lockOrganization for writes that the trash refuses: 409 svc_invalid_status.
func lockLiveOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID) (Organization, error) {
	o, err := lockOrganization(ctx, tx, id)
	if err == nil && o.DeletedAt != nil {
		err = inTrash("organization")
	}
	return o, err
}

func oneOrganization(ctx context.Context, tx *db.Tx, id uuid.UUID, columns string) (Organization, error) {
	var w db.Where
	from := organizationFrom(tx, &w)
	w.And("o.id = ?", id)
	rows, err := tx.Query(ctx, `select `+columns+from+` where `+w.String(), w.Args...)
	if err != nil {
		return Organization{}, err
	}
	o, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Organization])
	if errors.Is(err, pgx.ErrNoRows) {
		return o, fault.NotFound("organization")
	}
	return o, err
}

// emitOrganization publishes an organization as it is now, with all of its people counted, whoever acts.
func emitOrganization(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string, extra any) error {
	who := tx.Who
	defer func() { tx.Who = who }()
	tx.Who.Own = false
	o, err := organizationByID(ctx, tx, id)
	if err != nil {
		return err
	}
	if who.UserID == 0 {
		// The topic keeps the organization when the visitor who named it is erased.
		tx.Who.Label = ""
	}
	return tx.Emit(ctx, db.Event{Topic: proto.OrganizationTopic, Kind: kind, Key: o.ID.String(), Version: o.Version, Changed: changed, Data: o, Extra: extra})
}

// organizationRow is an organization as the statements that write it take it: JSON with the names of the columns.
type organizationRow struct {
	Organization
	Version  int64  `json:"version"`
	NameKey  string `json:"name_key"`
	VATKey   string `json:"vat_key"`
	EmailKey string `json:"email_key"`
}

func rowOfOrganization(o Organization) []organizationRow {
	return []organizationRow{{o, o.Version, person.NameKey(o.Name), person.VATKey(o.VATNumber), address.Key(o.Email)}}
}

// insertOrganization writes a new organization with its timeline entry and event.
func insertOrganization(ctx context.Context, tx *db.Tx, o Organization) (Organization, error) {
	o = organizationFields.Fill(Organization{ID: o.ID}, o)
	o.Version, o.CreatedAt, o.UpdatedAt, o.LastActivity = 1, tx.Now, tx.Now, &tx.Now
	if _, err := tx.Exec(ctx, `
		insert into organization (id, version, name, vat_number, email, phone, website, address_line, postal_code, city, country, owner_user_id, fields,
			name_key, vat_key, email_key, last_activity, created_at, updated_at)
		select id, version, name, vat_number, email, phone, website, address_line, postal_code, city, country, owner_user_id, fields,
			name_key, vat_key, email_key, last_activity, created_at, updated_at
		from jsonb_populate_recordset(null::organization, @organizations)`, pgx.NamedArgs{"organizations": rowOfOrganization(o)}); err != nil {
		return o, err
	}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryCreated, subject: "Organization created",
		data: organizationFields.Diff(Organization{}, o).Created()}); err != nil {
		return o, err
	}
	return o, emitOrganization(ctx, tx, proto.KindOrganizationCreated, o.ID, nil, nil)
}

// saveOrganization writes what differs between old, a locked organization, and o: row, timeline entry, event; it reports
// whether anything did.
func saveOrganization(ctx context.Context, tx *db.Tx, old, o Organization, subject string) (changed bool, err error) {
	diff := organizationFields.Diff(old, o)
	if len(diff) == 0 {
		return false, nil
	}
	tx.Changed(diff)
	if err := updateOrganization(ctx, tx, o); err != nil {
		return false, err
	}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryUpdated, subject: subject, data: diff}); err != nil {
		return false, err
	}
	return true, emitOrganization(ctx, tx, proto.KindOrganizationUpdated, o.ID, diff.Names(), nil)
}

// updateOrganization stores a locked organization as its next version.
func updateOrganization(ctx context.Context, tx *db.Tx, o Organization) error {
	_, err := tx.Exec(ctx, `
		update organization o set version = o.version + 1, name = n.name, vat_number = n.vat_number, email = n.email, phone = n.phone,
			website = n.website, address_line = n.address_line, postal_code = n.postal_code, city = n.city, country = n.country,
			owner_user_id = n.owner_user_id, fields = n.fields, name_key = n.name_key, vat_key = n.vat_key, email_key = n.email_key,
			deleted_at = n.deleted_at, updated_at = @now, last_activity = greatest(o.last_activity, @now)
		from jsonb_populate_recordset(null::organization, @organizations) n where o.id = n.id`,
		pgx.NamedArgs{"organizations": rowOfOrganization(o), "now": tx.Now})
	return err
}
