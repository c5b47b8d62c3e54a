package settings

import (
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/fetch"
	"frontdesk/libs/oidctest"
)

// contoso is a site whose team signs in at a provider.
type contoso struct {
	*apptest.Service
	provider *oidctest.Provider
}

func startOrganization(t *testing.T, roles string, configure ...func(*app.Config)) contoso {
	t.Helper()
	var s *apptest.Service
	now := time.Now
	p := oidctest.New(func() time.Time { return now() })
	t.Cleanup(p.Close)
	s = start(t, append([]func(*app.Config){func(c *app.Config) {
		c.OIDCIssuer, c.OIDCClient, c.OIDCSecret, c.OIDCName, c.OIDCClaim, c.OIDCMFA = p.URL, oidctest.ClientID, oidctest.Secret, "Contoso", "groups", []string{"mfa"}
		c.ClaimRoles, _ = auth.ParseClaimRoles(roles)
		c.Receivers, _ = fetch.ParseAllowed("127.0.0.1")
		c.RateFactor = 0
	}}, configure...)...)
	now = s.Now
	return contoso{s, p}
}

// browser signs in at the provider as people do, by its cookies.
type browser struct {
	contoso
	t       *testing.T
	cookies map[string]string
}

func (o contoso) browser(t *testing.T) *browser { return &browser{o, t, map[string]string{}} }

// client is the API with the browser's cookies.
func (b *browser) client() *apptest.Client {
	var all []string
	for name, value := range b.cookies {
		all = append(all, name+"="+value)
	}
	return b.Visitor().For(b.t).With("Cookie", strings.Join(all, "; "))
}

func (b *browser) keep(a *apptest.Answer) *apptest.Answer {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		b.cookies[c.Name] = c.Value
	}
	return a
}

// answered goes where an answer leads, and returns with what the provider adds.
func (b *browser) answered(a *apptest.Answer) map[string]any {
	b.t.Helper()
	b.keep(a.Is(200))
	follow := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := follow.Get(a.Text("url"))
	require.NoError(b.t, err)
	defer func() { _ = res.Body.Close() }()
	body, _ := io.ReadAll(res.Body)
	require.Equal(b.t, http.StatusFound, res.StatusCode, "%s: %s", a.Text("url"), body)
	at, err := res.Location()
	require.NoError(b.t, err)
	out := map[string]any{}
	for name, values := range at.Query() {
		out[name] = values[0]
	}
	return out
}

// signIn signs in as claims say.
func (b *browser) signIn(claims oidctest.Claims) *apptest.Answer {
	b.t.Helper()
	b.provider.Person(claims)
	return b.comeBack(b.answered(b.client().Post("/auth/login/organization", map[string]any{"next": "/team/contacts"})))
}

// comeBack brings what the provider has added.
func (b *browser) comeBack(answer map[string]any) *apptest.Answer {
	b.t.Helper()
	return b.keep(b.client().Post("/auth/login/organization/answer", answer))
}

func anna(more oidctest.Claims) oidctest.Claims {
	c := oidctest.Claims{"sub": "anna-1", "email": "anna@example.com", "email_verified": true, "name": "Anna Novak", "sid": "s1"}
	maps.Copy(c, more)
	return c
}

func TestSomebodySignsInWithTheOrganizationsAccount(t *testing.T) {
	t.Parallel()
	s := startOrganization(t, "")
	c := admin(t, s.Service)

	t.Run("a verified address finds the person once, and then the account does", func(t *testing.T) {
		join(t, s.Service, c, "anna@example.com", "staff")
		b := s.browser(t)
		in := b.signIn(anna(nil)).Is(200)
		require.Equal(t, "anna@example.com", in.Text("login"))
		require.Equal(t, "/team/contacts", in.Text("next"))
		session := b.client().Get("/auth/session").Is(200)
		require.Equal(t, []any{"password", "organization"}, session.Field("signs_in_by"))
		require.Contains(t, kindsTo(t, s.Service, "anna@example.com"), "organization_account")
		require.Contains(t, strings.Join(s.Changes("sign-in"), "\n"), s.provider.URL)
		require.NotContains(t, strings.Join(s.Changes("sign-in"), "\n"), "eyJ")

		// Another address and name at the provider are no other person here.
		require.Equal(t, "anna@example.com", s.browser(t).signIn(anna(oidctest.Claims{"email": "novak@example.com", "email_verified": false})).Is(200).Text("email"))
	})
	t.Run("another account does not take a person over", func(t *testing.T) {
		s.browser(t).signIn(anna(oidctest.Claims{"sub": "mallory"})).Fails(403, "svc_forbidden")
		require.Equal(t, "account_taken", s.browser(t).signIn(oidctest.Claims{"sub": "mallory", "email": "admin@example.com", "email_verified": false}).Text("data.reason"))
		require.Equal(t, "account_taken", s.browser(t).signIn(oidctest.Claims{"sub": "mallory", "email": "admin@example.com"}).Text("data.reason"))
	})
	t.Run("nobody is made where no role is given", func(t *testing.T) {
		a := s.browser(t).signIn(oidctest.Claims{"sub": "nobody", "email": "nobody@example.com", "email_verified": true})
		a.Fails(403, "svc_forbidden")
		require.Equal(t, "no_role", a.Text("data.reason"))
	})
	t.Run("an invitation is accepted by it", func(t *testing.T) {
		c.Post("/staff", map[string]any{"email": "ida@example.com", "role": "staff", "name": "Ida"}).Is(201)
		old := token(t, mails(t, s.Service, "ida@example.com")[0])
		b := s.browser(t)
		b.signIn(oidctest.Claims{"sub": "ida", "email": "Ida@example.com", "email_verified": "true"}).Is(200)
		require.Equal(t, []any{"organization"}, b.client().Get("/auth/session").Is(200).Field("signs_in_by"))
		s.Visitor().Post("/auth/invitation", map[string]any{"token": old, "password": "a long password"}).Fails(410, "svc_token_expired")
		require.Empty(t, c.Get("/staff/invitations").Is(200).Items())
		s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "ida@example.com"}).Is(200)
		require.NotContains(t, kindsTo(t, s.Service, "ida@example.com"), "password")
	})
	t.Run("the provider's second factor counts, and without it the person's own is asked for", func(t *testing.T) {
		bo := join(t, s.Service, c, "bo@example.com", "staff")
		code := withSecondFactor(t, s.Service, bo)
		with := oidctest.Claims{"sub": "bo", "email": "bo@example.com", "email_verified": true, "amr": []string{"pwd", "mfa"}}
		b := s.browser(t)
		b.signIn(with).Is(200)
		require.Equal(t, true, b.client().Get("/auth/sessions").Is(200).Items()[0]["two_factor"])

		delete(with, "amr")
		b = s.browser(t)
		refused := b.signIn(with)
		refused.Fails(401, "svc_two_factor_required")
		give := func(by *browser, code string) *apptest.Answer {
			return by.client().Post("/auth/login/organization/code", map[string]any{"ticket": refused.Text("data.ticket"), "code": code})
		}
		give(b, "").Fails(401, "svc_two_factor_required")
		give(b, "000000").Fails(401, "svc_unauthorized")
		s.Travel(time.Minute)
		give(s.browser(t), code()).Fails(401, "svc_unauthorized") // another browser
		b.keep(give(b, code()).Is(200))
		b.client().Get("/me").Is(200)
	})
	t.Run("where people end up is on this site", func(t *testing.T) {
		s.provider.Person(anna(nil))
		for _, next := range []string{"https://evil.example/", "//evil.example", `/\evil.example`, "javascript:alert(1)", "/account/sign-in", ""} {
			b := s.browser(t)
			in := b.comeBack(b.answered(b.client().Post("/auth/login/organization", map[string]any{"next": next})))
			require.Equal(t, "/account", in.Is(200).Text("next"), next)
		}
	})
	t.Run("a fresh sign-in takes the place of the password", func(t *testing.T) {
		b := s.browser(t)
		b.signIn(anna(nil)).Is(200)
		make := func() *apptest.Answer {
			return b.client().Post("/me/application-passwords", map[string]any{"name": "shop"})
		}
		make().Fails(403, "svc_password_required")
		confirm := func(who oidctest.Claims) *apptest.Answer {
			s.provider.Person(who)
			return b.comeBack(b.answered(b.client().Post("/auth/confirm/organization", map[string]any{"next": "/account/keys"})))
		}
		require.Equal(t, "not_fresh", confirm(anna(oidctest.Claims{"auth_time": s.Now().Add(-time.Hour).Unix()})).Text("data.reason"))
		require.Equal(t, "other_account", confirm(oidctest.Claims{"sub": "ida", "email": "ida@example.com"}).Text("data.reason"))
		make().Fails(403, "svc_password_required")
		require.Equal(t, "/account/keys", confirm(anna(nil)).Is(200).Text("next"))
		make().Is(201)
		c.Post("/auth/confirm/organization", nil).Fails(409, "svc_conflict") // no account there
	})
	t.Run("one who is parted from their account is signed out, and another takes its place", func(t *testing.T) {
		b := s.browser(t)
		b.signIn(anna(nil)).Is(200)
		c, path := admin(t, s.Service), "/staff/"+strconv.FormatInt(userID(b.client()), 10)+"/organization-account"
		c.Delete(path, nil).Is(204)
		c.Delete(path, nil).Is(204)
		s.Eventually(func() bool { return b.client().Get("/me").Status == 401 })
		s.browser(t).signIn(anna(oidctest.Claims{"sub": "anna-2"})).Is(200)
		s.browser(t).signIn(anna(nil)).Fails(403, "svc_forbidden")
	})
}

func TestAnAnswerThatCannotBeTrustedSignsNobodyIn(t *testing.T) {
	t.Parallel()
	s := startOrganization(t, "")
	c := admin(t, s.Service)
	join(t, s.Service, c, "anna@example.com", "staff")
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"issuer":"`)
		for range 1 << 12 {
			if _, err := io.WriteString(w, strings.Repeat("a", 1024)); err != nil {
				return
			}
		}
	}
	down := func(w http.ResponseWriter, _ *http.Request) {
		hijacked, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = hijacked.Close()
		}
	}
	claim := func(name string, value any) oidctest.Wrong {
		return oidctest.Wrong{Token: func(c oidctest.Claims) {
			if c[name] = value; value == nil {
				delete(c, name)
			}
		}}
	}
	back := func(name, value string) oidctest.Wrong {
		return oidctest.Wrong{Answer: func(v url.Values) {
			if v.Set(name, value); value == "" {
				v.Del(name)
			}
		}}
	}
	step := func(at string, f http.HandlerFunc) oidctest.Wrong {
		return oidctest.Wrong{Step: map[string]http.HandlerFunc{at: f}}
	}
	now := s.Now()
	for what, wrong := range map[string]struct {
		oidctest.Wrong
		status int
	}{
		"a token for another client":                 {claim("aud", "another"), 401},
		"a token for several, made for another":      {claim("aud", []string{oidctest.ClientID, "another"}), 401},
		"a token that another party asked for":       {claim("azp", "another"), 401},
		"a token of another issuer":                  {claim("iss", "https://other.example"), 401},
		"a token with another nonce":                 {claim("nonce", "another"), 401},
		"a token without a nonce":                    {claim("nonce", nil), 401},
		"a token that ended two minutes ago":         {claim("exp", now.Add(-2*time.Minute).Unix()), 401},
		"a token of in two minutes":                  {claim("iat", now.Add(2*time.Minute).Unix()), 401},
		"a token without a subject":                  {claim("sub", ""), 401},
		"a token beside another access token":        {claim("at_hash", "another"), 401},
		"a token signed by a key of somebody else":   {oidctest.Wrong{Key: oidctest.NewKey("foreign")}, 401},
		"a key of somebody else under the same name": {oidctest.Wrong{Key: oidctest.NewKey(s.provider.KeyID())}, 401},
		"an answer of another provider":              {back("iss", "https://other.example"), 401},
		"an answer without its issuer":               {back("iss", ""), 401},
		"an answer with an error":                    {oidctest.Wrong{Answer: func(v url.Values) { v.Set("error", "access_denied"); v.Del("code") }}, 401},
		"a code that is not one":                     {back("code", "another"), 401},
		"a state that is not one":                    {back("state", "another"), 401},
		"no answer of the token endpoint":            {step(oidctest.Token, down), 503},
		"an endless answer of the token endpoint":    {step(oidctest.Token, endless), 503},
		"a token endpoint that refuses our secret": {step(oidctest.Token, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(401)
			_, _ = io.WriteString(w, `{"error":"invalid_client"}`)
		}), 503},
		"an answer of the token endpoint without one": {step(oidctest.Token, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"x","token_type":"Bearer"}`)
		}), 401},
		"a token endpoint that leads elsewhere": {step(oidctest.Token, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		}), 503},
	} {
		t.Run(what, func(t *testing.T) {
			s.provider.Does(wrong.Wrong)
			a := s.browser(t).signIn(anna(nil))
			require.Equal(t, wrong.status, a.Status, a.Body)
			require.NotContains(t, strings.Join(a.Header.Values("Set-Cookie"), "\n"), auth.Cookie+"=")
		})
	}
	s.provider.Does(oidctest.Wrong{})
	t.Run("clocks may differ by less than a minute", func(t *testing.T) {
		s.provider.Does(oidctest.Wrong{Token: func(c oidctest.Claims) {
			c["iat"], c["exp"] = s.Now().Add(50*time.Second).Unix(), s.Now().Add(-50*time.Second).Unix()
		}})
		s.browser(t).signIn(anna(nil)).Is(200)
		s.provider.Does(oidctest.Wrong{})
	})
	t.Run("a key that is new at the provider is read", func(t *testing.T) {
		before := s.provider.Calls(oidctest.Keys)
		s.browser(t).signIn(anna(nil)).Is(200)
		require.Equal(t, before, s.provider.Calls(oidctest.Keys))
		s.provider.Rotate()
		s.browser(t).signIn(anna(nil)).Is(200)
		require.Equal(t, before+1, s.provider.Calls(oidctest.Keys))
	})
	t.Run("keys that cannot be read are an outage", func(t *testing.T) {
		s.provider.Rotate()
		s.provider.Does(step(oidctest.Keys, down))
		s.browser(t).signIn(anna(nil)).Fails(503, "svc_unavailable")
		s.provider.Does(oidctest.Wrong{})
		s.browser(t).signIn(anna(nil)).Is(200)
	})
	t.Run("what the token leaves out is in userinfo, if that is about the same person", func(t *testing.T) {
		bare := oidctest.Claims{"sub": "anna-1"}
		s.provider.Does(oidctest.Wrong{Token: func(c oidctest.Claims) { delete(c, "email") }, Info: oidctest.Claims{"sub": "another", "email": "admin@example.com", "email_verified": true}})
		s.browser(t).signIn(bare).Fails(401, "svc_unauthorized")
		s.provider.Does(step(oidctest.UserInfo, down))
		s.browser(t).signIn(bare).Fails(503, "svc_unavailable")
		s.provider.Does(oidctest.Wrong{})
	})
	t.Run("an answer counts once, in its browser and within ten minutes", func(t *testing.T) {
		s.provider.Person(anna(nil))
		b := s.browser(t)
		begin := func() map[string]any { return b.answered(b.client().Post("/auth/login/organization", nil)) }
		first, second := begin(), begin() // two tabs
		s.browser(t).comeBack(first).Fails(401, "svc_unauthorized")
		b.comeBack(first).Is(200)
		b.comeBack(first).Fails(401, "svc_unauthorized")
		b.comeBack(second).Is(200)
		replayed := begin()
		replayed["code"] = second["code"]
		b.comeBack(replayed).Fails(401, "svc_unauthorized")
		late := begin()
		s.Travel(10*time.Minute + time.Second)
		b.comeBack(late).Fails(401, "svc_unauthorized")
	})
	t.Run("the provider's description is kept for when it cannot be read", func(t *testing.T) {
		s.Travel(2 * time.Hour)
		s.provider.Does(step(oidctest.Discovery, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) }))
		s.browser(t).signIn(anna(nil)).Is(200)
		calls := s.provider.Calls(oidctest.Discovery)
		s.browser(t).signIn(anna(nil)).Is(200)
		require.Equal(t, calls, s.provider.Calls(oidctest.Discovery), "not asked again at once")
		s.provider.Does(oidctest.Wrong{})
	})
	t.Run("nobody is sent to a provider that does not answer any more, and who is on the way comes back", func(t *testing.T) {
		s.Travel(2 * time.Minute)
		b := s.browser(t)
		begun := b.answered(b.client().Post("/auth/login/organization", nil))
		s.Travel(2 * time.Minute)
		s.provider.Does(step(oidctest.Discovery, down))
		s.Visitor().For(t).Post("/auth/login/organization", nil).Fails(503, "svc_unavailable")
		calls := s.provider.Calls(oidctest.Discovery)
		s.Visitor().For(t).Post("/auth/login/organization", nil).Fails(503, "svc_unavailable")
		require.Equal(t, calls, s.provider.Calls(oidctest.Discovery), "one waits for it, not everybody")
		b.comeBack(begun).Is(200)
		s.provider.Does(oidctest.Wrong{})
		s.Travel(11 * time.Second)
		s.browser(t).signIn(anna(nil)).Is(200)
	})
}

func TestAProviderThatIsDescribedWronglyIsNotUsed(t *testing.T) {
	t.Parallel()
	s := startOrganization(t, "")
	for what, change := range map[string]func(oidctest.Claims){
		"another issuer":                func(c oidctest.Claims) { c["issuer"] = "https://other.example" },
		"no address to sign in":         func(c oidctest.Claims) { delete(c, "authorization_endpoint") },
		"an address that is a script":   func(c oidctest.Claims) { c["authorization_endpoint"] = "javascript:alert(1)" },
		"a sign-out that is no address": func(c oidctest.Claims) { c["end_session_endpoint"] = "javascript:alert(1)" },
	} {
		t.Run(what, func(t *testing.T) {
			s.provider.Does(oidctest.Wrong{Document: change})
			s.Visitor().For(t).Post("/auth/login/organization", nil).Fails(503, "svc_unavailable")
		})
	}
	t.Run("an address inside", func(t *testing.T) {
		inside := startOrganization(t, "", func(c *app.Config) { c.Receivers = fetch.Allowed{} })
		inside.Visitor().For(t).Post("/auth/login/organization", nil).Fails(503, "svc_unavailable")
		require.Zero(t, inside.provider.Calls(oidctest.Discovery))
	})
	t.Run("none", func(t *testing.T) {
		none := start(t)
		for path, body := range map[string]map[string]any{"/auth/login/organization": {}, "/auth/login/organization/answer": {"state": "x"}, "/auth/login/organization/code": {"ticket": "x"}, "/auth/organization/logout": {"logout_token": "x"}} {
			none.Visitor().For(t).Post(path, body).Fails(404, "svc_not_found")
		}
		admin(t, none).Post("/auth/confirm/organization", nil).Fails(404, "svc_not_found")
	})
}

func TestRolesAreThoseOfTheClaimAtEachSignIn(t *testing.T) {
	t.Parallel()
	s := startOrganization(t, "desk=staff, managers=svc_admin,owners=site_admin")
	c := admin(t, s.Service)
	groups := func(sub string, names ...string) oidctest.Claims {
		return oidctest.Claims{"sub": sub, "email": sub + "@example.com", "name": "Person " + sub, "groups": names}
	}
	t.Run("a role of the claim makes a person", func(t *testing.T) {
		b := s.browser(t)
		in := b.signIn(groups("carl", "desk", "others", "managers")).Is(200)
		require.Equal(t, "svc_admin", in.Text("role"))
		require.Equal(t, "Person carl", in.Text("name"))
		require.Equal(t, []any{"organization"}, b.client().Get("/auth/session").Is(200).Field("signs_in_by"))
		s.browser(t).signIn(groups("dora")).Fails(403, "svc_forbidden")
		s.browser(t).signIn(oidctest.Claims{"sub": "eve", "groups": []string{"desk"}}).Fails(403, "svc_forbidden") // no address
	})
	t.Run("roles follow the claim and nobody gives them here", func(t *testing.T) {
		b := s.browser(t)
		require.Equal(t, "staff", b.signIn(groups("carl", "desk")).Is(200).Text("role"))
		id := strconv.FormatInt(userID(b.client()), 10)
		a := c.Put("/staff/"+id+"/role", map[string]any{"role": "site_admin"})
		a.Fails(409, "svc_conflict")
		require.Equal(t, "role_of_claim", a.Text("data.reason"))
		c.Post("/staff", map[string]any{"email": "carl@example.com", "role": "svc_admin"}).Fails(409, "svc_conflict")

		other := s.browser(t)
		other.signIn(groups("carl")).Fails(403, "svc_forbidden")
		s.Eventually(func() bool { return b.client().Get("/me").Status == 401 })
		require.Equal(t, "staff", s.browser(t).signIn(groups("carl", "desk")).Is(200).Text("role"))
	})
	t.Run("an administrator is made only by name, and the others are told", func(t *testing.T) {
		b := s.browser(t)
		require.Equal(t, "site_admin", b.signIn(groups("olga", "owners")).Is(200).Text("role"))
		require.Equal(t, "new_administrator", kindsTo(t, s.Service, "admin@example.com")[0])
	})
	t.Run("the last administrator stays", func(t *testing.T) {
		o := startOrganization(t, "owners=site_admin")
		b := o.browser(t)
		last := oidctest.Claims{"sub": "boss", "email": "admin@example.com", "email_verified": true, "groups": []string{"owners"}}
		require.Equal(t, "site_admin", b.signIn(last).Is(200).Text("role"))
		delete(last, "groups")
		require.Equal(t, "site_admin", o.browser(t).signIn(last).Is(200).Text("role"))
		b.client().Get("/me").Is(200)
	})
}

func TestWhereTheOrganizationsAccountIsTheOnlyWayOnlyTheFirstAdministratorHasAPassword(t *testing.T) {
	t.Parallel()
	s := startOrganization(t, "", func(c *app.Config) { c.OIDCOnly = true })
	c := admin(t, s.Service)
	c.Post("/staff", map[string]any{"email": "anna@example.com", "role": "staff"}).Is(201)
	invitation := mails(t, s.Service, "anna@example.com")[0].GetText()
	require.Contains(t, invitation, "/account/sign-in")
	require.NotContains(t, invitation, "token=")
	b := s.browser(t)
	b.signIn(anna(oidctest.Claims{"auth_time": s.Now().Unix()})).Is(200)
	key := b.client().Post("/me/application-passwords", map[string]any{"name": "shop"}).Is(201).Text("password")

	for _, login := range []string{"anna@example.com", "nobody"} {
		a := s.Visitor().Post("/auth/login", map[string]any{"login": login, "password": "whatever it is"})
		a.Fails(403, "svc_forbidden")
		require.Equal(t, "organization_only", a.Text("data.reason"))
	}
	s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": "wrong"}).Fails(401, "svc_unauthorized")
	basic(s.Service, "anna@example.com", key).Get("/me").Is(200)
	s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "anna@example.com"}).Is(200)
	require.NotContains(t, kindsTo(t, s.Service, "anna@example.com"), "password")

	var out strings.Builder
	require.NoError(t, resetPassword(t.Context(), s.Kit, "admin", &out))
	require.Contains(t, out.String(), "/account/password#token=")
	require.ErrorContains(t, resetPassword(t.Context(), s.Kit, "anna@example.com", &out), "SVC_ADMIN_LOGIN")
}

func TestALogoutTokenEndsSessionsOnce(t *testing.T) {
	t.Parallel()
	s := startOrganization(t, "")
	join(t, s.Service, admin(t, s.Service), "anna@example.com", "staff")
	here := signIn(t, s.Service, "anna@example.com", "a long password")
	laptop, phone := s.browser(t), s.browser(t)
	laptop.signIn(anna(nil)).Is(200)
	phone.signIn(anna(oidctest.Claims{"sid": "s2"})).Is(200)
	n := 0
	token := func(more oidctest.Claims) string {
		n++
		claims := oidctest.Claims{"iss": s.provider.URL, "aud": oidctest.ClientID, "iat": s.Now().Unix(), "exp": s.Now().Add(time.Minute).Unix(), "jti": strconv.Itoa(n),
			"events": oidctest.Claims{"http://schemas.openid.net/event/backchannel-logout": oidctest.Claims{}}, "sid": "s1"}
		maps.Copy(claims, more)
		return s.provider.Signed(claims)
	}
	post := func(token string) *apptest.Answer {
		return s.Visitor().Post("/auth/organization/logout", map[string]any{"logout_token": token})
	}
	for what, wrong := range map[string]string{
		"another client": token(oidctest.Claims{"aud": "another"}), "another issuer": token(oidctest.Claims{"iss": "https://other.example"}), "an old one": token(oidctest.Claims{"exp": s.Now().Add(-2 * time.Minute).Unix()}),
		"an ID token": token(oidctest.Claims{"nonce": "x"}), "no event": token(oidctest.Claims{"events": oidctest.Claims{}}), "no id": token(oidctest.Claims{"jti": ""}),
		"nobody": token(oidctest.Claims{"sid": ""}), "nonsense": "x.y.z",
	} {
		t.Run(what, func(*testing.T) { post(wrong).Fails(400, "svc_invalid_token") })
	}
	laptop.client().Get("/me").Is(200)
	one := token(nil)
	post(one).Is(204)
	s.Eventually(func() bool { return laptop.client().Get("/me").Status == 401 })
	phone.client().Get("/me").Is(200)
	post(one).Fails(400, "svc_invalid_token")
	post(token(oidctest.Claims{"sid": "", "sub": "somebody else"})).Is(204)
	post(token(oidctest.Claims{"sid": nil, "sub": "anna-1"})).Is(204)
	s.Eventually(func() bool { return phone.client().Get("/me").Status == 401 })
	here.Get("/me").Is(200)
}
