package contacts

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/person"
)

// NewOrganization is what an organization is made of.
type NewOrganization struct {
	Name        string         `json:"name" required:"true" maxLength:"190"`
	VATNumber   string         `json:"vat_number,omitempty" maxLength:"30"`
	Email       string         `json:"email,omitempty" maxLength:"190"`
	Phone       string         `json:"phone,omitempty" maxLength:"50"`
	Website     string         `json:"website,omitempty" maxLength:"2048"`
	AddressLine string         `json:"address_line,omitempty" maxLength:"255"`
	PostalCode  string         `json:"postal_code,omitempty" maxLength:"20"`
	City        string         `json:"city,omitempty" maxLength:"100"`
	Country     string         `json:"country,omitempty" maxLength:"2" doc:"ISO 3166-1 alpha-2."`
	OwnerUserID *int64         `json:"owner_user_id,omitempty" minimum:"1" doc:"User id of a team member."`
	Fields      map[string]any `json:"fields,omitempty" doc:"Custom field values by key."`
}

// OrganizationChange is what PATCH may change of an organization.
type OrganizationChange struct {
	ID          uuid.UUID                 `json:"id"`
	Mode        string                    `json:"mode,omitempty" enum:"fill_empty,overwrite" doc:"fill_empty, the default, only fills what is empty."`
	Name        opt.Value[string]         `json:"name,omitzero" maxLength:"190"`
	VATNumber   opt.Value[string]         `json:"vat_number,omitzero" maxLength:"30"`
	Email       opt.Value[string]         `json:"email,omitzero" maxLength:"190"`
	Phone       opt.Value[string]         `json:"phone,omitzero" maxLength:"50"`
	Website     opt.Value[string]         `json:"website,omitzero" maxLength:"2048"`
	AddressLine opt.Value[string]         `json:"address_line,omitzero" maxLength:"255"`
	PostalCode  opt.Value[string]         `json:"postal_code,omitzero" maxLength:"20"`
	City        opt.Value[string]         `json:"city,omitzero" maxLength:"100"`
	Country     opt.Value[string]         `json:"country,omitzero" maxLength:"2"`
	OwnerUserID opt.Value[int64]          `json:"owner_user_id,omitzero" minimum:"1"`
	Fields      opt.Value[map[string]any] `json:"fields,omitzero" doc:"Merged by key; null or an empty text clears a value."`
}

func (c *cleaner) website(typed string) string {
	stored, err := person.Website(typed)
	if err != nil {
		c.params["website"] = err.Error()
	}
	return stored
}

func (c *cleaner) country(typed string) string {
	stored, err := person.Country(typed)
	if err != nil {
		c.params["country"] = err.Error()
	}
	return stored
}

// CreateOrganization makes an organization. One that is similar to another may be made all the same.
func (s *service) CreateOrganization(ctx context.Context, tx *db.Tx, in NewOrganization) (Organization, error) {
	clean, err := s.newCleaner(ctx, tx, "organization", len(in.Fields) > 0)
	if err != nil {
		return Organization{}, err
	}
	o := Organization{
		ID: db.NewID(), Name: person.Name(in.Name), VATNumber: person.VAT(in.VATNumber), Email: clean.email("email", in.Email),
		Phone: clean.phone(in.Phone), Website: clean.website(in.Website), AddressLine: person.Name(in.AddressLine), PostalCode: person.Name(in.PostalCode),
		City: person.Name(in.City), Country: clean.country(in.Country), OwnerUserID: clean.owner(in.OwnerUserID),
		Fields: mergeFields(nil, clean.values(in.Fields), false),
	}
	clean.size(o.Fields)
	if o.Name == "" {
		clean.params["name"] = "must not be empty"
	}
	if err := clean.fault(); err != nil {
		return o, err
	}
	return insertOrganization(ctx, tx, o)
}

// GetOrganization reads an organization, also one in the trash.
func (s *service) GetOrganization(ctx context.Context, tx *db.Tx, in ByID) (Organization, error) {
	return organizationByID(ctx, tx, in.ID)
}

// UpdateOrganization changes an organization: fills what is empty, or overwrites.
func (s *service) UpdateOrganization(ctx context.Context, tx *db.Tx, in OrganizationChange) (Organization, error) {
	old, err := lockLiveOrganization(ctx, tx, in.ID)
	if err != nil {
		return old, err
	}
	clean, err := s.newCleaner(ctx, tx, "organization", in.Fields.Given())
	if err != nil {
		return old, err
	}
	o := old
	fill := in.Mode != overwrite
	text := func(target *string, v opt.Value[string], stored func(string) string) {
		if v.Set && (!fill || *target == "") {
			*target = stored(v.V)
		}
	}
	text(&o.Name, in.Name, person.Name)
	text(&o.VATNumber, in.VATNumber, person.VAT)
	text(&o.Email, in.Email, func(v string) string { return clean.email("email", v) })
	text(&o.Phone, in.Phone, clean.phone)
	text(&o.Website, in.Website, clean.website)
	text(&o.AddressLine, in.AddressLine, person.Name)
	text(&o.PostalCode, in.PostalCode, person.Name)
	text(&o.City, in.City, person.Name)
	text(&o.Country, in.Country, clean.country)
	if in.OwnerUserID.Set && (!fill || o.OwnerUserID == nil) {
		in.OwnerUserID.ApplyPtr(&o.OwnerUserID)
		clean.owner(o.OwnerUserID)
	}
	o.Fields = mergeFields(old.Fields, clean.values(in.Fields.V), fill)
	clean.size(o.Fields)
	if o.Name == "" {
		clean.params["name"] = "must not be empty"
	}
	if err := clean.fault(); err != nil {
		return old, err
	}
	if _, err := saveOrganization(ctx, tx, old, o, "Organization changed"); err != nil {
		return old, err
	}
	return organizationByID(ctx, tx, o.ID)
}

// DeleteOrganization moves an organization to the trash; its people stay.
func (s *service) DeleteOrganization(ctx context.Context, tx *db.Tx, in ByID) (op.None, error) {
	o, err := lockLiveOrganization(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	o.DeletedAt = &tx.Now
	if err := writeOrganization(ctx, tx, o); err != nil {
		return op.None{}, err
	}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryDeleted, subject: "Organization moved to the trash"}); err != nil {
		return op.None{}, err
	}
	return op.None{}, emitOrganization(ctx, tx, "organization.deleted", o.ID, nil, nil)
}

// RestoreOrganization takes an organization out of the trash, with its people.
func (s *service) RestoreOrganization(ctx context.Context, tx *db.Tx, in ByID) (Organization, error) {
	o, err := lockOrganization(ctx, tx, in.ID)
	if err != nil {
		return o, err
	}
	if o.DeletedAt == nil {
		return o, fault.InvalidStatus("active", "The organization is not in the trash.")
	}
	o.DeletedAt = nil
	if err := writeOrganization(ctx, tx, o); err != nil {
		return o, err
	}
	if _, err := log(ctx, tx, entry{organization: &o.ID, kind: entryRestored, subject: "Organization restored"}); err != nil {
		return o, err
	}
	if err := emitOrganization(ctx, tx, "organization.restored", o.ID, nil, nil); err != nil {
		return o, err
	}
	return organizationByID(ctx, tx, o.ID)
}
