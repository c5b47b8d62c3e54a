package sso

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/signin"
)

const (
	// requestLife is how long a person may take at the provider.
	requestLife = 10 * time.Minute
	// browserCookie binds a request to the browser that was sent.
	browserCookie = "svc_organization"
)

// request is a browser that was sent to the provider.
type request struct {
	Nonce, Verifier, Next, Channel string
	// Home is the address of the site at which the browser is.
	Home      string
	Confirms  []byte
	CreatedAt time.Time
}

// leave is where to send the browser.
type leave struct {
	URL    string `json:"url" format:"uri" doc:"Where to lead the browser now."`
	cookie *http.Cookie
}

// Headers sets the cookie that the browser has to bring back.
func (l leave) Headers() http.Header { return http.Header{"Set-Cookie": {l.cookie.String()}} }

// begin is what a sign-in at the provider begins with.
type begin struct {
	Next       string `json:"next,omitempty" maxLength:"8000" doc:"The path of this site to go to afterwards; /account when left out."`
	PortalHost bool   `json:"portal_host,omitempty" doc:"The browser is at the portal's own host, and comes back there."`
}

func (r *Room) start(ctx context.Context, d *db.DB, in struct {
	begin
	Portal bool `json:"portal,omitempty" doc:"As for POST /auth/login."`
}) (leave, error) {
	return r.send(ctx, d, in.begin, signin.Channel(in.Portal), nil)
}

// startConfirming sends somebody who is signed in to the provider to sign in there once more, in place of typing a password here.
func (r *Room) startConfirming(ctx context.Context, d *db.DB, in begin) (leave, error) {
	who := db.ActorFrom(ctx)
	hash, err := sessions.Current(who)
	if err != nil {
		return leave{}, err
	}
	if err := r.on(); err != nil {
		return leave{}, err
	}
	err = d.Read(ctx, func(tx *db.Tx) error {
		p, err := people.ByID(ctx, tx, who.UserID)
		if err == nil && p.Issuer != r.provider.issuer {
			err = fault.Conflict("no_linked_account", "You do not sign in with an account at "+r.Config.OIDCName+".")
		}
		return err
	})
	if err != nil {
		return leave{}, err
	}
	return r.send(ctx, d, in, who.Channel, hash)
}

// send stores that the browser is sent to the provider, and says where that is. Errors: 404 where no provider is set up, 503 if it does not answer.
func (r *Room) send(ctx context.Context, d *db.DB, in begin, channel string, confirms []byte) (out leave, err error) {
	if err := r.on(); err != nil {
		return out, err
	}
	at, err := r.provider.reach(ctx)
	if err != nil {
		signIns.Add(ctx, unreachable, 1)
		return out, r.faultOf(err)
	}
	state, hash := secrets.New()
	nonce, _ := secrets.New()
	verifier := oauth2.GenerateVerifier()
	// One cookie for all tabs: a second request must not put the first one out.
	browser, browserHash := secrets.New()
	if known, err := (&http.Request{Header: op.Header(ctx)}).Cookie(browserCookie); err == nil && len(known.Value) == len(browser) {
		browser, browserHash = known.Value, secrets.Hash(known.Value)
	}
	home := r.Config.PublicURL
	err = d.Do(ctx, func(tx *db.Tx) error {
		if in.PortalHost {
			host, err := r.site.PortalHost(ctx, tx)
			if err != nil {
				return err
			}
			home = cmp.Or(host, r.Config.PublicURL)
		}
		_, err := tx.Exec(ctx, `insert into provider_request (state_hash, browser_hash, nonce, verifier, next, home, channel, confirms, created_at)
			values (@state, @browser, @nonce, @verifier, @next, @home, @channel, @confirms, @now)`,
			db.Args{"state": hash, "browser": browserHash, "nonce": nonce, "verifier": verifier, "next": Path(in.Next), "home": home, "channel": channel, "confirms": confirms, "now": tx.Now})
		return err
	})
	if err != nil {
		return out, fmt.Errorf("store request to the provider: %w", err)
	}
	out.URL = r.provider.signInAt(at, home, state, nonce, verifier, confirms != nil)
	out.cookie = r.sessions.Cookie(browserCookie, browser, requestLife)
	return out, nil
}

// take takes the request of a state out, if this browser was sent with it within requestLife: 401 for any other.
func (r *Room) take(ctx context.Context, d *db.DB, state string) (sent request, err error) {
	err = d.Do(ctx, func(tx *db.Tx) error {
		sent, err = db.Find[request](ctx, tx, errNoRequest(), `delete from provider_request where state_hash = $1 and browser_hash = $2 and created_at > $3
			returning nonce, verifier, next, home, channel, confirms, created_at`, secrets.Hash(state), browserOf(ctx), tx.Now.Add(-requestLife))
		return err
	})
	return sent, err
}

func errNoRequest() error {
	return fault.Unauthorized("This is not the answer to a sign-in that this browser has begun within ten minutes. Begin again.")
}

// browserOf is the hash of the browser's cookie, which no request without one has.
func browserOf(ctx context.Context) []byte {
	c, err := (&http.Request{Header: op.Header(ctx)}).Cookie(browserCookie)
	if err != nil {
		return []byte{}
	}
	return secrets.Hash(c.Value)
}

// Path is a path of this site with its query, if next is one, else that of the account page.
func Path(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "//") || strings.ContainsAny(u.Path, "\\\t\r\n") || u.Path == SignInPath {
		return "/account"
	}
	if u.RawQuery == "" {
		return u.EscapedPath()
	}
	return u.EscapedPath() + "?" + u.RawQuery
}

// faultOf is what a caller is told about an error of the provider.
func (r *Room) faultOf(err error) error {
	switch {
	case errors.Is(err, errUnreachable):
		return fault.New(http.StatusServiceUnavailable, "svc_unavailable", r.Config.OIDCName+" cannot be reached at the moment. Try again shortly.")
	case errors.Is(err, errRejected):
		return fault.Unauthorized("The answer of " + r.Config.OIDCName + " was not accepted. Begin again.")
	}
	return err
}
