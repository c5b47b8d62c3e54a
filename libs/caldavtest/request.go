package caldavtest

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/icholy/digest"
	"github.com/stretchr/testify/require"
)

// do makes a request as the person.
func (s Server) do(t testing.TB, method, at, body string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Depth", "1")
	r.Header.Set("Content-Type", "application/xml; charset=utf-8")
	if method == http.MethodPut {
		r.Header.Set("Content-Type", "text/calendar; charset=utf-8")
	}
	client := &http.Client{Transport: &digest.Transport{Username: s.Username, Password: Password}}
	if s.Name == "Radicale" {
		r.SetBasicAuth(s.Username, Password)
		client = http.DefaultClient
	}
	res, err := client.Do(r)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(raw)
}
