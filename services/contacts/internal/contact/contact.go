package contact

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/change"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/record"
)

// Contact is a person as REST and events show one.
type Contact struct {
	ID                 uuid.UUID                      `json:"id" doc:"The id of the record."`
	FirstName          string                         `json:"first_name" doc:"The first name."`
	LastName           string                         `json:"last_name" doc:"The last name."`
	Email              string                         `json:"email" doc:"The email address; empty for none."`
	Phone              string                         `json:"phone" doc:"The telephone number in international form; empty for none."`
	Status             string                         `json:"status" enum:"lead,customer,inactive" doc:"lead, customer or inactive."`
	Marketing          string                         `json:"marketing" enum:"none,pending,subscribed,unsubscribed" doc:"none, pending, subscribed or unsubscribed."`
	MarketingUpdatedAt *time.Time                     `json:"marketing_updated_at" doc:"When the marketing status last changed; null for never."`
	Source             string                         `json:"source" doc:"Where the contact came from, in words."`
	OwnerUserID        *int64                         `json:"owner_user_id" doc:"The user id of the person who looks after it; null for nobody."`
	Tags               []string                       `json:"tags" doc:"The names of its tags."`
	Fields             map[string]any                 `json:"fields" component:"ContactFields" doc:"Custom field values by key; empty ones are left out."`
	Organization       opt.Value[primaryOrganization] `json:"organization" doc:"The primary organization; null for none."`
	LastActivity       *time.Time                     `json:"last_activity" doc:"When something last happened; null for never."`
	CreatedAt          time.Time                      `json:"created_at" doc:"When it was made."`
	UpdatedAt          time.Time                      `json:"updated_at" doc:"When it last changed."`
	DeletedAt          *time.Time                     `json:"deleted_at" doc:"When it was moved to the trash; null while it is not there."`

	Version int64 `json:"-"`
}

// RecordVersion is the answer's ETag.
func (c Contact) RecordVersion() int64 { return c.Version }

// Fields are the fields of a contact that its timeline shows. Filling, overwriting, merging
// and comparing contacts follow this list.
var Fields = record.Fields[Contact]{
	record.Text("first_name", func(c *Contact) *string { return &c.FirstName }),
	record.Text("last_name", func(c *Contact) *string { return &c.LastName }),
	record.Text("email", func(c *Contact) *string { return &c.Email }),
	record.Text("phone", func(c *Contact) *string { return &c.Phone }),
	record.Text("status", func(c *Contact) *string { return &c.Status }),
	record.Managed("marketing", func(c *Contact) *string { return &c.Marketing }),
	record.Text("source", func(c *Contact) *string { return &c.Source }),
	record.User("owner_user_id", func(c *Contact) **int64 { return &c.OwnerUserID }),
	record.Words("tags", func(c *Contact) *[]string { return &c.Tags }),
	record.Values("fields", func(c *Contact) *map[string]any { return &c.Fields }),
}

// ContactInput is the part of a request that describes a contact. A value that is left out stays as it is; null and ""
// clear one that may be empty.
type ContactInput struct {
	FirstName   opt.Value[string]         `json:"first_name,omitzero" nullable:"true" maxLength:"100" doc:"The first name."`
	LastName    opt.Value[string]         `json:"last_name,omitzero" nullable:"true" maxLength:"100" doc:"The last name."`
	Email       opt.Value[string]         `json:"email,omitzero" nullable:"true" maxLength:"190" doc:"The email address; no two contacts have the same."`
	Phone       opt.Value[string]         `json:"phone,omitzero" nullable:"true" maxLength:"50" doc:"The telephone number; it is stored in international form."`
	Status      opt.Value[string]         `json:"status,omitzero" enum:"lead,customer,inactive" doc:"lead when a new contact has none."`
	Source      opt.Value[string]         `json:"source,omitzero" nullable:"true" maxLength:"50" doc:"Where the contact came from, in words."`
	OwnerUserID opt.Value[int64]          `json:"owner_user_id,omitzero" nullable:"true" minimum:"1" doc:"User id of a team member."`
	Tags        opt.Value[[]string]       `json:"tags,omitzero" maxItems:"100" doc:"Names, at most 100 characters each; new ones are made."`
	Fields      opt.Value[map[string]any] `json:"fields,omitzero" component:"ContactFields" doc:"Custom field values, merged by key; null or an empty text clears a value."`
}

// Read gives the values of a request in their stored form, tags as typed, and the names of those that were given. It
// notes in clean what is wrong with them.
func (in ContactInput) Read(clean *field.Cleaner) (Contact, record.Names) {
	g := clean.Given()
	return Contact{
		FirstName:   g.Text("first_name", in.FirstName, person.Name),
		LastName:    g.Text("last_name", in.LastName, person.Name),
		Email:       g.Text("email", in.Email, clean.Email),
		Phone:       g.Text("phone", in.Phone, clean.Phone),
		Status:      g.Text("status", in.Status, func(s string) string { return s }),
		Source:      g.Text("source", in.Source, person.Name),
		OwnerUserID: g.Owner(in.OwnerUserID),
		Tags:        g.Tags(in.Tags),
		Fields:      g.Values(in.Fields),
	}, g.Names
}

// primaryOrganization is the organization that a person belongs to first of all.
type primaryOrganization struct {
	ID   uuid.UUID `json:"id" doc:"The id of the organization."`
	Name string    `json:"name" doc:"The name of the organization."`
	Role string    `json:"role" doc:"What the person does there, in words."`
}

// Statuses of a contact.
const (
	statusLead     = "lead"
	statusCustomer = "customer"
	statusInactive = "inactive"
)

// Statuses are those that a contact may have.
var Statuses = []string{statusLead, statusCustomer, statusInactive}

// MadeAt is c as a contact that is made at now: a lead unless it has a status, and not asked about marketing yet.
func MadeAt(c Contact, now time.Time) Contact {
	c = Fields.Fill(Contact{ID: c.ID}, c)
	if c.Status == "" {
		c.Status = statusLead
	}
	c.Version, c.CreatedAt, c.UpdatedAt, c.LastActivity, c.Marketing = 1, now, now, &now, MarketingNone
	return c
}

// Creation returns the changes that the timeline shows of a new contact: every value except the default status and
// subscription.
func Creation(c Contact) change.Set {
	return Fields.Diff(Contact{Status: c.Status, Marketing: MarketingNone}, c).Created()
}

// Name is how lists call the contact: by name, else by address or number.
func (c Contact) Name() string {
	return person.DisplayName(c.FirstName, c.LastName, c.Email, c.Phone)
}

// Nameless refuses a contact without a name, an address and a number.
func Nameless(c Contact) error {
	if c.Name() == "" {
		return fault.Invalid("first_name", fault.NewProblem("nameless", "is needed, or a last name, an email address or a phone number"))
	}
	return nil
}

// States of a contact's subscription.
const (
	MarketingNone         = "none"
	MarketingPending      = "pending"
	MarketingSubscribed   = "subscribed"
	MarketingUnsubscribed = "unsubscribed"
)

// How a record takes the values of a request.
const (
	ModeFill      = "fill_empty"
	ModeOverwrite = "overwrite"
)
