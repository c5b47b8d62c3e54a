package settings

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
)

const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// kindsTo are the kinds of the mails to an address, the newest first.
func kindsTo(t *testing.T, s *apptest.Service, to string) []string {
	t.Helper()
	var kinds []string
	for _, m := range mails(t, s, to) {
		kinds = append(kinds, strings.TrimPrefix(m.GetKind(), "account."))
	}
	return kinds
}

// withSecondFactor turns the second factor of the caller on, and gives a function for its codes.
func withSecondFactor(t *testing.T, s *apptest.Service, c *apptest.Client) (code func() string) {
	t.Helper()
	secret := c.Post("/auth/two-factor", nil).Is(200).Text("secret")
	code = func() string {
		code, err := totp.GenerateCode(secret, s.Now())
		require.NoError(t, err)
		return code
	}
	c.Post("/auth/two-factor/confirm", map[string]any{"code": code()}).Is(200)
	s.Travel(30 * time.Second)
	return code
}

func TestWrongCodesMakeThePersonWaitLongerAndLongerWhereverTheyAreTyped(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0 })
	c := admin(t, s)
	code := withSecondFactor(t, s, c)
	login := func(code string) *apptest.Answer {
		return s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword, "code": code})
	}
	for range 3 {
		login("000000x").Fails(401, "svc_unauthorized")
	}
	for range 3 {
		c.Delete("/auth/two-factor", map[string]any{"code": "000000x"}).Fails(400, "svc_invalid_param")
	}
	login(code()).Fails(429, "svc_rate_limited") // the right code has to wait too
	c.Delete("/auth/two-factor", map[string]any{"code": code()}).Fails(429, "svc_rate_limited")
	require.Equal(t, []string{"wrong_codes", "two_factor"}, kindsTo(t, s, "admin@example.com"))
	for _, wait := range []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 4 * time.Minute} {
		s.Travel(wait)
		login("000000x").Fails(401, "svc_unauthorized")
		login(code()).Fails(429, "svc_rate_limited")
	}
	require.Len(t, kindsTo(t, s, "admin@example.com"), 2, "one mail")
	s.Travel(8 * time.Minute)
	login(code()).Is(200)
	login("000000x").Fails(401, "svc_unauthorized")
}

func TestOfManyWrongCodesAtOnceFewAreCompared(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0 })
	c := admin(t, s)
	withSecondFactor(t, s, c)
	var all sync.WaitGroup
	statuses := make([]int, 60)
	for i := range statuses {
		all.Go(func() { statuses[i] = c.Delete("/auth/two-factor", map[string]any{"code": fmt.Sprint(i)}).Status })
	}
	all.Wait()
	compared := 0
	for _, status := range statuses {
		if require.Contains(t, []int{400, 429}, status); status == 400 {
			compared++
		}
	}
	require.Equal(t, 6, compared)
}

func TestWhoeverGuessesIsCountedByAccountAndByNetwork(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0.2 }) // two attempts a minute
	t.Run("an account is guessed at under one name only", func(t *testing.T) {
		for i, login := range []string{"admin", "ADMIN@example.com", "Admin", "admin@example.com"} {
			a := s.Visitor().With("X-Forwarded-For", fmt.Sprint("203.0.113.", i)).Post("/auth/login", map[string]any{"login": login, "password": "wrong"})
			require.Equal(t, []int{401, 401, 429, 429}[i], a.Status, login)
		}
	})
	t.Run("a network of IPv6 counts as one visitor", func(t *testing.T) {
		statuses := map[int]int{}
		for i := range 6 {
			a := s.Visitor().With("X-Forwarded-For", fmt.Sprintf("2001:db8:0:1::%x", i+1)).Post("/auth/login", map[string]any{"login": fmt.Sprint("user", i), "password": "wrong"})
			statuses[a.Status]++
		}
		require.Equal(t, map[int]int{401: 2, 429: 4}, statuses)
	})
}

// Whoever has a /48 moves on to the next /64 after each refusal, so all of them share a larger bucket.
func TestASiteOfIPv6SharesALargerLimit(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0.02 }) // one call a minute for a visitor, four for a site
	call := func(address string) int {
		return s.Visitor().With("X-Forwarded-For", address).Post("/auth/login/options", nil).Status
	}
	statuses := map[int]int{}
	for i := range 8 {
		statuses[call(fmt.Sprintf("2001:db8:7:%x::1", i))]++
	}
	require.Equal(t, map[int]int{200: 4, 429: 4}, statuses)
	require.Equal(t, 200, call("2001:db8:8::1"), "another site")
	require.Equal(t, 200, call("203.0.113.9"), "an address of IPv4")
}

func TestTheSessionCookieIsForHTTPSWhereTheSiteIs(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.PublicURL = "https://desk.example" })
	for _, c := range (&http.Response{Header: s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Is(200).Header}).Cookies() {
		require.True(t, c.Secure && c.HttpOnly, c.Name)
		require.Equal(t, http.SameSiteLaxMode, c.SameSite, c.Name)
	}
}

func TestAPasswordDoesNotExpire(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Travel(400 * 24 * time.Hour)
	s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Is(200)
}

func TestKeysAndFactorsAreChangedByWhoHasJustTypedThePassword(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a key is made by a person who has just typed the password", func(t *testing.T) {
		c := admin(t, s)
		key := withKey(t, s, c, "admin", false)
		for _, of := range []func() *apptest.Answer{ // whatever the body says
			func() *apptest.Answer { return key.Post("/me/application-passwords", map[string]any{"name": 1}) },
			func() *apptest.Answer { return key.Post("/auth/two-factor", nil) },
			func() *apptest.Answer { return key.Post("/auth/two-factor/confirm", nil) },
			func() *apptest.Answer { return key.Delete("/auth/two-factor", map[string]any{"code": 1}) },
		} {
			require.Equal(t, "person_only", of().Fails(403, "svc_forbidden").Text("data.reason"))
		}
		s.Travel(11 * time.Minute)
		another := func() *apptest.Answer { return c.Post("/me/application-passwords", map[string]any{"name": "another"}) }
		another().Fails(403, "svc_password_required")
		c.Post("/auth/two-factor", nil).Fails(403, "svc_password_required")
		c.Post("/auth/confirm", map[string]any{"password": "wrong"}).Fails(400, "svc_invalid_param")
		another().Fails(403, "svc_password_required")
		s.Settle()
		require.Equal(t, "refused", c.Get("/audit-log?action=confirm-password").Is(200).Text("items.0.outcome"), "it is no sign-in")
		c.Post("/auth/confirm", map[string]any{"password": adminPassword}).Is(204)
		another().Is(201)
		require.Equal(t, []string{"new_key", "new_key"}, kindsTo(t, s, "admin@example.com"))
	})
	t.Run("a key may be limited and end by itself", func(t *testing.T) {
		c := admin(t, s)
		made := c.Post("/me/application-passwords", map[string]any{"name": "reader", "permissions": []string{"svc_view_contacts"},
			"expires_at": s.Now().Add(time.Hour).Format(time.RFC3339)}).Is(201)
		key := basic(s, "admin", made.Text("password"))
		key.Get("/apps").Is(200)
		require.Equal(t, "svc_manage_crm", key.Get("/settings/privacy").Fails(403, "svc_forbidden").Text("data.permission"))
		listed := func() map[string]any { return c.Get("/me/application-passwords").Is(200).Items()[0] }
		s.Eventually(func() bool { return listed()["last_used_at"] != nil })
		require.Equal(t, "127.0.0.1", listed()["last_address"])
		c.Post("/me/application-passwords", map[string]any{"name": "x", "permissions": []string{"svc_fly"}}).Fails(400, "svc_invalid_param")
		c.Post("/me/application-passwords", map[string]any{"name": "x", "expires_at": s.Now().Format(time.RFC3339)}).Fails(400, "svc_invalid_param")
		s.Travel(time.Hour)
		key.Get("/apps").Fails(401, "svc_unauthorized")
	})
	t.Run("an administrator ends the access of others", func(t *testing.T) {
		c := admin(t, s)
		an := join(t, s, c, "an@example.com", "svc_admin")
		key := withKey(t, s, an, "an@example.com", false)
		withSecondFactor(t, s, an)
		anPath, adminPath := fmt.Sprint("/staff/", userID(an)), fmt.Sprint("/staff/", userID(c))

		an.Get(adminPath+"/access").Fails(403, "svc_forbidden")
		an.Delete(adminPath+"/two-factor", nil).Fails(403, "svc_forbidden")
		c.Get("/staff/99999/access").Fails(404, "svc_not_found")
		access := c.Get(anPath + "/access").Is(200)
		require.Equal(t, true, access.Field("two_factor"))
		require.NotContains(t, access.Body, "hash")
		c.Delete(anPath+"/application-passwords/"+access.Text("application_passwords.0.id"), nil).Is(204)
		s.Eventually(func() bool { return key.Get("/apps").Status == 401 })
		c.Delete(anPath+"/sessions/"+access.Text("sessions.0.id"), nil).Is(204)
		s.Eventually(func() bool { return an.Get("/me").Status == 401 })
		c.Delete(anPath+"/two-factor", nil).Is(204)
		require.Equal(t, "svc_admin", signIn(t, s, "an@example.com", "a long password").Get("/me").Is(200).Text("role"), "without a code")
		require.Subset(t, kindsTo(t, s, "an@example.com"), []string{"key_ended", "session_ended", "two_factor", "new_key"})
		s.Travel(11 * time.Minute)
		c.Delete(anPath+"/two-factor", nil).Fails(403, "svc_password_required")
	})
}

func TestAPersonSeesAndEndsTheirSessions(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0 })
	login := func() *apptest.Client {
		a := s.Visitor().With("User-Agent", firefox).Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Is(200)
		return withCookie(s, a)
	}
	first, second := login(), login()
	list := second.Get("/auth/sessions").Is(200).Items()
	require.Len(t, list, 2)
	require.Equal(t, "Firefox on Linux", list[0]["browser"])
	require.Equal(t, "127.0.0.1", list[0]["address"])
	for _, l := range list {
		if l["current"] == false {
			second.Delete("/auth/sessions/"+l["id"].(string), nil).Is(204)
			second.Delete("/auth/sessions/"+l["id"].(string), nil).Fails(404, "svc_not_found")
		}
	}
	s.Eventually(func() bool { return first.Get("/me").Status == 401 })
	s.Travel(time.Second)
	var newest *apptest.Client
	for range 20 {
		newest = login()
	}
	require.Len(t, newest.Get("/auth/sessions").Is(200).Items(), 20)
	s.Eventually(func() bool { return second.Get("/me").Status == 401 })
}

func TestABrowserThatWasNotUsedBeforeIsMailed(t *testing.T) {
	t.Parallel()
	s := start(t)
	login := func(cookie string) *apptest.Answer {
		return s.Visitor().With("User-Agent", firefox).With("Cookie", cookie).Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Is(200)
	}
	first := login("svc_browser=")
	require.Empty(t, kindsTo(t, s, "admin@example.com"), "the first browser is no news")
	cookies := first.Header.Values("Set-Cookie")
	require.Len(t, cookies, 2)
	known, err := http.ParseSetCookie(cookies[1])
	require.NoError(t, err)
	login(known.Name + "=" + known.Value)
	require.Empty(t, kindsTo(t, s, "admin@example.com"))
	login("svc_browser=made-up")
	sent := mails(t, s, "admin@example.com")
	require.Len(t, sent, 1)
	require.Contains(t, sent[0].GetText(), "met Firefox on Linux vanaf 127.0.0.1")
}

func TestANewPasswordEndsKeysWhereThatIsAsked(t *testing.T) {
	t.Parallel()
	s := start(t)
	key := withKey(t, s, admin(t, s), "admin", false)
	choose := func(password string, endKeys bool) *apptest.Answer {
		s.Travel(2 * time.Minute)
		s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "admin@example.com"}).Is(200)
		return s.Visitor().Post("/auth/password/reset", map[string]any{"token": token(t, mails(t, s, "admin@example.com")[0]), "password": password, "end_keys": endKeys})
	}
	require.Equal(t, "common", choose("Welkom123!", false).Fails(400, "svc_invalid_param").Text("data.details.password.code"))
	choose("another password", false).Is(204)
	key.Get("/apps").Is(200)
	choose("a third password", true).Is(204)
	s.Eventually(func() bool { return key.Get("/apps").Status == 401 })
	require.Contains(t, kindsTo(t, s, "admin@example.com"), "new_password")
}

func TestMailsAndTheAuditLogReachThoseWhomTheyConcern(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a forgotten password of nobody leaves nothing", func(t *testing.T) {
		s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "nobody@example.com"}).Is(200)
		require.Empty(t, mails(t, s, "nobody@example.com"))
		var rows int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from password_request`).Scan(&rows))
		require.Zero(t, rows)
	})
	t.Run("administrators hear of a new one", func(t *testing.T) {
		c := admin(t, s)
		an := join(t, s, c, "an@example.com", "staff")
		c.Put(fmt.Sprintf("/staff/%d/role", userID(an)), map[string]any{"role": "site_admin"}).Is(200)
		require.Equal(t, []string{"new_administrator"}, kindsTo(t, s, "admin@example.com"))
	})
	t.Run("a refusal is in the audit log with the address", func(t *testing.T) {
		c := admin(t, s)
		an := join(t, s, c, "bo@example.com", "staff")
		an.With("X-Forwarded-For", "203.0.113.7").Get("/settings/privacy").Fails(403, "svc_forbidden")
		s.Visitor().With("X-Forwarded-For", "203.0.113.8").Post("/auth/login", map[string]any{"login": "somebody else", "password": "x"}).Fails(401, "svc_unauthorized")
		s.Settle()
		require.Equal(t, "203.0.113.7", c.Get("/audit-log?action=get-privacy-settings").Is(200).Text("items.0.address"))
		refused := c.Get("/audit-log?action=sign-in").Is(200).Items()[0]
		require.Equal(t, "refused", refused["outcome"])
		require.Equal(t, "203.0.113.8", refused["address"])
		require.Nil(t, refused["user_id"])
	})
	t.Run("who sees only their own sees their own audit and mails", func(t *testing.T) {
		c := admin(t, s)
		c.Patch("/settings/roles/staff", map[string]any{"capabilities": []string{"svc_view_contacts", "svc_manage_crm", "svc_manage_integrations"}}).Is(200)
		an := join(t, s, c, "cy@example.com", "staff")
		c.Post("/staff", map[string]any{"email": "bea@example.com", "role": "staff"}).Is(201)
		withKey(t, s, c, "admin", false)
		s.Eventually(func() bool { return an.Get("/settings/privacy").Status == 200 })
		s.Settle()
		anID := float64(userID(an))
		entries := an.Get("/audit-log").Is(200)
		require.NotEmpty(t, entries.Items())
		require.EqualValues(t, len(entries.Items()), entries.Field("total"))
		for _, e := range entries.Items() {
			require.Equal(t, anID, e["user_id"])
		}
		require.NotContains(t, an.Get("/exports/audit-log.csv").Is(200).Body, "create-application-password")
		sent := an.Get("/mails").Is(200)
		require.Len(t, sent.Items(), 1)
		require.EqualValues(t, 1, sent.Field("total"))
		require.Equal(t, "cy@example.com", sent.Text("items.0.to"))
		require.Greater(t, len(c.Get("/mails").Is(200).Items()), 2)
	})
}
