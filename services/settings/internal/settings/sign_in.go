package settings

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// shortestPassword in characters.
const shortestPassword = 8

// signIns are the attempts allowed for each visitor address, and for each account.
var signIns = db.Limit{N: 10, Per: time.Minute}

// SignedIn is the user who signed in. Their session travels in the cookie, not in the body.
type SignedIn struct {
	Me
	cookie *http.Cookie
}

// Headers sets the session cookie.
func (s SignedIn) Headers() http.Header { return http.Header{"Set-Cookie": {s.cookie.String()}} }

// Credentials are what a person signs in with.
type Credentials struct {
	Login    string `json:"login" required:"true" maxLength:"190" doc:"Login name or email address."`
	Password string `json:"password" required:"true" maxLength:"1024"`
	Code     string `json:"code,omitempty" maxLength:"40" doc:"Second factor: six digits of the authenticator, or a recovery code."`
	Portal   bool   `json:"portal,omitempty" doc:"The person signs in to the portal: what they do is told apart by this channel."`
}

// signIn compares the password outside any transaction, because that takes tens of milliseconds, and starts the session if
// the password is still the same afterwards. Wrong credentials and second factors are 401.
func (s *service) signIn(ctx context.Context, d *db.DB, in Credentials) (SignedIn, error) {
	wrong := fault.Unauthorized("The login or the password is not right.")
	wait, err := d.Allow(ctx, "account/"+strings.ToLower(in.Login), s.Config.RateFactor, signIns)
	if err != nil {
		return SignedIn{}, err
	}
	if wait > 0 {
		return SignedIn{}, fault.RateLimited(wait)
	}
	var p person
	var hash string
	known := true
	err = d.Read(ctx, func(tx *db.Tx) error {
		var err error
		if p, err = personByName(ctx, tx, in.Login); err != nil {
			known = false
			return unlessRefused(err)
		}
		hash, err = passwordHash(ctx, tx, p.ID)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	matches, err := s.hasher.matches(ctx, in.Password, hash)
	if err != nil {
		return SignedIn{}, err
	}
	channel := db.ChannelApp
	if in.Portal {
		channel = db.ChannelPortal
	}
	who := db.Actor{UserID: p.ID, Label: p.Name, Channel: channel}
	if !known {
		return SignedIn{}, wrong
	}
	ctx = db.WithActor(ctx, who)
	if !matches {
		return SignedIn{}, s.signInRefused(ctx, d, p, wrong)
	}
	var out SignedIn
	var refusal error
	err = d.Do(ctx, func(tx *db.Tx) error {
		out, refusal = SignedIn{}, nil
		current, err := lockPerson(ctx, tx, p.ID)
		if unlessRefused(err) != nil {
			return err
		}
		if err != nil {
			return wrong
		}
		// The password may have been changed while this one was compared.
		now, err := passwordHash(ctx, tx, p.ID)
		if err != nil {
			return err
		}
		if now != hash {
			return wrong
		}
		if current.TwoFactor {
			if in.Code == "" {
				refusal = fault.New(http.StatusUnauthorized, "svc_two_factor_required", "Give the code of your second factor.")
				return nil
			}
			ok, err := s.useSecondFactor(ctx, tx, p.ID, in.Code)
			if err != nil {
				return err
			}
			if !ok {
				refusal = fault.Unauthorized("The code of the second factor is not right.")
				return nil
			}
		}
		token, err := startSession(ctx, tx, p.ID, channel, current.TwoFactor)
		if err != nil {
			return err
		}
		out.cookie = s.sessionCookie(token, sessionLife)
		if out.Me, err = me(ctx, tx, p.ID); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "sign-in", "user", number(p.ID))
	})
	if err == nil && refusal != nil {
		if in.Code != "" {
			return SignedIn{}, s.signInRefused(ctx, d, p, refusal)
		}
		err = refusal
	}
	return out, err
}

// passwordHash reads the hash of a user's password, "" for one who has yet to choose it.
func passwordHash(ctx context.Context, tx *db.Tx, userID int64) (hash string, err error) {
	if err := tx.QueryRow(ctx, `select coalesce(password, '') from person where id = $1`, userID).Scan(&hash); err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	return hash, nil
}

// signInRefused records a wrong password or code of an existing user in the audit log, and answers with cause.
func (s *service) signInRefused(ctx context.Context, d *db.DB, p person, cause error) error {
	err := d.Do(ctx, func(tx *db.Tx) error {
		return tx.Audit(ctx, &proto.Audit{Action: "sign-in", RecordType: "user", RecordId: number(p.ID), Outcome: "refused"})
	})
	if err != nil {
		return fmt.Errorf("record a refused sign-in: %w", err)
	}
	return cause
}

// SignedOut answers a sign-out: it takes the cookie away.
type SignedOut struct {
	op.None
	cookie *http.Cookie
}

// Headers clears the session cookie.
func (s SignedOut) Headers() http.Header { return http.Header{"Set-Cookie": {s.cookie.String()}} }

func (s *service) signOut(ctx context.Context, tx *db.Tx, _ op.None) (SignedOut, error) {
	hash, err := currentSession(tx.Who)
	if err != nil {
		return SignedOut{}, err
	}
	return SignedOut{cookie: s.sessionCookie("", -time.Second)}, endSession(ctx, tx, hash)
}

func (s *service) sessionCookie(token string, life time.Duration) *http.Cookie {
	//nolint:gosec // it is Secure wherever people come over https
	return &http.Cookie{Name: auth.Cookie, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(s.Config.PublicURL, "https:"), MaxAge: int(life.Seconds())}
}

func errNoSession() error { return fault.Unauthorized("This needs a browser session. Sign in first.") }

// currentSession is the hash of the caller's session; 401 for callers without one.
func currentSession(who db.Actor) ([]byte, error) {
	text, ok := strings.CutPrefix(who.Credential, "session/")
	if !who.Session || !ok {
		return nil, errNoSession()
	}
	hash, err := hex.DecodeString(text)
	if err != nil {
		return nil, errNoSession()
	}
	return hash, nil
}
