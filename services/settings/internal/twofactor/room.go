package twofactor

import (
	"frontdesk/libs/app"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
)

// Room checks second factors.
type Room struct {
	*app.Kit
	people *people.Room
}

func New(k *app.Kit, p *people.Room) *Room { return &Room{k, p} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"recovery_code": app.Nobody}}}
}

// Operations declares the operations on the caller's second factor.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "start-two-factor", Route: "POST /auth/two-factor", Perm: op.SignedIn, PersonOnly: true, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Doc: "Make a secret for an authenticator. It is in force once it is confirmed.",
		Fails: op.Fails{
			"svc_invalid_status":    "The second factor is on already.",
			"svc_password_required": sessions.FailPassword}}, r.start)
	op.AddOutside(set, op.Op{ID: "confirm-two-factor", Route: "POST /auth/two-factor/confirm", Perm: op.SignedIn, PersonOnly: true, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: secrets.Attempts, LimitKey: "code", Doc: "Turn the second factor on with a code of the authenticator.",
		Fails: op.Fails{
			"svc_invalid_status":    "There is no secret to confirm: ask for one first.",
			"svc_password_required": sessions.FailPassword}}, r.confirm)
	op.AddOutside(set, op.Op{ID: "end-two-factor", Route: "DELETE /auth/two-factor", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "user",
		Limits: secrets.Attempts, LimitKey: "code", Doc: "Turn the second factor off.",
		Fails: op.Fails{"svc_invalid_status": "There is no second factor.", "svc_password_required": sessions.FailPassword}}, r.end)
}
