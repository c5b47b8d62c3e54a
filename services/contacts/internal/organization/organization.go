package organization

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
)

// Organization is an organization as REST and events show one.
type Organization struct {
	ID            uuid.UUID      `json:"id" doc:"The id of the record."`
	Name          string         `json:"name" doc:"The name of the organization."`
	VATNumber     string         `json:"vat_number" doc:"The VAT number; empty for none."`
	Email         string         `json:"email" doc:"The email address; empty for none."`
	Phone         string         `json:"phone" doc:"The telephone number in international form; empty for none."`
	Website       string         `json:"website" doc:"The web address; empty for none."`
	AddressLine   string         `json:"address_line" doc:"Street and number; empty for none."`
	PostalCode    string         `json:"postal_code" doc:"The postal code; empty for none."`
	City          string         `json:"city" doc:"The town; empty for none."`
	Country       string         `json:"country" doc:"The ISO code of the country; empty for none."`
	OwnerUserID   *int64         `json:"owner_user_id" doc:"The user id of the person who looks after it; null for nobody."`
	Fields        map[string]any `json:"fields" component:"OrganizationFields" doc:"Custom field values by key; empty ones are left out."`
	ContactsCount int64          `json:"contacts_count" doc:"Linked people that you may see."`
	LastActivity  *time.Time     `json:"last_activity" doc:"When something last happened; null for never."`
	CreatedAt     time.Time      `json:"created_at" doc:"When it was made."`
	UpdatedAt     time.Time      `json:"updated_at" doc:"When it last changed."`
	DeletedAt     *time.Time     `json:"deleted_at" doc:"When it was moved to the trash; null while it is not there."`

	Version int64 `json:"-"`
}

// RecordVersion is the answer's ETag.
func (o Organization) RecordVersion() int64 { return o.Version }

// Fields are the fields of an organization that its timeline shows. Filling, overwriting,
// merging and comparing organizations follow this list.
var Fields = record.Fields[Organization]{
	record.Text("name", func(o *Organization) *string { return &o.Name }),
	record.Text("vat_number", func(o *Organization) *string { return &o.VATNumber }),
	record.Text("email", func(o *Organization) *string { return &o.Email }),
	record.Text("phone", func(o *Organization) *string { return &o.Phone }),
	record.Text("website", func(o *Organization) *string { return &o.Website }),
	record.Text("address_line", func(o *Organization) *string { return &o.AddressLine }),
	record.Text("postal_code", func(o *Organization) *string { return &o.PostalCode }),
	record.Text("city", func(o *Organization) *string { return &o.City }),
	record.Text("country", func(o *Organization) *string { return &o.Country }),
	record.User("owner_user_id", func(o *Organization) **int64 { return &o.OwnerUserID }),
	record.Values("fields", func(o *Organization) *map[string]any { return &o.Fields }),
}

// organizationInput is the part of a request that describes an organization, but for its name. A value that is left out stays as it is;
// null and "" clear one that may be empty.
type organizationInput struct {
	VATNumber   opt.Value[string]         `json:"vat_number,omitzero" nullable:"true" maxLength:"30" doc:"The VAT number; empty for none."`
	Email       opt.Value[string]         `json:"email,omitzero" nullable:"true" maxLength:"190" doc:"The email address; empty for none."`
	Phone       opt.Value[string]         `json:"phone,omitzero" nullable:"true" maxLength:"50" doc:"The telephone number in international form; empty for none."`
	Website     opt.Value[string]         `json:"website,omitzero" nullable:"true" maxLength:"2048" doc:"The web address; empty for none."`
	AddressLine opt.Value[string]         `json:"address_line,omitzero" nullable:"true" maxLength:"255" doc:"Street and number; empty for none."`
	PostalCode  opt.Value[string]         `json:"postal_code,omitzero" nullable:"true" maxLength:"20" doc:"The postal code; empty for none."`
	City        opt.Value[string]         `json:"city,omitzero" nullable:"true" maxLength:"100" doc:"The town; empty for none."`
	Country     opt.Value[string]         `json:"country,omitzero" nullable:"true" maxLength:"2" doc:"ISO 3166-1 alpha-2."`
	OwnerUserID opt.Value[int64]          `json:"owner_user_id,omitzero" nullable:"true" minimum:"1" doc:"User id of a team member."`
	Fields      opt.Value[map[string]any] `json:"fields,omitzero" component:"OrganizationFields" doc:"Custom field values, merged by key; null or an empty text clears a value."`
}

// read gives the values of a request in their stored form, and the names of those that were given. It notes in clean
// what is wrong with them.
func (in organizationInput) read(name opt.Value[string], clean *field.Cleaner) (Organization, record.Names) {
	g := clean.Given()
	return Organization{
		Name:        g.FilledText("name", name, person.Name),
		VATNumber:   g.Text("vat_number", in.VATNumber, person.VAT),
		Email:       g.Text("email", in.Email, clean.Email),
		Phone:       g.Text("phone", in.Phone, clean.Phone),
		Website:     g.Text("website", in.Website, clean.Website),
		AddressLine: g.Text("address_line", in.AddressLine, person.Name),
		PostalCode:  g.Text("postal_code", in.PostalCode, person.Name),
		City:        g.Text("city", in.City, person.Name),
		Country:     g.Text("country", in.Country, clean.Country),
		OwnerUserID: g.Owner(in.OwnerUserID),
		Fields:      g.Values(in.Fields),
	}, g.Names
}
