package sso

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
	"golang.org/x/sync/singleflight"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/fetch"
)

const (
	// discoveredFor is for how long the provider's description of itself is good before it is read anew, by which a provider that is down is noticed before a
	// browser is sent there. Keys are read whenever a signature names another one.
	discoveredFor = time.Minute
	// againAfter is the pause after a description that could not be read anew; the one of before counts on.
	againAfter = 10 * time.Second
	// skew is how much the clocks of the provider and of us may differ.
	skew = time.Minute
	// patience is for one call of the provider, longestAnswer what is read of it, in bytes.
	patience      = 5 * time.Second
	longestAnswer = 512 << 10
)

// CallbackPath is where the provider leads the browser back to, LogoutPath where it posts logout tokens, SignInPath where it leads those who have signed
// out there.
const (
	CallbackPath = "/account/organization/callback"
	LogoutPath   = "/account/organization/logout"
	SignInPath   = "/account/sign-in"
)

// errUnreachable is a provider that does not answer, or refuses us; errRejected an answer that cannot be trusted.
var (
	errUnreachable = errors.New("the provider cannot be used")
	errRejected    = errors.New("the answer of the provider is not accepted")
)

// provider is the organization's provider, as its discovery document describes it.
type provider struct {
	issuer, clientID, secret, public string
	claim                            string
	roles                            []auth.ClaimRole
	second                           []string
	client                           *http.Client
	now                              func() time.Time

	one   singleflight.Group
	mu    sync.Mutex
	found *described
	until time.Time
	// away is why the provider did not answer at all when it was last asked; nil if it did.
	away error
}

// described is what the discovery document says.
type described struct {
	*oidc.Provider
	EndSession string   `json:"end_session_endpoint"`
	SaysIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	Methods    []string `json:"token_endpoint_auth_methods_supported"`
	Algorithms []string `json:"id_token_signing_alg_values_supported"`
	KeysAt     string   `json:"jwks_uri"`
	keys       *oidc.RemoteKeySet
}

// keySet checks one signature by the provider's keys, and keeps why it could not. The library makes a text of the error.
type keySet struct {
	*oidc.RemoteKeySet
	failed error
}

func (k *keySet) VerifySignature(ctx context.Context, token string) (payload []byte, err error) {
	payload, err = k.RemoteKeySet.VerifySignature(ctx, token)
	k.failed = err
	return payload, err
}

// verifier checks tokens of the provider for us, at a time. The keys are those that it has just used.
func (p *provider) verifier(d *described, now time.Time) (*oidc.IDTokenVerifier, *keySet) {
	// Only signatures that nobody but the provider can make; the library takes RS256 where nothing is said.
	signatures := slices.DeleteFunc(slices.Clone(d.Algorithms), func(name string) bool { return name == "none" || strings.HasPrefix(name, "HS") })
	keys := &keySet{RemoteKeySet: d.keys}
	return oidc.NewVerifier(p.issuer, keys, &oidc.Config{ClientID: p.clientID, SupportedSigningAlgs: signatures, Now: func() time.Time { return now.Add(-skew) }}), keys
}

func newProvider(k *app.Kit) *provider {
	c := k.Config
	p := &provider{issuer: c.OIDCIssuer, clientID: c.OIDCClient, secret: c.OIDCSecret, public: c.PublicURL, claim: c.OIDCClaim, roles: c.ClaimRoles,
		client: fetch.Client(fetch.Options{Allow: c.Receivers, Timeout: patience, Keep: longestAnswer}), now: k.DB.Now}
	for _, value := range c.OIDCMFA {
		p.second = append(p.second, strings.TrimSpace(value))
	}
	return p
}

// reach is describe for a browser that is sent to the provider: it is errUnreachable also if the provider does not answer any more.
func (p *provider) reach(ctx context.Context) (*described, error) {
	d, err := p.describe(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return d, p.away
}

// describe returns what the provider says of itself, read within the last minute or else the last time that it could be read. The error is errUnreachable.
func (p *provider) describe(ctx context.Context) (*described, error) {
	p.mu.Lock()
	found, until := p.found, p.until
	p.mu.Unlock()
	if found != nil && p.now().Before(until) {
		return found, nil
	}
	// One call for all who wait, which outlives the one who began it.
	read := p.one.DoChan("", func() (any, error) { return p.discover(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-read:
		if answer.Err == nil {
			return answer.Val.(*described), nil
		}
		slog.WarnContext(ctx, "the organization's provider cannot be read", "issuer", p.issuer, "error", answer.Err)
		failed := fmt.Errorf("%w: %w", errUnreachable, answer.Err)
		if found == nil {
			return nil, failed
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.until, p.away = p.now().Add(againAfter), nil
		if isAway(answer.Err) {
			p.away = failed
		}
		return found, nil
	}
}

// isAway reports whether a call got no answer.
func isAway(err error) bool {
	_, away := errors.AsType[*url.Error](err)
	return away
}

func (p *provider) discover(ctx context.Context) (*described, error) {
	known, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.issuer)
	if err != nil {
		// The library repeats what was answered, which may be long and is anybody's.
		if text := err.Error(); len(text) > 300 && !isAway(err) {
			err = errors.New(text[:300])
		}
		return nil, err
	}
	d := &described{Provider: known}
	if err := known.Claims(d); err != nil {
		return nil, err
	}
	// Browsers follow these, so no http of a provider that is reached by https.
	secure := strings.HasPrefix(p.issuer, "https:")
	for name, address := range map[string]string{"authorization_endpoint": known.Endpoint().AuthURL, "token_endpoint": known.Endpoint().TokenURL, "end_session_endpoint": d.EndSession} {
		u, err := url.Parse(address)
		if address == "" && name == "end_session_endpoint" {
			continue
		}
		if err != nil || u.Host == "" || u.Scheme != "https" && (secure || u.Scheme != "http") {
			return nil, fmt.Errorf("its %s is not an address to use", name)
		}
	}
	d.keys = oidc.NewRemoteKeySet(oidc.ClientContext(ctx, p.client), d.KeysAt)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.found, p.until, p.away = d, p.now().Add(discoveredFor), nil
	return d, nil
}

// clientAt is us at the provider, for a browser at home, an address of the site.
func (p *provider) clientAt(d *described, home string) *oauth2.Config {
	at := d.Endpoint()
	// The standard says that one which says nothing takes the header.
	at.AuthStyle = oauth2.AuthStyleInHeader
	if p.secret == "" || len(d.Methods) > 0 && !slices.Contains(d.Methods, "client_secret_basic") {
		at.AuthStyle = oauth2.AuthStyleInParams
	}
	return &oauth2.Config{ClientID: p.clientID, ClientSecret: p.secret, Endpoint: at, RedirectURL: home + CallbackPath, Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
}

// signInAt is the address that a browser is sent to. fresh asks the person to sign in there although they have done so before.
func (p *provider) signInAt(d *described, home, state, nonce, verifier string, fresh bool) string {
	options := []oauth2.AuthCodeOption{oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)}
	if fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"), oauth2.SetAuthURLParam("max_age", "0"))
	}
	return p.clientAt(d, home).AuthCodeURL(state, options...)
}

// endAt is the address at which the session of an ID token ends at the provider; empty where it offers none.
func (p *provider) endAt(d *described, token string) string {
	u, err := url.Parse(d.EndSession)
	if err != nil || d.EndSession == "" {
		return ""
	}
	q := u.Query()
	q.Set("client_id", p.clientID)
	q.Set("post_logout_redirect_uri", p.public+SignInPath)
	if token != "" {
		q.Set("id_token_hint", token)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// identity is who signed in at the provider, by what it says and was checked.
type identity struct {
	Subject, SID string
	// Email is their address there, empty for none, and Verified whether the provider says that it is theirs.
	Email    string
	Verified bool
	Name     string
	// Roles are those that their claim gives.
	Roles []string
	// TwoFactor is true if they gave a second factor there.
	TwoFactor bool
	// At is when they signed in there; zero if the provider does not say.
	At time.Time
	// Token is the ID token.
	Token string
}

// redeem exchanges the code of an answer for who has signed in. The error is errUnreachable or errRejected.
func (p *provider) redeem(ctx context.Context, in answer, sent request) (who identity, err error) {
	d, err := p.describe(ctx)
	if err != nil {
		return who, err
	}
	// RFC 9207: the answer of another provider would make us send its code to this one.
	if in.Issuer != "" && in.Issuer != p.issuer || in.Issuer == "" && d.SaysIssuer {
		return who, fmt.Errorf("%w: it is one of another issuer", errRejected)
	}
	if in.Error != "" || in.Code == "" {
		return who, fmt.Errorf("%w: %q", errRejected, in.Error)
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.clientAt(d, sent.Home).Exchange(ctx, in.Code, oauth2.VerifierOption(sent.Verifier))
	if err != nil {
		return who, notExchanged(err)
	}
	raw, _ := token.Extra("id_token").(string)
	now := p.now()
	verifier, keys := p.verifier(d, now)
	t, err := verifier.Verify(ctx, raw)
	if err != nil {
		return who, notVerified(err, keys)
	}
	claims := map[string]any{}
	if err := t.Claims(&claims); err != nil {
		return who, fmt.Errorf("%w: %w", errRejected, err)
	}
	party, named := claims["azp"]
	switch {
	case subtle.ConstantTimeCompare([]byte(t.Nonce), []byte(sent.Nonce)) != 1:
		return who, fmt.Errorf("%w: the nonce is another one", errRejected)
	case named && party != p.clientID || !named && len(t.Audience) > 1:
		return who, fmt.Errorf("%w: the token was made for another party", errRejected)
	case t.IssuedAt.After(now.Add(skew)):
		return who, fmt.Errorf("%w: the token was made in the future", errRejected)
	case t.Subject == "" || len(t.Subject) > 255:
		return who, fmt.Errorf("%w: the token has no subject", errRejected)
	case t.AccessTokenHash != "" && t.VerifyAccessToken(token.AccessToken) != nil:
		return who, fmt.Errorf("%w: the access token is another one", errRejected)
	}
	if err := p.addUserInfo(ctx, d, token, t.Subject, claims); err != nil {
		return who, err
	}
	who = p.read(claims, now)
	who.Subject, who.Token = t.Subject, raw
	return who, nil
}

// notExchanged says why there is no token. What the provider answered may hold secrets, so it is not repeated.
func notExchanged(err error) error {
	refused, ok := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case !ok:
		if failed, ok := errors.AsType[*url.Error](err); ok {
			return fmt.Errorf("%w: token endpoint: %w", errUnreachable, failed)
		}
		return fmt.Errorf("%w: the token endpoint answered what cannot be read", errUnreachable)
	case refused.ErrorCode == "invalid_grant":
		return fmt.Errorf("%w: the code is not good any more", errRejected)
	}
	return fmt.Errorf("%w: the token endpoint answered %d %q", errUnreachable, refused.Response.StatusCode, refused.ErrorCode)
}

// notVerified says why a token is not good: its keys do not answer, or it is wrong.
func notVerified(err error, keys *keySet) error {
	if isAway(keys.failed) {
		return fmt.Errorf("%w: its keys do not answer", errUnreachable)
	}
	return fmt.Errorf("%w: %w", errRejected, err)
}

// addUserInfo adds claims that the ID token of some providers leaves out.
func (p *provider) addUserInfo(ctx context.Context, d *described, token *oauth2.Token, subject string, claims map[string]any) error {
	if d.UserInfoEndpoint() == "" || claims["email"] != nil && (len(p.roles) == 0 || at(claims, p.claim) != nil) {
		return nil
	}
	info, err := d.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return fmt.Errorf("%w: userinfo does not answer", errUnreachable)
	}
	more := map[string]any{}
	if err := info.Claims(&more); err != nil || info.Subject != subject {
		return fmt.Errorf("%w: userinfo is about somebody else", errRejected)
	}
	// An address and whether it is verified belong together.
	if claims["email"] != nil {
		delete(more, "email_verified")
		delete(more, "xms_edov")
	}
	maps.Copy(more, claims)
	maps.Copy(claims, more)
	return nil
}

// read takes from claims what counts here.
func (p *provider) read(claims map[string]any, now time.Time) (who identity) {
	text := func(name string) string { s, _ := claims[name].(string); return s }
	who.SID, who.Email, who.Name = text("sid"), text("email"), text("name")
	// Entra says instead that the owner of the address's domain is verified.
	who.Verified = yes(claims["email_verified"]) || yes(claims["xms_edov"])
	held := texts(at(claims, p.claim))
	for _, role := range auth.TeamRoles {
		if slices.ContainsFunc(p.roles, func(c auth.ClaimRole) bool { return c.Role == role && slices.Contains(held, c.Value) }) {
			who.Roles = append(who.Roles, role)
		}
	}
	said := append(texts(claims["amr"]), text("acr"))
	who.TwoFactor = slices.ContainsFunc(p.second, func(value string) bool { return value != "" && slices.Contains(said, value) })
	if seconds, ok := claims["auth_time"].(float64); ok {
		if who.At = time.Unix(int64(seconds), 0); who.At.After(now) {
			who.At = now
		}
	}
	return who
}

// at finds a claim by its name, or by a path into objects with dots between names.
func at(claims map[string]any, path string) any {
	if v, ok := claims[path]; ok {
		return v
	}
	name, rest, deeper := strings.Cut(path, ".")
	if inner, ok := claims[name].(map[string]any); ok && deeper {
		return at(inner, rest)
	}
	return nil
}

// texts are the strings of a claim that has one or several.
func texts(v any) (all []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, one := range v {
			if s, ok := one.(string); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// yes reads a claim that is true, in the spellings that providers have for it.
func yes(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case string:
		return v == "true" || v == "1"
	case float64:
		return v == 1
	}
	return false
}

// logoutToken checks a token of the back channel. The error is errUnreachable or errRejected.
func (p *provider) logoutToken(ctx context.Context, raw string) (*oidc.LogoutToken, error) {
	d, err := p.describe(ctx)
	if err != nil {
		return nil, err
	}
	now := p.now()
	verifier, keys := p.verifier(d, now)
	t, err := verifier.VerifyLogout(ctx, raw)
	if err != nil {
		return nil, notVerified(err, keys)
	}
	if t.IssuedAt.After(now.Add(skew)) {
		return nil, fmt.Errorf("%w: the token was made in the future", errRejected)
	}
	return t, nil
}
