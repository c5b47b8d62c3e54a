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
	"frontdesk/services/contacts/internal/history"
	"frontdesk/services/contacts/internal/imports"
	"frontdesk/services/contacts/internal/joining"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/marketing"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/overview"
	"frontdesk/services/contacts/internal/people"
	"frontdesk/services/contacts/internal/privacy"
	"frontdesk/services/contacts/internal/search"
	"frontdesk/services/contacts/internal/tag"
	"frontdesk/services/contacts/internal/task"
	"frontdesk/services/contacts/internal/timeline"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: "contacts", Port: 8092, Migrations: migrations, Build: build}

// rooms is the rooms that have operations or a state of their own.
type rooms struct {
	field        *field.Room
	contact      *contact.Room
	organization *organization.Room
	link         *link.Room
	history      *history.Room
	task         *task.Room
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
	r := rooms{field: field.New(k), contact: contact.New(k), marketing: marketing.New(k), handover: handover.New(k), overview: overview.New(k), task: task.New(k), history: history.New(k), link: link.New(k)}
	r.organization = organization.New(k, r.field)
	r.organization.Moved = append(r.organization.Moved, link.MoveOrganization, task.MoveOrganization)
	r.tag = tag.New(k, r.field)
	r.search = search.New(k, r.field)
	r.people = people.New(k, r.field, r.marketing)
	r.joining = joining.New(k, r.field, r.marketing, r.people)
	r.imports = imports.New(k, r.field, r.marketing)
	r.privacy = privacy.New(k, r.imports)
	set := k.NewSet()
	r.operations(set)
	return app.Join(
		app.Room{Name: "contacts", Parts: app.Parts{Ops: set, App: &proto.App{Id: "contacts", Name: "Contacts", AlwaysOn: true}}},
		app.Room{Name: "field", Parts: r.field.Parts()},
		app.Room{Name: "timeline", Parts: timeline.New(k).Parts()},
		app.Room{Name: "contact", Parts: r.contact.Parts()},
		app.Room{Name: "copies", Parts: copies.New(k).Parts()},
		app.Room{Name: "organization", Parts: r.organization.Parts()},
		app.Room{Name: "link", Parts: r.link.Parts()},
		app.Room{Name: "task", Parts: r.task.Parts()},
		app.Room{Name: "tag", Parts: r.tag.Parts()},
		app.Room{Name: "marketing", Parts: r.marketing.Parts(set.Handler())},
		app.Room{Name: "search", Parts: r.search.Parts()},
		app.Room{Name: "joining", Parts: r.joining.Parts()},
		app.Room{Name: "handover", Parts: r.handover.Parts()},
		app.Room{Name: "imports", Parts: r.imports.Parts()},
		app.Room{Name: "privacy", Parts: r.privacy.Parts()},
		app.Room{Name: "overview", Parts: r.overview.Parts()},
	)
}
