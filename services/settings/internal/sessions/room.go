package sessions

import (
	"context"
	"net/http"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Room keeps sessions.
type Room struct{ *app.Kit }

func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:  []bus.Follow{{Topic: proto.SettingsCommandTopic, Handle: bus.On(proto.KindSessionSeen, onSessionSeen)}},
		Personal: app.Personal{Holds: map[string]app.Holds{"session": app.Nobody}},
		Published: []app.Published{app.Records(app.Rows[[]byte]{Topic: proto.IdentityTopic, Table: "session", Column: "hash", Prefix: auth.SessionKey(nil), Where: "expires_at > now()",
			Unversioned: true, EndForGood: true, Emit: func(ctx context.Context, tx *db.Tx, hashes [][]byte) error {
				return publishAll(ctx, tx, `select `+columns+` from session where hash = any($1) order by hash`, hashes)
			}})},
		Restored: r.endRestored,
		Jobs:     []app.Job{{Name: "sessions", Every: 10 * time.Minute, Run: r.endIdle}},
	}
}

// FailPassword is when operations are refused that the password has to come before, see op.Fails.
const FailPassword = "The session has not seen the password within ten minutes: POST /auth/confirm first."

// Operations declares the operations on the caller's sessions.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "sign-out", Route: "POST /auth/logout", Perm: op.SignedIn, BeforeTwoFactor: true, Status: http.StatusNoContent, Ability: "-", Record: "user",
		Doc: "Sign out of this session."}, r.signOut)
	op.Add(set, op.Op{ID: "list-sessions", Route: "GET /auth/sessions", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Doc: "List the caller's browsers that are signed in."}, list)
	op.Add(set, op.Op{ID: "end-session", Route: "DELETE /auth/sessions/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "session",
		Doc: "Sign one of the caller's browsers out."}, end)
}
