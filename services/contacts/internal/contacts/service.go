package contacts

import (
	"context"
	"embed"

	"frontdesk/libs/app"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/copies"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/handover"
	"frontdesk/services/contacts/internal/imports"
	"frontdesk/services/contacts/internal/joining"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/overview"
	"frontdesk/services/contacts/internal/people"
	"frontdesk/services/contacts/internal/privacy"
	"frontdesk/services/contacts/internal/search"
	"frontdesk/services/contacts/internal/tag"
	"frontdesk/services/contacts/internal/timeline"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: "contacts", Port: 8092, Migrations: migrations, Build: build}

// house is the rooms that have operations or a state of their own.
type house struct {
	field        *field.Room
	contact      *contact.Room
	organization *organization.Room
	tag          *tag.Room
	marketing    *marketing.Room
	search       *search.Room
	people       *people.Room
	joining      *joining.Room
	handover     *handover.Room
	imports      *imports.Room
	privacy      *privacy.Room
	overview     *overview.Room
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	h := house{field: field.New(k), contact: contact.New(k), marketing: marketing.New(k), handover: handover.New(k), overview: overview.New(k)}
	h.organization = organization.New(k, h.field)
	h.tag = tag.New(k, h.field)
	h.search = search.New(k, h.field)
	h.people = people.New(k, h.field, h.marketing)
	h.joining = joining.New(k, h.field, h.marketing, h.people)
	h.imports = imports.New(k, h.field, h.marketing)
	h.privacy = privacy.New(k, h.imports)
	set := k.NewSet()
	h.operations(set)
	return app.Join(
		app.Room{Name: "contacts", Parts: app.Parts{Ops: set, App: &proto.App{Id: "contacts", Name: "Contacts", AlwaysOn: true}}},
		app.Room{Name: "field", Parts: h.field.Parts()},
		app.Room{Name: "timeline", Parts: timeline.Parts()},
		app.Room{Name: "contact", Parts: h.contact.Parts()},
		app.Room{Name: "copies", Parts: copies.Parts()},
		app.Room{Name: "organization", Parts: h.organization.Parts()},
		app.Room{Name: "tag", Parts: h.tag.Parts()},
		app.Room{Name: "marketing", Parts: h.marketing.Parts(set.Handler())},
		app.Room{Name: "search", Parts: h.search.Parts()},
		app.Room{Name: "joining", Parts: h.joining.Parts()},
		app.Room{Name: "handover", Parts: h.handover.Parts()},
		app.Room{Name: "imports", Parts: h.imports.Parts()},
		app.Room{Name: "privacy", Parts: h.privacy.Parts()},
	)
}
