package settings

import (
	"frontdesk/libs/app"
	"frontdesk/libs/op"
)

func (s *service) twofactorParts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"recovery_code": app.Nobody}}}
}

// twofactorOps declares the operations on the caller's second factor.
func (s *service) twofactorOps(set *op.Set) {
	op.Add(set, op.Op{ID: "start-two-factor", Route: "POST /auth/two-factor", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Doc: "Make a secret for an authenticator. It is in force once it is confirmed.",
		Fails: op.Fails{
			"svc_invalid_status":        "The second factor is on already.",
			"svc_password_required":     failPassword,
			"svc_forbidden person_only": failPerson}}, s.startTwoFactor)
	op.AddOutside(set, op.Op{ID: "confirm-two-factor", Route: "POST /auth/two-factor/confirm", Perm: op.SignedIn, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor on with a code of the authenticator.",
		Fails: op.Fails{
			"svc_invalid_status":        "There is no secret to confirm: ask for one first.",
			"svc_password_required":     failPassword,
			"svc_forbidden person_only": failPerson}}, s.confirmTwoFactor)
	op.AddOutside(set, op.Op{ID: "end-two-factor", Route: "DELETE /auth/two-factor", Perm: op.SignedIn, Ability: "-", Record: "user",
		Limits: codeAttempts, LimitKey: "code", Doc: "Turn the second factor off.",
		Fails: op.Fails{"svc_invalid_status": "There is no second factor.", "svc_password_required": failPassword, "svc_forbidden person_only": failPerson}}, s.endTwoFactor)
}
