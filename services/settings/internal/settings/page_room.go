package settings

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"net/http"
)

func (s *service) pageParts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.SettingsCommandTopic, Handle: s.onEmbed}},
		Personal:  app.Personal{Holds: map[string]app.Holds{"page": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.PageTopic, Table: "page", Emit: s.publishPages})},
	}
}

// When operations are refused, see op.Fails.
const failSlug = "The address belongs to something else."

// pageOps declares the operations on pages.
func (s *service) pageOps(set *op.Set) {
	op.Add(set, op.Op{ID: "list-pages", Route: "GET /pages", Perm: auth.ViewContacts, Ability: "-", Doc: "List the site's own pages."}, s.listPages)
	op.Add(set, op.Op{ID: "create-page", Route: "POST /pages", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "page", Doc: "Create a page.",
		Fails: op.Fails{"svc_conflict in_use": failSlug}}, s.createPage)
	op.Add(set, op.Op{ID: "get-page", Route: "GET /pages/{id}", Perm: auth.ViewContacts, Ability: "-", Doc: "Get a page."}, s.getPage)
	op.Add(set, op.Op{ID: "update-page", Versioned: true, Route: "PATCH /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Change a page.",
		Fails: op.Fails{"svc_conflict in_use": failSlug}}, s.updatePage)
	op.Add(set, op.Op{ID: "delete-page", Versioned: true, Route: "DELETE /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Delete a page."}, s.deletePage)
}
