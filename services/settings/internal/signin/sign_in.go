package signin

import (
	"context"
	"net/http"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/passkeys"
	"frontdesk/services/settings/internal/passwords"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
)

// SignedIn is the user who signed in. Their session travels in the first cookie, not in the body.
type SignedIn struct {
	roles.Me
	Cookies []*http.Cookie `json:"-"` // the session's first
}

// Headers sets the cookies.
func (s SignedIn) Headers() http.Header {
	h := http.Header{}
	for _, c := range s.Cookies {
		h.Add("Set-Cookie", c.String())
	}
	return h
}

// Action is what the audit log calls signing in.
const Action = "sign-in"

// credentials are what a person signs in with.
type credentials struct {
	Login    string `json:"login" required:"true" maxLength:"190" doc:"Login name or email address."`
	Password string `json:"password" required:"true" maxLength:"1024" doc:"The password."`
	Factor
	Portal bool `json:"portal,omitempty" doc:"The person signs in to the portal: what they do is told apart by this channel."`
}

// Factor is a second factor.
type Factor struct {
	Code    string                  `json:"code,omitempty" maxLength:"40" doc:"Second factor: six digits of the authenticator, or a recovery code."`
	Passkey *passkeys.PasskeyAnswer `json:"passkey,omitempty" doc:"Second factor instead of a code: the answer to the challenge of POST /auth/login/options."`
}

// signIn starts a session for the right password and, where there is one, second factor. Everything wrong is 401, in the same
// time whether the user exists or not; too many attempts are 429.
func (r *Room) signIn(ctx context.Context, d *db.DB, in credentials) (SignedIn, error) {
	ctx = db.WithActor(ctx, db.Actor{Channel: Channel(in.Portal), Address: db.ActorFrom(ctx).Address})
	wrong := fault.Unauthorized("The login or the password is not right.")
	var p people.Person
	known := true
	err := d.Read(ctx, func(tx *db.Tx) error {
		var err error
		if p, err = people.ByName(ctx, tx, in.Login); err != nil {
			known = false
			return row.UnlessRefused(err)
		}
		return nil
	})
	if err != nil {
		return SignedIn{}, err
	}
	if !r.passwords.On(p) {
		return SignedIn{}, r.passwords.ErrOff()
	}
	account := "account/" + strings.ToLower(in.Login)
	if known {
		account = passwords.AccountOf(p.ID)
		ctx = people.Acting(ctx, p)
	}
	hash, err := r.passwords.Check(ctx, d, Action, account, p.ID, in.Password, wrong)
	if err != nil {
		return SignedIn{}, err
	}
	var out SignedIn
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		out = SignedIn{}
		current, err := people.Lock(ctx, tx, p.ID)
		if err != nil {
			return nil, err
		}
		// The password may have been changed while this one was compared.
		if now, err := people.PasswordHash(ctx, tx, p.ID); err != nil || now != hash {
			return wrong, err
		}
		if current.TwoFactor {
			if refusal, err := r.SecondFactor(ctx, tx, current, in.Factor); refusal != nil || err != nil {
				return refusal, err
			}
		}
		out, err = r.Admit(ctx, tx, current, sessions.Proof{TwoFactor: current.TwoFactor, At: tx.Now})
		return nil, err
	})
	if err == nil {
		r.Hear(ctx, out)
	}
	return out, err
}

// SecondFactor refuses a sign-in whose second factor is missing or wrong: a code, or a passkey of the same user. A refusal is committed, see people.Refusing.
func (r *Room) SecondFactor(ctx context.Context, tx *db.Tx, p people.Person, in Factor) (refusal, err error) {
	if in.Passkey != nil {
		_, err := r.passkeys.Use(ctx, tx, *in.Passkey, p.ID)
		if err != nil && row.UnlessRefused(err) == nil {
			return err, people.AuditRefusal(ctx, tx, Action, p.ID)
		}
		return nil, err
	}
	if in.Code == "" {
		return fault.New(http.StatusUnauthorized, "svc_two_factor_required", "Give the code of your second factor."), nil
	}
	ok, err := r.twofactor.Use(ctx, tx, p, in.Code)
	if err != nil || ok {
		return nil, err
	}
	return fault.Unauthorized("The code of the second factor is not right."), people.AuditRefusal(ctx, tx, Action, p.ID)
}

// Admit starts a session of the locked user, and mails them when their browser is new.
func (r *Room) Admit(ctx context.Context, tx *db.Tx, p people.Person, proof sessions.Proof) (out SignedIn, err error) {
	session, err := r.sessions.Start(ctx, tx, p.ID, proof)
	if err != nil {
		return out, err
	}
	browser, unknown, err := r.recognise(ctx, tx, p.ID)
	if err != nil {
		return out, err
	}
	if unknown {
		if err := r.people.Notice(ctx, tx, p, "new_browser"); err != nil {
			return out, err
		}
	}
	out.Cookies = []*http.Cookie{session, browser}
	if out.Me, err = roles.MeOf(ctx, tx, p.ID); err != nil {
		return out, err
	}
	return out, op.Audit(ctx, tx, Action, "user", row.Key(p.ID))
}

// Hear waits until the session of a sign-in counts in this process.
func (r *Room) Hear(ctx context.Context, in SignedIn) { r.sessions.Hear(ctx, in.Cookies[0]) }

// Channel is that of what people do who signed in to the portal, or elsewhere.
func Channel(portal bool) string {
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
	ctx = db.WithActor(ctx, db.Actor{Channel: Channel(in.Portal), Address: db.ActorFrom(ctx).Address})
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		out = SignedIn{}
		p, err := r.passkeys.Use(ctx, tx, in.PasskeyAnswer, 0)
		if err != nil {
			return err, nil //nolint:nilerr // the challenge is used up all the same
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		if !r.passwords.On(p) {
			return r.passwords.ErrOff(), people.AuditRefusal(ctx, tx, Action, p.ID)
		}
		out, err = r.Admit(ctx, tx, p, sessions.Proof{TwoFactor: true, At: tx.Now})
		return nil, err
	})
	if err == nil {
		r.Hear(ctx, out)
	}
	return out, err
}
