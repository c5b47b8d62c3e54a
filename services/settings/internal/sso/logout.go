package sso

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
)

const (
	// accountCookieName names the cookie that has the ID token with which a browser signed in, sealed. Only the pages of accounts get it, to end the session at the provider too.
	accountCookieName = "svc_account"
	accountPath       = "/account"
	// accountKept is as long as a session lasts at most.
	accountKept = 7 * 24 * time.Hour
	// longestCookie is what browsers keep of one.
	longestCookie = 3900
)

// accountCookie is the cookie for an ID token. One that is too long is left out: the provider then asks the person whether to sign out.
func (r *Room) accountCookie(token string) *http.Cookie {
	value := r.seal(ticket{Token: token, Issuer: r.provider.issuer})
	if len(value) > longestCookie {
		value = r.seal(ticket{Issuer: r.provider.issuer})
	}
	c := r.sessions.Cookie(accountCookieName, value, accountKept) //nolint:gosec // it is HttpOnly, and Secure wherever people come over https
	c.Path = accountPath
	return c
}

// Leave is where a browser that has signed out here signs out at the provider, by its accountCookieName, and the cookie that takes that one away; "" where
// there is nothing to end.
func (r *Room) Leave(ctx context.Context, req *http.Request) (url string, gone *http.Cookie) {
	c, err := req.Cookie(accountCookieName)
	if err != nil {
		return "", nil
	}
	gone = r.sessions.Cookie(accountCookieName, "", -time.Second) //nolint:gosec // as above
	gone.Path = accountPath
	t, ok := r.unseal(c.Value)
	if !ok || r.on() != nil || t.Issuer != r.provider.issuer {
		return "", gone
	}
	d, err := r.provider.describe(ctx)
	if err != nil {
		return "", gone
	}
	return r.provider.endAt(d, t.Token), gone
}

// logout ends the sessions that a logout token names, once.
func (r *Room) logout(ctx context.Context, d *db.DB, in struct {
	Token string `json:"logout_token" required:"true" maxLength:"16000" doc:"The logout token."`
}) (op.None, error) {
	if err := r.on(); err != nil {
		return op.None{}, err
	}
	t, err := r.provider.logoutToken(ctx, in.Token)
	if err != nil {
		if f := r.faultOf(err); fault.From(f).Status != http.StatusUnauthorized {
			return op.None{}, f
		}
		return op.None{}, errLogoutToken()
	}
	return op.None{}, d.Do(ctx, func(tx *db.Tx) error {
		tag, err := tx.Exec(ctx, `insert into provider_logout (hash, expires_at) values ($1, $2) on conflict do nothing`, secrets.Hash(t.TokenID), t.Expiry)
		if err != nil {
			return fmt.Errorf("use up logout token: %w", err)
		}
		if tag.RowsAffected() == 0 {
			return errLogoutToken()
		}
		var p people.Person
		if t.Subject != "" {
			p, err = people.LockByAccount(ctx, tx, people.Account{Issuer: r.provider.issuer, Subject: t.Subject})
		} else {
			var id int64
			if id, err = sessions.OwnerAtProvider(ctx, tx, r.provider.issuer, t.SessionID); err == nil {
				p, err = people.Lock(ctx, tx, id)
			}
		}
		if err != nil {
			return row.UnlessRefused(err) // nobody of ours, so nothing to end
		}
		if err := sessions.EndAtProvider(ctx, tx, p.ID, r.provider.issuer, t.SessionID); err != nil {
			return err
		}
		tx.Who = db.Actor{UserID: p.ID, Label: p.Name, Channel: tx.Who.Channel, Address: tx.Who.Address}
		tx.Changed(signedInBy(r.provider.issuer))
		return op.Audit(ctx, tx, "sign-out", "user", row.Key(p.ID))
	})
}

func errLogoutToken() error {
	return fault.InvalidToken("This is not a logout token of the provider, or it was used before.")
}
