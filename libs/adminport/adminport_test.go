package adminport

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyOperatorsReachTheAdminPort(t *testing.T) {
	t.Parallel()
	guarded := Guard(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), "contacts")
	for name, c := range map[string]struct {
		method, host string
		header       map[string]string
		status       int
	}{
		"curl":                     {"GET", "127.0.0.1:9000", nil, 200},
		"curl posts":               {"POST", "[::1]:9000", nil, 200},
		"the name of the service":  {"GET", "contacts:9000", nil, 200},
		"localhost":                {"GET", "LocalHost", nil, 200},
		"the page itself":          {"POST", "localhost:9000", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:9000"}, 200},
		"a link to it":             {"GET", "localhost:9000", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		"a name that was rebound":  {"GET", "evil.example:9000", nil, 403},
		"no name":                  {"GET", "", nil, 403},
		"another site's script":    {"GET", "localhost:9000", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		"another port's script":    {"GET", "localhost:9000", map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
		"another site's form":      {"POST", "localhost:9000", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 403},
		"an old browser's form":    {"POST", "localhost:9000", map[string]string{"Origin": "http://evil.example"}, 403},
		"a name of another's host": {"GET", "contacts.evil.example:9000", nil, 403},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(c.method, "/parked", nil)
			r.Host = c.host
			for k, v := range c.header {
				r.Header.Set(k, v)
			}
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code)
		})
	}
}
