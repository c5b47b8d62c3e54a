package web_test

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
)

// signIn is a first administrator's session cookie.
func signIn(t *testing.T, s *apptest.Service) string {
	t.Helper()
	in := do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}})
	require.Equal(t, 303, in.status)
	return cookie(in)
}

func TestTheAccountTellsThatASecondFactorIsMissing(t *testing.T) {
	t.Parallel()
	s := start(t)
	own := signIn(t, s)
	c := s.Visitor().With("Cookie", own)
	const missing = "you do not have one yet"
	require.NotContains(t, do(t, s, "GET", "/account", nil, "Cookie", own).body, missing)
	c.Patch("/settings/portal", map[string]any{"require_2fa": true}).Is(200)
	s.Eventually(func() bool { return c.Get("/apps").Status == 403 })
	require.Contains(t, do(t, s, "GET", "/account", nil, "Cookie", own).body, missing)
	require.Equal(t, "/account", do(t, s, "GET", "/account/sign-in?next=/team", nil, "Cookie", own).header.Get("Location"), "the team's pages would send it back here")

	secret := c.Post("/auth/two-factor", nil).Is(200).Text("secret")
	code, err := totp.GenerateCode(secret, s.Now())
	require.NoError(t, err)
	c.Post("/auth/two-factor/confirm", map[string]any{"code": code}).Is(200)
	s.Eventually(func() bool { return c.Get("/apps").Status == 200 })
	shown := do(t, s, "GET", "/account", nil, "Cookie", own).body
	require.NotContains(t, shown, missing)
	require.Contains(t, shown, "Signing in asks for a code")
}

// withKey is the administrator with an application password.
func withKey(s *apptest.Service, password string) *apptest.Client {
	return s.Visitor().With("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte("admin:"+password)))
}

// madeKey is the password of the application password that a page shows.
var madeKey = regexp.MustCompile(`<dd class="key" translate="no">([A-Za-z0-9 ]+)</dd>`)

func TestWhoIsSignedInSeesTheirAccountUntilTheySignOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a person ends all other sessions on a page", func(t *testing.T) {
		others := []string{signIn(t, s), signIn(t, s)}
		own := signIn(t, s)
		require.Contains(t, do(t, s, "GET", "/account/access", nil, "Cookie", own).body, "Sign out all other browsers")
		require.Equal(t, "/account/access", do(t, s, "POST", "/account/access", url.Values{"others": {"true"}}, "Cookie", own).header.Get("Location"))
		for _, other := range others {
			s.Eventually(func() bool { return s.Visitor().With("Cookie", other).Get("/me").Status == 401 })
		}
		require.NotContains(t, do(t, s, "GET", "/account/access", nil, "Cookie", own).body, "Sign out all other browsers")
	})
	t.Run("who is signed in sees their account and signs out", func(t *testing.T) {
		nobody := do(t, s, "GET", "/account?lang=de", nil)
		require.Equal(t, 303, nobody.status)
		require.Equal(t, "/account/sign-in?lang=de&next=%2Faccount", nobody.header.Get("Location"))
		require.Equal(t, "no-store", nobody.header.Get("Cache-Control"))

		own := signIn(t, s)
		shown := do(t, s, "GET", "/account", nil, "Cookie", own)
		require.Equal(t, 200, shown.status)
		require.Equal(t, "no-store", shown.header.Get("Cache-Control"))
		require.Regexp(t, `(?s)<dt>Login</dt><dd>admin</dd>.*admin@example\.com.*<dt>Role</dt><dd>Administrator</dd>.*Your password alone`, shown.body)
		require.Contains(t, do(t, s, "GET", "/account?lang=fr", nil, "Cookie", own).body, "<dd>Administrateur</dd>")
		change := do(t, s, "GET", "/account/password", nil, "Cookie", own)
		require.Contains(t, change.body, `value="admin@example.com"`)
		require.Contains(t, change.body, "Change your password")

		for asked, leads := range map[string]string{"": "/account", "?next=/team/calendar": "/team/calendar", "?next=https://evil.example/": "/account", "?next=/account/sign-in": "/account"} {
			sent := do(t, s, "GET", "/account/sign-in"+asked, nil, "Cookie", own)
			require.Equal(t, 303, sent.status, asked)
			require.Equal(t, leads, sent.header.Get("Location"), asked)
			require.Equal(t, "no-store", sent.header.Get("Cache-Control"))
		}

		require.Equal(t, "/account", do(t, s, "GET", "/account/sign-out", nil, "Cookie", own).header.Get("Location"))
		foreign := do(t, s, "POST", "/account/sign-out", url.Values{}, "Cookie", own, "Origin", "https://evil.example")
		require.Equal(t, 403, foreign.status)
		require.Contains(t, foreign.body, "This could not be accepted.")
		s.Visitor().With("Cookie", own).Get("/me").Is(200)

		for range 2 {
			out := do(t, s, "POST", "/account/sign-out", url.Values{}, "Cookie", own)
			require.Equal(t, 200, out.status)
			require.Contains(t, out.body, "You are signed out")
		}
		s.Eventually(func() bool { return do(t, s, "GET", "/account", nil, "Cookie", own).status == 303 })
		s.Eventually(func() bool { return s.Visitor().With("Cookie", own).Get("/me").Status == 401 })
		require.Equal(t, 200, do(t, s, "GET", "/account/sign-in", nil, "Cookie", own).status, "a session that has ended signs nobody in")
	})
	t.Run("signing out takes the cookie away", func(t *testing.T) {
		out := do(t, s, "POST", "/account/sign-out", url.Values{}, "Cookie", signIn(t, s))
		require.Regexp(t, `^svc_session=;.*Max-Age=0`, out.header.Get("Set-Cookie"))
	})
	t.Run("a company profile is confirmed by mail", func(t *testing.T) {
		c := s.Visitor().With("Cookie", signIn(t, s))
		agree := func(email string) string {
			t.Helper()
			c.Patch("/settings/telemetry", map[string]any{"profile": true, "profile_data": map[string]any{"email": email, "company": "Lux"}}).Is(200)
			return mailedToken(t, s, email, "/account/telemetry")
		}
		post := func(token string, more ...string) page {
			t.Helper()
			return do(t, s, "POST", "/account/telemetry", url.Values{"token": {token}}, more...)
		}
		first := agree("boss@example.com")
		shown := do(t, s, "GET", "/account/telemetry", nil)
		require.Equal(t, 200, shown.status)
		require.Contains(t, shown.body, "data-code")
		require.Equal(t, "no-store", shown.header.Get("Cache-Control"))
		require.Empty(t, shown.header.Get("Set-Cookie"))
		require.Equal(t, 403, post(first, "Origin", "https://evil.example").status)

		wrong := post("x" + first)
		require.Equal(t, 422, wrong.status)
		require.Contains(t, wrong.body, "This code is not right.")
		require.Equal(t, "x"+first, hidden(t, wrong, "token"), "what was typed stays")
		require.Equal(t, 422, post("").status)

		second := agree("other@example.com")
		replaced := post(first)
		require.Equal(t, 410, replaced.status)
		require.Contains(t, replaced.body, "enter the address in the settings once more")

		done := post(" http://localhost:8080/account/telemetry#token=" + second + " ")
		require.Equal(t, 200, done.status)
		require.Contains(t, done.body, "Thank you, your profile is confirmed")
		again := do(t, s, "POST", "/account/telemetry?lang=nl", url.Values{"token": {second}})
		require.Equal(t, 410, again.status)
		require.Contains(t, again.body, "Hebt u al op de knop gedrukt, dan is alles in orde.")
	})
	t.Run("a second factor is set up and turned off on a page", func(t *testing.T) {
		require.Equal(t, "/account/sign-in?next=%2Faccount%2Fsecond-factor", do(t, s, "GET", "/account/second-factor", nil).header.Get("Location"))
		own := signIn(t, s)
		post := func(form url.Values, more ...string) page {
			t.Helper()
			return do(t, s, "POST", "/account/second-factor", form, append([]string{"Cookie", own}, more...)...)
		}
		require.Contains(t, do(t, s, "GET", "/account", nil, "Cookie", own).body, `<a href="/account/second-factor">Set up a second factor</a>`)
		require.Contains(t, do(t, s, "GET", "/account/second-factor?lang=nl", nil, "Cookie", own).body, "Een tweede factor instellen")
		require.Equal(t, 403, post(url.Values{"act": {"start"}}, "Origin", "https://evil.example").status)
		require.Equal(t, 303, post(url.Values{"act": {"confirm"}, "secret": {"forged"}, "code": {"123456"}}).status)
		require.Equal(t, 303, post(url.Values{}).status)

		shown := post(url.Values{"act": {"start"}})
		require.Equal(t, 200, shown.status)
		require.Equal(t, "no-store", shown.header.Get("Cache-Control"))
		require.Regexp(t, `href="otpauth://totp/[^"]+:admin\?`, shown.body)
		require.Contains(t, shown.body, `<svg viewBox="-4 -4 `)
		sealed := hidden(t, shown, "secret")
		key := regexp.MustCompile(`translate="no">([A-Z2-7 ]+)<`).FindStringSubmatch(shown.body)
		require.NotNil(t, key)
		require.NotContains(t, sealed, key[1][:4])
		code := func() string {
			t.Helper()
			code, err := totp.GenerateCode(strings.ReplaceAll(key[1], " ", ""), s.Now())
			require.NoError(t, err)
			return code
		}

		wrong := post(url.Values{"act": {"confirm"}, "secret": {sealed}, "code": {"12"}})
		require.Equal(t, 422, wrong.status)
		require.Contains(t, wrong.body, "This code is not right.")
		require.Contains(t, wrong.body, key[1], "the key stays")
		done := post(url.Values{"act": {"confirm"}, "secret": {hidden(t, wrong, "secret")}, "code": {code()}})
		require.Equal(t, 200, done.status)
		recovery := regexp.MustCompile(`<li class="key">([a-z2-7-]{29})</li>`).FindAllStringSubmatch(done.body, -1)
		require.Len(t, recovery, 10)
		require.Equal(t, 303, post(url.Values{"act": {"confirm"}, "secret": {sealed}, "code": {code()}}).status, "it is on already")
		require.Equal(t, 303, post(url.Values{"act": {"start"}}).status)

		require.Contains(t, do(t, s, "GET", "/account", nil, "Cookie", own).body, "Turn off the second factor")
		require.Equal(t, 422, post(url.Values{"act": {"end"}, "code": {"nothing"}}).status)
		off := post(url.Values{"act": {"end"}, "code": {recovery[0][1]}})
		require.Equal(t, 200, off.status)
		require.Contains(t, off.body, "Your second factor is off")
		require.Equal(t, 303, post(url.Values{"act": {"end"}, "code": {recovery[1][1]}}).status, "it is off already")
		require.Contains(t, do(t, s, "GET", "/account", nil, "Cookie", own).body, "Set up a second factor")
	})
	t.Run("application passwords are made and revoked on a page", func(t *testing.T) {
		require.Equal(t, "/account/sign-in?next=%2Faccount%2Fkeys", do(t, s, "GET", "/account/keys", nil).header.Get("Location"))
		own := signIn(t, s)
		post := func(form url.Values, more ...string) page {
			t.Helper()
			return do(t, s, "POST", "/account/keys", form, append([]string{"Cookie", own}, more...)...)
		}
		require.Equal(t, 403, post(url.Values{"name": {"x"}}, "Origin", "https://evil.example").status)
		require.Contains(t, do(t, s, "GET", "/account/keys?lang=de", nil, "Cookie", own).body, "Sie haben keine.")
		require.Contains(t, post(url.Values{"name": {" "}, "days": {"90"}}).body, "Give a name of at most 100 characters.")
		require.Contains(t, post(url.Values{"name": {"reader"}, "days": {"0"}, "may": {"some"}}).body, "<small>Only: See contacts</small>")
		require.Equal(t, "/account/keys", post(url.Values{"end": {s.Visitor().With("Cookie", own).Get("/me/application-passwords").Is(200).Text("items.0.id")}}).header.Get("Location"))
		require.Equal(t, 422, post(url.Values{"name": {"shop"}, "may": {"some"}, "permission": {"svc_fly"}}).status)

		s.Travel(11 * time.Minute) // the password is no longer recent
		form := url.Values{"name": {"<Shop>"}, "days": {"30"}, "approval": {"destructive"}, "may": {"some"}, "permission": {"svc_manage_forms"}}
		asks := post(form)
		require.Equal(t, 200, asks.status)
		require.Contains(t, asks.body, `autocomplete="current-password"`)
		require.Regexp(t, `(?s)value="&lt;Shop&gt;".*value="30" selected.*value="some" checked.*value="svc_manage_forms" checked`, asks.body, "what was typed stays")
		form.Set("password", "wrong")
		require.Contains(t, post(form).body, "The password is not right.")
		form.Set("password", password)
		made := post(form)
		require.Equal(t, 200, made.status)
		require.Equal(t, "no-store", made.header.Get("Cache-Control"))
		require.Contains(t, made.body, "Only: See contacts, Manage forms")
		key := withKey(s, madeKey.FindStringSubmatch(made.body)[1])
		s.Eventually(func() bool { return key.Get("/apps").Status == 200 })
		key.Get("/settings/privacy").Fails(403, "svc_forbidden")
		c := s.Visitor().With("Cookie", own)
		listed := func() map[string]any { return c.Get("/me/application-passwords").Is(200).Items()[0] }
		s.Eventually(func() bool { return listed()["last_used_at"] != nil })
		ends, err := time.Parse(time.RFC3339, listed()["expires_at"].(string))
		require.NoError(t, err)
		require.WithinDuration(t, s.Now().AddDate(0, 0, 30), ends, time.Minute)

		shown := do(t, s, "GET", "/account/keys", nil, "Cookie", own)
		require.Regexp(t, `(?s)&lt;Shop&gt;.*Last used .*, 127\.0\.0\.1.*Ends .*Only:`, shown.body)
		require.NotContains(t, shown.body, madeKey.FindStringSubmatch(made.body)[1])
		id := listed()["id"].(string)
		require.Contains(t, shown.body, "Approval by a person: What deletes or overwrites waits")
		require.Equal(t, "/account/keys", post(url.Values{"approval": {id + "/writes"}}).header.Get("Location"))
		require.Equal(t, "writes", listed()["approval"])
		for range 2 {
			require.Equal(t, "/account/keys", post(url.Values{"end": {id}}).header.Get("Location"))
		}
		s.Eventually(func() bool { return key.Get("/apps").Status == 401 })
		require.Equal(t, 303, post(url.Values{"end": {"nonsense"}}).status)
	})
}

func TestANewPasswordEndsKeysIfThePersonTicksThat(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.Visitor().With("Cookie", signIn(t, s))
	key := withKey(s, c.Post("/me/application-passwords", map[string]any{"name": "shop"}).Is(201).Text("password"))
	s.Eventually(func() bool { return key.Get("/apps").Status == 200 })
	do(t, s, "POST", "/account/password", url.Values{"step": {"forgot"}, "email": {"admin@example.com"}})
	token := mailedToken(t, s, "admin@example.com", "/account/password")
	short := do(t, s, "POST", "/account/password", url.Values{"step": {"reset"}, "token": {token}, "password": {"short"}, "end_keys": {"true"}})
	require.Contains(t, short.body, `name="end_keys" value="true" checked`, "what was ticked stays")
	require.Equal(t, 200, do(t, s, "POST", "/account/password", url.Values{"step": {"reset"}, "token": {token}, "password": {"another horse"}, "end_keys": {"true"}}).status)
	s.Eventually(func() bool { return key.Get("/apps").Status == 401 })
}

func TestManyCodesHaveToWait(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0.2 }) // two attempts a minute
	var last page
	for range 3 {
		last = do(t, s, "POST", "/account/telemetry", url.Values{"token": {"guess"}})
	}
	require.Equal(t, 429, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	require.Equal(t, "guess", hidden(t, last, "token"))
}
