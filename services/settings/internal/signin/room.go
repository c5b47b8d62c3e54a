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

// New makes the room.
func New(k *app.Kit, p *people.Room, s *sessions.Room, second *twofactor.Room, keys *passkeys.Room, words *passwords.Room) *Room {
	return &Room{k, p, s, second, keys, words}
}

func (r *Room) SigningIn(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "sign-in", Route: "POST /auth/login", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{passwords.Attempts}, Doc: "Sign in with login and password, and with a second factor where one is set up. The answer sets the session cookie.",
		Fails: op.Fails{
			"svc_unauthorized":        "Login and password do not fit, or the code of the second factor is wrong.",
			"svc_two_factor_required": "The second factor is set up: send its code along."}}, r.signIn)
	op.AddOutside(set, op.Op{ID: "passkey-sign-in", Route: "POST /auth/login/passkey", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{passwords.Attempts}, Doc: "Sign in with a passkey, which needs neither password nor second factor. The answer sets the session cookie.",
		Fails: op.Fails{"svc_unauthorized": "The passkey was not accepted."}}, r.signInByPasskey)
	op.Add(set, op.Op{ID: "get-session", Route: "GET /auth/session", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the session and its user."}, r.getSession)
}

func (r *Room) Me(set *op.Set) {
	op.Add(set, op.Op{ID: "get-me", Route: "GET /me", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the user who asks."}, getMe)
}
