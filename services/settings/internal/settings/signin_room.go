package settings

import (
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

func (s *service) signinOps(set *op.Set) {
	op.AddOutside(set, op.Op{ID: "sign-in", Route: "POST /auth/login", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{signIns}, Doc: "Sign in with login and password, and with a second factor where one is set up. The answer sets the session cookie.",
		Fails: op.Fails{
			"svc_unauthorized":        "Login and password do not fit, or the code of the second factor is wrong.",
			"svc_two_factor_required": "The second factor is set up: send its code along."}}, s.signIn)
	op.AddOutside(set, op.Op{ID: "passkey-sign-in", Route: "POST /auth/login/passkey", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user",
		Limits: []db.Limit{signIns}, Doc: "Sign in with a passkey, which needs neither password nor second factor. The answer sets the session cookie.",
		Fails: op.Fails{"svc_unauthorized": "The passkey was not accepted."}}, s.passkeySignIn)
	op.Add(set, op.Op{ID: "get-session", Route: "GET /auth/session", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the session and its user."}, s.getSession)
}

func (s *service) meOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-me", Route: "GET /me", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Doc: "Get the user who asks."}, getMe)
}
