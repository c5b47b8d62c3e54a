package site

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/fetch"
)

// answering is a client that reaches the service whatever host is asked for.
type answering struct{ url string }

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "elsewhere.example.com" {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader(`{"proof":"no"}`)), Header: http.Header{}}, nil
	}
	if r.URL.Host == "down.example.com" {
		return nil, fetch.ErrRefused
	}
	there, err := http.NewRequestWithContext(r.Context(), r.Method, a.url+r.URL.RequestURI(), nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultTransport.RoundTrip(there)
}

func TestThePortalMovesToAHostThatLeadsHere(t *testing.T) {
	t.Parallel()
	s, inside := start(t, func(c *app.Config) { c.PublicURL = "https://desk.example.com" })
	inside.client = &http.Client{Transport: answering{s.URL}}
	c := s.AsSession("site_admin")
	c.Post("/settings/portal/check-host", nil).Fails(409, "svc_conflict")
	check := func(host string) *apptest.Answer {
		c.Patch("/settings/portal", map[string]any{"host": host}).Is(200)
		return c.Post("/settings/portal/check-host", nil).Is(200)
	}
	require.Equal(t, false, check("down.example.com").Field("host_https"))
	away := check("elsewhere.example.com")
	require.Equal(t, true, away.Field("host_https"))
	require.Equal(t, false, away.Field("host_reachable"))
	require.Equal(t, "https://desk.example.com/team", away.Text("url"))
	here := check("Team.example.com")
	require.Equal(t, true, here.Field("host_active"))
	require.Equal(t, "https://team.example.com", here.Text("url"))
	require.Contains(t, c.Patch("/settings/portal", map[string]any{"host": "Desk.example.com", "path": "admin"}).Fails(400, "svc_invalid_param").Body, `"code":"own"`, "before the path is 409")
	c.Patch("/settings/portal", map[string]any{"path": "admin"}).Fails(409, "svc_conflict")
	c.Patch("/settings/portal", map[string]any{"path": "admin", "logo_id": 424242}).Fails(400, "svc_invalid_param")
	require.Nil(t, c.Patch("/settings/portal", map[string]any{"host": ""}).Is(200).Field("host_reachable"))
}
