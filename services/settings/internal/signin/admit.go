package signin

import (
	"context"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"net/http"
)

// admit starts a session of the locked user, and mails them when their browser is new.
func (r *Room) admit(ctx context.Context, tx *db.Tx, p people.Person, twoFactor bool) (out SignedIn, err error) {
	session, err := r.sessions.Start(ctx, tx, p.ID, twoFactor)
	if err != nil {
		return out, err
	}
	browser, unknown, err := r.sessions.Recognise(ctx, tx, p.ID)
	if err != nil {
		return out, err
	}
	if unknown {
		err := r.people.Notice(ctx, tx, p, "new_browser", "You signed in with another browser", "Somebody signed in as you with a browser that was not used here before.")
		if err != nil {
			return out, err
		}
	}
	out.cookies = []*http.Cookie{session, browser}
	if out.Me, err = me(ctx, tx, p.ID); err != nil {
		return out, err
	}
	return out, op.Audit(ctx, tx, "sign-in", "user", row.Key(p.ID))
}

func signInChannel(portal bool) string {
	if portal {
		return db.ChannelPortal
	}
	return db.ChannelApp
}

// signInByPasskey starts a session for the user whose passkey has answered a challenge. The device has checked who holds it, so
// the session counts as one with a second factor. An answer that does not fit is 401.
func (r *Room) signInByPasskey(ctx context.Context, d *db.DB, in struct {
	passkeys.PasskeyAnswer
	Portal bool `json:"portal,omitempty" doc:"As for POST /auth/login."`
}) (out SignedIn, err error) {
	ctx = db.WithActor(ctx, db.Actor{Channel: signInChannel(in.Portal), Address: db.ActorFrom(ctx).Address})
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		out = SignedIn{}
		p, err := r.passkeys.Use(ctx, tx, in.PasskeyAnswer, 0)
		if err != nil {
			return err, nil //nolint:nilerr // the challenge is used up all the same
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		out, err = r.admit(ctx, tx, p, true)
		return nil, err
	})
	if err == nil {
		r.sessions.Hear(ctx, out.cookies[0])
	}
	return out, err
}
