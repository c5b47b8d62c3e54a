package settings

import (
	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"time"
)

func (s *service) passwordsParts() app.Parts {
	return app.Parts{
		// A password_request names whoever was typed, for the moment until it is handled.
		Personal: app.Personal{Holds: map[string]app.Holds{"password_request": app.Nobody}},
		Workers:  []app.Worker{{Name: "password links", Pause: 250 * time.Millisecond, Slice: s.sendPasswordLink}},
	}
}

// passwordsOps declares the operations by which people choose and confirm a password.
func (s *service) passwordsOps(set *op.Set) {
	op.Add(set, op.Op{ID: "forgot-password", Route: "POST /auth/password/forgot", Perm: op.Public, SameOrigin: true, Ability: "-", Unaudited: true, Channel: db.ChannelApp,
		Limits: codeAttempts, LimitKey: "forgot", Doc: "Mail a link to choose a new password. The answer is the same for any address."}, forgotPassword)
	op.AddOutside(set, op.Op{ID: "reset-password", Route: "POST /auth/password/reset", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: codeAttempts, LimitKey: "token", Doc: "Choose a new password with the token of a mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired, "svc_not_found": "The user is gone by now."}}, s.resetPassword)
	op.AddOutside(set, op.Op{ID: "confirm-password", Route: "POST /auth/confirm", Perm: op.SignedIn, PersonOnly: true, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Confirm that the person at the session knows the password. Second factors and application passwords need that within ten minutes."}, s.confirmPassword)
}
