// Package oidctest is an OpenID Connect provider for tests, on a port of this machine. Whoever comes is signed in at once as the person that the test has
// set. It can do each thing wrong that a provider, or somebody who stands between it and us, can do: libraries for providers sign no token that is wrong, so
// this one is our own.
package oidctest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// ClientID and Secret are ours at every Provider.
const (
	ClientID = "frontdesk"
	Secret   = "the secret of the client"
)

// Claims are those of a token.
type Claims = map[string]any

// Steps of a sign-in at which a provider may fail.
const (
	Discovery = "/.well-known/openid-configuration"
	Keys      = "/keys"
	Token     = "/token"
	UserInfo  = "/userinfo"
)

// Provider is one, with what it does wrong.
type Provider struct {
	// URL is the issuer.
	URL string

	now    func() time.Time
	server *httptest.Server

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	person Claims
	codes  map[string]code
	wrong  Wrong
	calls  map[string]int
}

// Wrong is what a provider does that it should not. The zero value is one that does everything right.
type Wrong struct {
	// Token changes the claims of the ID token, Document the discovery document, Answer what the browser brings back.
	Token    func(Claims)
	Document func(Claims)
	Answer   func(url.Values)
	// Key signs in place of the provider's own.
	Key *jose.JSONWebKey
	// Step answers in place of the provider at a step; nil goes on.
	Step map[string]http.HandlerFunc
	// Info is what userinfo says; empty for the claims of the ID token.
	Info Claims
}

type code struct{ challenge, nonce, redirect string }

// New starts a provider, whose clock is now. Close stops it.
func New(now func() time.Time) *Provider {
	p := &Provider{now: now, codes: map[string]code{}, calls: map[string]int{}}
	p.Rotate()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Discovery, func(w http.ResponseWriter, _ *http.Request) { p.answer(w, p.document()) })
	mux.HandleFunc("GET "+Keys, func(w http.ResponseWriter, _ *http.Request) {
		set := jose.JSONWebKeySet{}
		for _, k := range p.keys {
			set.Keys = append(set.Keys, k.Public())
		}
		p.answer(w, set)
	})
	mux.HandleFunc("GET /authorize", p.authorize)
	mux.HandleFunc("POST "+Token, p.token)
	mux.HandleFunc("GET "+UserInfo, func(w http.ResponseWriter, _ *http.Request) {
		claims := p.wrong.Info
		if claims == nil {
			claims = p.person
		}
		p.answer(w, claims)
	})
	p.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.calls[r.URL.Path]++
		if step := p.wrong.Step[r.URL.Path]; step != nil {
			step(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	p.URL = p.server.URL
	return p
}

// Close stops the provider.
func (p *Provider) Close() { p.server.Close() }

// Person is whom the provider signs in from now on.
func (p *Provider) Person(claims Claims) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.person = claims
}

// Does what is wrong from now on.
func (p *Provider) Does(w Wrong) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wrong = w
}

// Calls is how often a step was called.
func (p *Provider) Calls(step string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.calls[step]
}

// Rotate makes a new key in place of the one of before.
func (p *Provider) Rotate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = []jose.JSONWebKey{*NewKey(fmt.Sprintf("key %d", len(p.keys)+int(p.now().UnixNano())))}
}

// KeyID is the id of the key in use.
func (p *Provider) KeyID() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.keys[0].KeyID
}

// NewKey makes a key that is no provider's.
func NewKey(id string) *jose.JSONWebKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	return &jose.JSONWebKey{Key: key, KeyID: id, Algorithm: string(jose.ES256), Use: "sig"}
}

// must ends the test: nothing that can fail is asked of the libraries.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (p *Provider) document() Claims {
	d := Claims{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + Token, "jwks_uri": p.URL + Keys, "userinfo_endpoint": p.URL + UserInfo,
		"end_session_endpoint": p.URL + "/end", "id_token_signing_alg_values_supported": []string{"ES256"}, "authorization_response_iss_parameter_supported": true}
	if p.wrong.Document != nil {
		p.wrong.Document(d)
	}
	return d
}

func (p *Provider) answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// authorize signs the person in, and leads the browser back.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	if q.Get("client_id") != ClientID || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "" || q.Get("state") == "" ||
		!strings.Contains(" "+q.Get("scope")+" ", " openid ") {
		http.Error(w, "not a request of ours", http.StatusBadRequest)
		return
	}
	if q.Get("max_age") == "0" {
		fresh := maps.Clone(p.person)
		if _, set := fresh["auth_time"]; !set {
			fresh["auth_time"] = p.now().Unix()
		}
		p.person = fresh
	}
	name := fmt.Sprint("code ", len(p.codes))
	p.codes[name] = code{q.Get("code_challenge"), q.Get("nonce"), q.Get("redirect_uri")}
	back := url.Values{"code": {name}, "state": {q.Get("state")}, "iss": {p.URL}}
	if p.wrong.Answer != nil {
		p.wrong.Answer(back)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound) //nolint:gosec // a provider of tests
}

// token exchanges a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(Claims{"error": code})
	}
	id, secret, _ := r.BasicAuth()
	if plain, err := url.QueryUnescape(secret); err != nil || id != ClientID || plain != Secret {
		refuse("invalid_client")
		return
	}
	name := r.PostFormValue("code")
	c, ok := p.codes[name]
	delete(p.codes, name)
	sum := sha256.Sum256([]byte(r.PostFormValue("code_verifier")))
	if !ok || base64.RawURLEncoding.EncodeToString(sum[:]) != c.challenge || r.PostFormValue("redirect_uri") != c.redirect {
		refuse("invalid_grant")
		return
	}
	claims := Claims{"iss": p.URL, "aud": ClientID, "nonce": c.nonce, "iat": p.now().Unix(), "exp": p.now().Add(time.Minute).Unix()}
	maps.Copy(claims, p.person)
	if p.wrong.Token != nil {
		p.wrong.Token(claims)
	}
	p.answer(w, Claims{"access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": p.signed(claims)})
}

// Signed is a token with these claims, such as one that ends sessions.
func (p *Provider) Signed(claims Claims) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.signed(claims)
}

func (p *Provider) signed(claims Claims) string {
	key := &p.keys[0]
	if p.wrong.Key != nil {
		key = p.wrong.Key
	}
	raw, err := json.Marshal(claims)
	must(err)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	must(err)
	signed, err := signer.Sign(raw)
	must(err)
	compact, err := signed.CompactSerialize()
	must(err)
	return compact
}
