package site

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/document"
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
	var inside *Room
	s := apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		inside = New(k, nil)
		inside.Settings(set)
		require.NoError(t, k.DB.Do(t.Context(), func(tx *db.Tx) error { return document.Add(t.Context(), tx, inside.First()) }))
		return []app.Room{{Name: "document", Parts: document.New(k).Parts()}, {Name: "site", Parts: inside.Parts()}}
	})
	inside.client = &http.Client{Transport: answering{s.URL}}
	inside.pageAt = func(context.Context, *db.Tx, string) (bool, error) { return false, nil }
	c := s.As("site_admin")
	c.Post("/settings/portal/check-host", nil).Fails(409, "svc_conflict")
	check := func(host string) *apptest.Answer {
		c.Patch("/settings/portal", map[string]any{"host": host}).Is(200)
		return c.Post("/settings/portal/check-host", nil).Is(200)
	}
	require.Equal(t, false, check("down.example.com").Field("host_https"))
	away := check("elsewhere.example.com")
	require.Equal(t, true, away.Field("host_https"))
	require.Equal(t, false, away.Field("host_reachable"))
	require.Equal(t, "http://localhost:8080/team", away.Text("url"))
	here := check("Team.example.com")
	require.Equal(t, true, here.Field("host_active"))
	require.Equal(t, "https://team.example.com", here.Text("url"))
	require.Nil(t, c.Patch("/settings/portal", map[string]any{"host": ""}).Is(200).Field("host_reachable"))
}
