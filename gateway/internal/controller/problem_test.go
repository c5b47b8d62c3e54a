package controller

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/authority"
	"frontdesk/libs/freeport"
)

// A certificate that cannot be used and brokers that are away are no reason to serve nothing, so the routes are in force all the while.
func TestAProblemIsOnThePageUntilItsOwnSubjectSucceedsAndInTheLogOnce(t *testing.T) {
	traefik := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "OK") }))
	defer traefik.Close()
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))

	dir := t.TempDir()
	pair := filepath.Join(dir, "site.pem")
	a, err := authority.Open(dir)
	require.NoError(t, err)
	require.NoError(t, a.Issue(pair, "site", "localhost"))
	s, err := SettingsFrom(environment(map[string]string{"SVC_GATEWAY_URL": traefik.URL, "SVC_DATA_DIR": dir, "KAFKA_BROKERS": freeport.Address(),
		"SVC_PUBLIC_URL": "https://localhost", "SVC_HTTPS_LISTEN": freeport.Address(), "SVC_TLS_CERT": pair, "SVC_TLS_KEY": pair}))
	require.NoError(t, err)
	require.NoError(t, s.WriteFiles(""))
	c := New(s)
	attention := func() string {
		_, body := get(c, "/")
		require.Contains(t, body, "Routes in force")
		_, after, _ := strings.Cut(body, "Needs attention")
		return after
	}

	c.apply(t.Context())
	require.NotContains(t, attention(), "certificate")
	require.Contains(t, attention(), "presence cannot be published")

	whole, err := os.ReadFile(pair)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(pair, []byte("half a file"), 0o600))
	for range 3 {
		c.apply(t.Context())
		require.Contains(t, attention(), "the certificate cannot be used")
		require.Contains(t, attention(), "presence cannot be published")
	}
	require.Equal(t, 1, strings.Count(log.String(), "the certificate cannot be used"))
	require.Equal(t, 1, strings.Count(log.String(), "presence cannot be published"))

	require.NoError(t, os.WriteFile(pair, whole, 0o600))
	c.apply(t.Context())
	require.NotContains(t, attention(), "certificate")
	require.Contains(t, attention(), "presence cannot be published")
}

func TestWhatIsLeftOutIsInTheLogEachTimeThatItBegins(t *testing.T) {
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	c := idle(t)
	for _, refusals := range [][]string{{"a", "b"}, {"a", "b"}, {"b"}, {"a", "b"}} {
		c.leftOut(t.Context(), refusals)
	}
	require.Equal(t, 2, strings.Count(log.String(), "what=a"))
	require.Equal(t, 1, strings.Count(log.String(), "what=b"))
}
