package contacts

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
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

	Version int64 `json:"-"`
}

// organizationFields are the fields of an organization that its timeline shows. Filling, overwriting,
// merging and comparing organizations follow this list.
var organizationFields = record.Fields[Organization]{
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

// OrganizationInput is the part of a request that describes an organization, but for its name. A value that is left out stays as it is;
// null and "" clear one that may be empty.
type OrganizationInput struct {
	VATNumber   opt.Value[string]         `json:"vat_number,omitzero" nullable:"true" maxLength:"30"`
	Email       opt.Value[string]         `json:"email,omitzero" nullable:"true" maxLength:"190"`
	Phone       opt.Value[string]         `json:"phone,omitzero" nullable:"true" maxLength:"50"`
	Website     opt.Value[string]         `json:"website,omitzero" nullable:"true" maxLength:"2048"`
	AddressLine opt.Value[string]         `json:"address_line,omitzero" nullable:"true" maxLength:"255"`
	PostalCode  opt.Value[string]         `json:"postal_code,omitzero" nullable:"true" maxLength:"20"`
	City        opt.Value[string]         `json:"city,omitzero" nullable:"true" maxLength:"100"`
	Country     opt.Value[string]         `json:"country,omitzero" nullable:"true" maxLength:"2" doc:"ISO 3166-1 alpha-2."`
	OwnerUserID opt.Value[int64]          `json:"owner_user_id,omitzero" nullable:"true" minimum:"1" doc:"User id of a team member."`
	Fields      opt.Value[map[string]any] `json:"fields,omitzero" doc:"Custom field values, merged by key; null or an empty text clears a value."`
}

// read gives the values of a request in their stored form, and the names of those that were given. It notes in clean
// what is wrong with them.
func (in OrganizationInput) read(name opt.Value[string], clean *cleaner) (Organization, record.Names) {
	g := given{clean, record.Names{}}
	return Organization{
		Name:        g.filledText("name", name, person.Name),
		VATNumber:   g.text("vat_number", in.VATNumber, person.VAT),
		Email:       g.text("email", in.Email, clean.email),
		Phone:       g.text("phone", in.Phone, clean.phone),
		Website:     g.text("website", in.Website, clean.website),
		AddressLine: g.text("address_line", in.AddressLine, person.Name),
		PostalCode:  g.text("postal_code", in.PostalCode, person.Name),
		City:        g.text("city", in.City, person.Name),
		Country:     g.text("country", in.Country, clean.country),
		OwnerUserID: g.owner(in.OwnerUserID),
		Fields:      g.values(in.Fields),
	}, g.names
}
