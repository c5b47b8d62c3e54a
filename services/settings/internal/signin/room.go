package signin

import (
	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/twofactor"
)

// Room lets people in.
type Room struct {
	*app.Kit
	people    *people.Room
	sessions  *sessions.Room
	twofactor *twofactor.Room
	passkeys  *passkeys.Room
	passwords *passwords.Room
}

func New(k *app.Kit, p *people.Room, s *sessions.Room, second *twofactor.Room, keys *passkeys.Room, words *passwords.Room) *Room {
	return &Room{k, p, s, second, keys, words}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"browser": app.Nobody}}}
}

// Operations declares the operations that sign a person in, and show their session.
func (r *Room) Operations(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "sign-in", Route: "POST /auth/login", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{passwords.Attempts}, Doc: "Sign in with login and password, and with a second factor where one is set up. The answer sets the session cookie.",
		Fails: op.Fails{
			"svc_forbidden organization_only": passwords.FailOff,
			"svc_unauthorized":                "Login and password do not fit, or the code of the second factor is wrong.",
			"svc_two_factor_required":         "The second factor is set up: send its code along."}}, r.signIn)
	op.AddOutside(set, op.Op{ID: "passkey-sign-in", Route: "POST /auth/login/passkey", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{passwords.Attempts}, Doc: "Sign in with a passkey, which needs neither password nor second factor. The answer sets the session cookie.",
		Fails: op.Fails{"svc_unauthorized": "The passkey was not accepted.", "svc_forbidden organization_only": passwords.FailOff}}, r.signInByPasskey)
	op.Add(set, op.Op{ID: "get-session", Route: "GET /auth/session", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the session and its user."}, r.getSession)
}
