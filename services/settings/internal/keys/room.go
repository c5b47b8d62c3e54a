package keys

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/sessions"
)

// Room keeps application passwords.
type Room struct {
	*app.Kit
	people *people.Room
}

func New(k *app.Kit, p *people.Room) *Room { return &Room{k, p} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.SettingsCommandTopic, Handle: bus.On(proto.KindKeySeen, onKeySeen)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"application_password": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.IdentityTopic, Table: "application_password", Prefix: auth.KeyKey(""),
			Unversioned: true, EndForGood: true, Emit: publishAll})},
		Jobs: []app.Job{{Name: "application passwords", Every: 10 * time.Minute, Run: r.endExpired}},
	}
}

// Operations declares the operations on the caller's application passwords.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "list-application-passwords", Route: "GET /me/application-passwords", Perm: op.SignedIn, Ability: "-",
		Doc: "List the caller's application passwords."}, list)
	op.Add(set, op.Op{ID: "create-application-password", Undo: op.Undo{Never: op.Access}, Route: "POST /me/application-passwords", Perm: op.SignedIn, PersonOnly: true, Status: http.StatusCreated,
		Ability: "-", Record: "application_password", Doc: "Create an application password. It is shown this once. The session needs to have seen the password within ten minutes.",
		Fails: op.Fails{
			"svc_conflict too_many": "The caller has as many application passwords as one can have.",
			"svc_password_required": sessions.FailPassword}}, r.create)
	op.Add(set, op.Op{ID: "update-application-password", Undo: op.Undo{Never: op.Access}, Route: "PATCH /me/application-passwords/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-",
		Record: "application_password", Idempotent: true, Doc: "Choose which calls of an application password wait until a person approves them."}, update)
	op.Add(set, op.Op{ID: "delete-application-password", Undo: op.Undo{Never: op.Access}, Route: "DELETE /me/application-passwords/{id}", Perm: op.SignedIn, Ability: "-",
		Record: "application_password", Doc: "Revoke an application password."}, remove)
}
