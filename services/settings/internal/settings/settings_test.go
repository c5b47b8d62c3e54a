package settings

import (
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/services/settings/internal/passwords"
)

// costs are those of a password's hash outside of tests.
var costs = *passwords.Argon

func TestMain(m *testing.M) {
	passwords.Argon = &argon2id.Params{Memory: 1024, Iterations: 1, Parallelism: 1, SaltLength: costs.SaltLength, KeyLength: costs.KeyLength}
	os.Exit(m.Run())
}

const adminPassword = "correct horse battery"

func start(t *testing.T, configure ...func(*app.Config)) *apptest.Service {
	t.Helper()
	return apptest.Start(t, Service, configure...)
}

// signIn is a client with the session of a user of the service's own.
func signIn(t *testing.T, s *apptest.Service, login, password string) *apptest.Client {
	t.Helper()
	a := s.Visitor().Post("/auth/login", map[string]any{"login": login, "password": password})
	a.Is(200)
	return withCookie(s, a)
}

func withCookie(s *apptest.Service, a *apptest.Answer) *apptest.Client {
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	return s.Visitor().With("Cookie", cookie)
}

func admin(t *testing.T, s *apptest.Service) *apptest.Client {
	t.Helper()
	return signIn(t, s, "admin", adminPassword)
}

// withKey is a client with a new application password of the user behind c.
func withKey(t *testing.T, s *apptest.Service, c *apptest.Client, login string, assistant bool) *apptest.Client {
	t.Helper()
	made := c.Post("/me/application-passwords", map[string]any{"name": "a key", "assistant": assistant}).Is(201)
	return basic(s, login, made.Text("password"))
}

func basic(s *apptest.Service, login, password string) *apptest.Client {
	return s.Visitor().With("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login+":"+password)))
}

func TestASessionOrKeyWorksFromItsFirstAnswerUntilItEnds(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a session counts once the sign in is answered however slow the relay is", func(t *testing.T) {
		relay := s.Begin()
		_, err := relay.Exec(t.Context(), `select from relay for update`)
		require.NoError(t, err)
		time.AfterFunc(300*time.Millisecond, func() { _ = relay.Rollback(context.Background()) })
		admin(t, s).Get("/auth/session").Is(200)
	})
	t.Run("the first administrator signs in and out", func(t *testing.T) {
		a := s.Visitor().Post("/auth/login", map[string]any{"login": "ADMIN@example.com", "password": adminPassword}).Is(200)
		require.Equal(t, "site_admin", a.Text("role"))
		require.Len(t, a.Field("capabilities"), 9)
		cookie, err := http.ParseSetCookie(a.Header.Get("Set-Cookie"))
		require.NoError(t, err)
		require.True(t, cookie.HttpOnly)
		require.Equal(t, http.SameSiteLaxMode, cookie.SameSite)

		c := withCookie(s, a)
		require.Equal(t, "admin", c.Get("/me").Is(200).Text("login"))
		require.Equal(t, "app", c.Get("/auth/session").Is(200).Text("channel"))
		out := c.Post("/auth/logout", nil).Is(204)
		require.Contains(t, out.Header.Get("Set-Cookie"), "Max-Age=0")
		s.Eventually(func() bool { return c.Get("/me").Status == 401 })
		s.Visitor().Get("/me").Fails(401, "svc_unauthorized")
		s.Visitor().Post("/auth/logout", nil).Fails(401, "svc_unauthorized")
	})
	t.Run("signing in twice under one key is two sessions", func(t *testing.T) {
		once := s.Visitor().With("Idempotency-Key", "a key of the client's")
		var cookies []string
		for range 2 {
			a := once.Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Is(200)
			require.Empty(t, a.Header.Get("Idempotent-Replayed"))
			withCookie(s, a).Get("/me").Is(200)
			cookies = append(cookies, a.Header.Get("Set-Cookie"))
		}
		require.NotEqual(t, cookies[0], cookies[1])
	})
	t.Run("an application password works until it is revoked", func(t *testing.T) {
		c := admin(t, s)
		made := c.Post("/me/application-passwords", map[string]any{"name": "shop"}).Is(201)
		require.Len(t, strings.ReplaceAll(made.Text("password"), " ", ""), 24)
		key := basic(s, "admin", made.Text("password"))
		require.Equal(t, "admin", key.Get("/me").Is(200).Text("login"))
		key.Get("/auth/session").Fails(401, "svc_unauthorized")

		listed := c.Get("/me/application-passwords").Is(200)
		require.Equal(t, "shop", listed.Text("items.0.name"))
		require.NotContains(t, listed.Body, "password\"")
		c.Delete("/me/application-passwords/"+made.Text("id"), nil).Is(204)
		s.Eventually(func() bool { return key.Get("/me").Status == 401 })
		c.Delete("/me/application-passwords/"+made.Text("id"), nil).Fails(404, "svc_not_found")
	})
	t.Run("the description is open API", func(*testing.T) {
		s.Eventually(func() bool { return strings.Contains(s.Visitor().Get("/openapi.json").Is(200).Body, "/audit-log") })
	})
}

func TestAppsAreSwitchedOnceEverybodyHasConfirmed(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := admin(t, s)
	require.Len(t, c.Get("/apps").Is(200).Items(), 3)
	require.Equal(t, false, c.Patch("/apps/booking", map[string]any{"enabled": false}).Is(200).Field("enabled"))
	require.False(t, s.Kit.Apps.On("booking"))
	c.Patch("/apps/booking", map[string]any{"enabled": true}).Is(200)
	require.True(t, s.Kit.Apps.On("booking"))
	require.Equal(t, "always_on", c.Patch("/apps/contacts", map[string]any{"enabled": false}).Fails(409, "svc_conflict").Text("data.reason"))
	c.Patch("/apps/nothing", map[string]any{"enabled": true}).Fails(404, "svc_not_found")
	c.Patch("/apps/booking", map[string]any{}).Fails(400, "svc_invalid_param")
}
