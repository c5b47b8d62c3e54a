package passwords

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/mailer"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/secrets"
)

// Room checks passwords.
type Room struct {
	*app.Kit
	mails  *mailer.Room
	people *people.Room
	hasher hasher
}

func New(k *app.Kit, mails *mailer.Room, p *people.Room) *Room {
	return &Room{k, mails, p, newHasher()}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		// A password_request names whoever was typed, for the moment until it is handled.
		Personal: app.Personal{Holds: map[string]app.Holds{"password_request": app.Nobody}},
		Workers:  []app.Worker{{Name: "password links", Pause: 250 * time.Millisecond, Slice: r.sendPasswordLink}},
	}
}

// Operations declares the operations by which people choose and confirm a password.
func (r *Room) Operations(set *op.Set) {
	op.Add(set, op.Op{ID: "forgot-password", Route: "POST /auth/password/forgot", Perm: op.Public, SameOrigin: true, Ability: "-", Unaudited: true, Channel: db.ChannelApp,
		Limits: secrets.Attempts, LimitKey: "forgot", Doc: "Mail a link to choose a new password. The answer is the same for any address."}, forgot)
	op.AddOutside(set, op.Op{ID: "reset-password", Route: "POST /auth/password/reset", Perm: op.Public, SameOrigin: true, Ability: "-", Record: "user", Channel: db.ChannelEmail,
		Limits: secrets.Attempts, LimitKey: "token", Doc: "Choose a new password with the token of a mail.",
		Fails: op.Fails{"svc_invalid_token": mailer.FailLink, "svc_token_expired": mailer.FailExpired, "svc_not_found": "The user is gone by now."}}, r.reset)
	op.AddOutside(set, op.Op{ID: "confirm-password", Route: "POST /auth/confirm", Perm: op.SignedIn, PersonOnly: true, BeforeTwoFactor: true, Ability: "-", Record: "user",
		Limits: secrets.Attempts, LimitKey: "code", Doc: "Confirm that the person at the session knows the password. Second factors and application passwords need that within ten minutes."}, r.confirm)
}
