package roles

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps roles.
type Room struct{ *app.Kit }

func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (*Room) Parts() app.Parts {
	return app.Parts{
		Personal:  app.Personal{Holds: map[string]app.Holds{"role": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[string]{Topic: proto.IdentityTopic, Table: "role", Column: "name", Prefix: auth.RoleKey(""), Emit: publishAll})},
	}
}

// When operations are refused, see op.Fails.
const (
	FailRights        = "The person or the role has rights that the caller does not hold."
	FailAdministrator = "Only a site administrator may do this to a site administrator."
)

// Settings declares the operations on roles and their reach.
func (*Room) Settings(set *op.Set) {
	op.Add(set, op.Op{ID: "get-api-access", Route: "GET /settings/api-access", Perm: auth.ManageIntegrations,
		Doc: "Get the roles that reach the API with an application password.",
		Use: "Use it when a key is refused with 401 although it is right."}, getAPIAccess)
	op.Add(set, op.Op{ID: "update-api-access", Undo: op.Undo{Never: op.Access}, Versioned: true, Route: "PATCH /settings/api-access", Perm: auth.ManageIntegrations, Hidden: true, Idempotent: true, Record: "settings",
		Doc:   "Choose the roles that reach the API with an application password.",
		Use:   "Keys and assistants of roles that are not in the list stop working at once, perhaps your own too. Answers with the list.",
		Fails: op.Fails{"svc_forbidden rights": FailRights, "svc_forbidden site_admin": FailAdministrator}}, updateAPIAccess)
	op.Add(set, op.Op{ID: "get-roles", Route: "GET /settings/roles", Perm: auth.ManageCRM, Doc: "List roles, what they may do and what they see.",
		Use: "Answers with every role, its permissions and whether it sees all or its own."}, get)
	op.Add(set, op.Op{ID: "update-role", Undo: op.Undo{Never: op.Access}, Versioned: true, Route: "PATCH /settings/roles/{role}", Perm: auth.ManageCRM, Hidden: true, Idempotent: true, Record: "role",
		Doc: "Change what a role may do and see.",
		Use: "capabilities replaces the whole list, for all who have the role, at once. An empty list takes the role out. Answers with the role.",
		Fails: op.Fails{
			"svc_conflict fixed":    "The role cannot be changed.",
			"svc_conflict own_role": "Nobody lowers their own role.",
			"svc_forbidden rights":  FailRights}}, update)
}

// Me declares the operation by which callers see who they are.
func (*Room) Me(set *op.Set) {
	op.Add(set, op.Op{ID: "get-me", Route: "GET /me", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the user who asks."}, getMe)
}
