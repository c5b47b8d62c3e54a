package view

import (
	_ "embed"
	"net/http"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// Room keeps views.
type Room struct{ *app.Kit }

// New makes the room.
func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"saved_view": app.People}, Forget: forget}}
}

//go:embed examples.json
var examples []byte

// When operations are refused, see op.Fails.
const failShare = "Sharing a view, or changing one that somebody else shares, needs svc_manage_crm."

// Operations declares the operations on views.
func (r *Room) Operations(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "list-views", Route: "GET /views", Perm: auth.ViewContacts, Record: "view",
		Doc: "List the caller's views and those that are shared, by position and name.",
		Use: "Use it to learn how the team looks at its lists: query has the parameters of find-contacts, find-organizations, find-appointments or find-submissions."}, list)
	op.Add(set, op.Op{ID: "create-view", Undo: op.Undo{By: "delete-view"}, Route: "POST /views", Perm: auth.ViewContacts, Record: "view", Status: http.StatusCreated,
		Doc:   "Save a view of a list: its filters, its order and its columns. A shared one is seen by the whole team.",
		Use:   "Use it to keep filters under a name for the person, who finds it as a tab over the list. Answers with the view.",
		Fails: op.Fails{"svc_conflict too_many": "The caller has as many views as one can have.", "svc_forbidden": failShare}}, create)
	op.Add(set, op.Op{ID: "get-view", Route: "GET /views/{id}", Perm: auth.ViewContacts, Record: "view",
		Doc: "Get a view.",
		Use: "Use it with an id from list-views. Views that others keep for themselves are not found."}, get)
	op.Add(set, op.Op{ID: "update-view", Undo: op.Undo{By: "update-view"}, Versioned: true, Route: "PATCH /views/{id}", Perm: auth.ViewContacts, Record: "view", Idempotent: true,
		Doc:   "Change a view; what is left out stays, query and columns are replaced.",
		Use:   "Use it for another name, other filters or another place among the views. Answers with the view.",
		Fails: op.Fails{"svc_conflict no_owner": "Nobody owns the view, so it stays shared.", "svc_forbidden": failShare}}, update)
	op.Add(set, op.Op{ID: "delete-view", Undo: op.Undo{Never: op.ForGood}, Versioned: true, Route: "DELETE /views/{id}", Perm: auth.ViewContacts, Record: "view",
		Doc:   "Delete a view. The records in its list stay.",
		Use:   "Use it for a view that nobody needs; a shared one is gone for the whole team.",
		Fails: op.Fails{"svc_forbidden": failShare}}, remove)
}
