package page

import (
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps pages.
type Room struct{ *app.Kit }

func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.SettingsCommandTopic, Handle: bus.On(proto.KindEmbedInPage, r.onEmbed)}},
		Jobs:      []app.Job{{Name: "page_shows", Every: time.Minute, Run: r.tellShows}},
		Personal:  app.Personal{Holds: map[string]app.Holds{"page": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.PageTopic, Table: "page", Emit: r.publishAll})},
	}
}

// When operations are refused, see op.Fails.
const failSlug = "The address belongs to something else."

// Operations declares the operations on pages.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "list-pages", Route: "GET /pages", Perm: auth.ViewContacts, Ability: "-", Doc: "List the site's own pages."}, r.list)
	op.Add(set, op.Op{ID: "create-page", Undo: op.Undo{By: "delete-page"}, Route: "POST /pages", Perm: auth.ManageCRM, Status: http.StatusCreated, Ability: "-", Record: "page", Doc: "Create a page.",
		Fails: op.Fails{"svc_conflict in_use": failSlug}}, r.create)
	op.Add(set, op.Op{ID: "preview-page", Route: "POST /pages/preview", Perm: auth.ViewContacts, Reads: true, Ability: "-", Doc: "Get the blocks of a text as a page of it would show them; nothing is stored."}, r.preview)
	op.Add(set, op.Op{ID: "get-page", Route: "GET /pages/{id}", Perm: auth.ViewContacts, Ability: "-", Doc: "Get a page."}, r.get)
	op.Add(set, op.Op{ID: "update-page", Undo: op.Undo{By: "update-page"}, Versioned: true, Route: "PATCH /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Change a page.",
		Fails: op.Fails{"svc_conflict in_use": failSlug}}, r.update)
	op.Add(set, op.Op{ID: "delete-page", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /pages/{id}", Perm: auth.ManageCRM, Ability: "-", Record: "page", Doc: "Delete a page."}, r.remove)
}
