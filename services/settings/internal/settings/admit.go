package settings

import (
	"context"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"net/http"
)

// admitPerson starts a session of the locked user, and mails them when their browser is new.
func (s *service) admitPerson(ctx context.Context, tx *db.Tx, p person, twoFactor bool) (out SignedIn, err error) {
	session, err := s.startSession(ctx, tx, p.ID, twoFactor)
	if err != nil {
		return out, err
	}
	browser, unknown, err := s.recogniseBrowser(ctx, tx, p.ID)
	if err != nil {
		return out, err
	}
	if unknown {
		err := s.notice(ctx, tx, p, "new_browser", "You signed in with another browser", "Somebody signed in as you with a browser that was not used here before.")
		if err != nil {
			return out, err
		}
	}
	out.cookies = []*http.Cookie{session, browser}
	if out.Me, err = me(ctx, tx, p.ID); err != nil {
		return out, err
	}
	return out, op.Audit(ctx, tx, "sign-in", "user", number(p.ID))
}

func signInChannel(portal bool) string {
	if portal {
		return db.ChannelPortal
	}
	return db.ChannelApp
}

// passkeySignIn starts a session for the user whose passkey has answered a challenge. The device has checked who holds it, so
// the session counts as one with a second factor. An answer that does not fit is 401.
func (s *service) passkeySignIn(ctx context.Context, d *db.DB, in struct {
	PasskeyAnswer
	Portal bool `json:"portal,omitempty" doc:"As for POST /auth/login."`
}) (out SignedIn, err error) {
	ctx = db.WithActor(ctx, db.Actor{Channel: signInChannel(in.Portal), Address: db.ActorFrom(ctx).Address})
	err = refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		out = SignedIn{}
		p, err := s.usePasskey(ctx, tx, in.PasskeyAnswer, 0)
		if err != nil {
			return err, nil //nolint:nilerr // the challenge is used up all the same
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		out, err = s.admitPerson(ctx, tx, p, true)
		return nil, err
	})
	if err == nil {
		s.hear(ctx, out.cookies[0])
	}
	return out, err
}
