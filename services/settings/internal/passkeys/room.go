package passkeys

import (
	"net/http"

	"github.com/go-webauthn/webauthn/webauthn"

	"frontdesk/libs/app"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
)

// Room keeps passkeys.
type Room struct {
	*app.Kit
	people *people.Room
	// party makes and checks challenges.
	party *webauthn.WebAuthn
}

func New(k *app.Kit, p *people.Room) (*Room, error) {
	party, err := newRelyingParty(k.Config.PublicURL)
	return &Room{k, p, party}, err
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"passkey": app.Nobody, "passkey_challenge": app.Nobody}}}
}

// Operations declares the operations on the caller's passkeys, and the challenge of signing in with one.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "start-passkey-sign-in", Route: "POST /auth/login/options", Perm: op.Public, SameOrigin: true, Ability: "-", Reads: true,
		Limits: secrets.Attempts, LimitKey: "passkey", Doc: "Make the challenge for signing in with a passkey."}, r.startSignIn)
	op.Add(set, op.Op{ID: "list-passkeys", Route: "GET /auth/passkeys", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Doc: "List the caller's passkeys."}, list)
	op.Add(set, op.Op{ID: "start-passkey", Route: "POST /auth/passkeys/options", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Reads: true,
		Doc:   "Make the challenge for a new passkey. The session needs to have seen the password within ten minutes.",
		Fails: op.Fails{"svc_password_required": sessions.FailPassword}}, r.start)
	op.Add(set, op.Op{ID: "create-passkey", Route: "POST /auth/passkeys", Perm: op.SignedIn, PersonOnly: true, Status: http.StatusCreated, Ability: "-", Record: "passkey",
		Doc:   "Add the passkey that a device has made.",
		Fails: op.Fails{"svc_conflict too_many": "The caller has as many passkeys as one can have.", "svc_password_required": sessions.FailPassword}}, r.add)
	op.Add(set, op.Op{ID: "delete-passkey", Route: "DELETE /auth/passkeys/{id}", Perm: op.SignedIn, PersonOnly: true, Ability: "-", Record: "passkey",
		Doc:   "Remove one of the caller's passkeys.",
		Fails: op.Fails{"svc_password_required": sessions.FailPassword}}, remove)
}
