package settings

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestAnOperatorLetsSomebodyInWhoHasLostTheirPassword(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	reset := Service.Commands["reset-password"].Run
	linkFor := func(login string) string {
		var out bytes.Buffer
		require.NoError(t, reset(t.Context(), s.Kit, login, &out))
		return regexp.MustCompile(`https?://\S+`).FindString(out.String())
	}
	tokenOf := func(link string) string {
		u, err := url.Parse(link)
		require.NoError(t, err)
		require.Equal(t, "/account/password", u.Path)
		return strings.TrimPrefix(u.Fragment, "token=")
	}
	first, second := tokenOf(linkFor("ADMIN")), tokenOf(linkFor("admin"))
	choose := func(token string) int {
		return s.Visitor().Post("/auth/password/reset", map[string]any{"token": token, "password": "zacht nevelig dak"}).Status
	}
	require.Equal(t, 410, choose(first), "a newer link ends the one before it")
	require.Equal(t, 204, choose(second))
	require.Equal(t, 410, choose(second), "a link works once")
	s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": "zacht nevelig dak"}).Is(200)
	s.Eventually(func() bool { return len(s.Audited("forgot-password")) == 2 })

	require.ErrorContains(t, reset(t.Context(), s.Kit, "nobody", &bytes.Buffer{}), `"nobody"`)
	admin := signIn(t, s, "admin", "zacht nevelig dak")
	admin.Post("/staff", map[string]any{"name": "Bram", "email": "bram@example.org", "role": "staff"}).Is(201)
	require.ErrorContains(t, reset(t.Context(), s.Kit, "bram@example.org", &bytes.Buffer{}), "invited")
}
