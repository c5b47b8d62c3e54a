package receiver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/signature"
	"frontdesk/services/webhooks/webhookstest"
)

// start runs this room and those below it.
func start(t *testing.T) (*webhookstest.Service, *Room) {
	t.Helper()
	var room *Room
	s := apptest.StartRooms(t, "webhooks", func(k *app.Kit, set *op.Set) []app.Room {
		endpoints := endpoint.New(k, Own(k), func(context.Context, *db.Tx, uuid.UUID) error { return nil })
		room = New(k, endpoints)
		endpoints.Webhooks(set)
		room.Receivers(set)
		return []app.Room{{Name: "endpoint", Parts: endpoints.Parts()}, {Name: "receiver", Parts: room.Parts()}}
	})
	return webhookstest.Of(t, s), room
}

// openReceiver opens the caller's test receiver and returns its path.
func openReceiver(t *testing.T, s *webhookstest.Service, c *apptest.Client) (url, path string) {
	t.Helper()
	url = c.Post("/webhooks/receiver", nil).Is(200).Text("url")
	path, ok := strings.CutPrefix(url, s.Config.PublicURL+"/v1")
	require.True(t, ok, url)
	return url, path
}

func TestATestReceiverIsOfOnePersonForAWhile(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	t.Run("a test receiver says why a signature fails", func(t *testing.T) {
		s := s.In(t)
		person := s.AsSession(auth.SiteAdmin)
		_, path := openReceiver(t, s, person)
		_, secret := s.Subscribe(person, "https://hooks.example.com/in", proto.KindContactCreated)
		now := s.Now()
		for _, c := range []struct {
			secret  string
			at      time.Time
			body    string
			problem any
		}{
			{secret, now, `{"a":1}`, nil},
			{secret, now, `{"a":2}`, "no_match"},
			{signature.NewSecret(), now, `{"a":1}`, "no_match"},
			{secret, now.Add(-6 * time.Minute), `{"a":1}`, "time"},
		} {
			headers, err := signature.Headers(c.secret, "", "evt_1", c.at, []byte(`{"a":1}`))
			require.NoError(t, err)
			from := s.Visitor().With("Cookie", "svc_session=mine").With("Authorization", "Bearer mine")
			for name, value := range headers {
				from = from.With(name, value)
			}
			from.Post(path, c.body).Is(204)
			got := person.Get("/webhooks/receiver").Is(200)
			require.Equal(t, c.problem, got.Field("requests.0.signatures.0.problem"))
			require.Equal(t, c.problem, got.Field("requests.0.signatures.1.problem"))
			require.Equal(t, c.body, got.Text("requests.0.body"))
			require.NotContains(t, got.Body, "mine", "credentials are not kept")
		}
		s.Visitor().With("Content-Type", "text/plain").Post(path, `no JSON, signed by nobody`).Is(204)
		require.Equal(t, "missing", person.Get("/webhooks/receiver").Text("requests.0.signatures.0.problem"))
	})
	t.Run("an erasure empties test receivers and somebody without the right has none", func(t *testing.T) {
		s := s.In(t)
		person := s.AsSession(auth.SiteAdmin)
		_, path := openReceiver(t, s, person)
		s.Visitor().Post(path, `{"email":"gone@example.com"}`).Is(204)
		s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: uuid.NewString(),
			Data: &proto.ForgetPerson{Called: [][]byte{s.Keys.Person("gone@example.com")}}})
		s.Eventually(func() bool { return len(person.Get("/webhooks/receiver").Is(200).Field("requests").([]any)) == 0 })

		s.Role("helper", "all", auth.ViewContacts, auth.ManageIntegrations)
		helper := s.AsSession("helper")
		_, theirs := openReceiver(t, s, helper)
		s.Role("helper", "all", auth.ViewContacts)
		s.Eventually(func() bool { return !s.Identity.Rights(helper.UserID)[auth.ManageIntegrations] })
		require.NoError(t, room.Expire(t.Context()))
		s.Visitor().Post(theirs, `{}`).Fails(404, "svc_not_found")
		s.Visitor().Post(path, `{}`).Is(204)
	})
	t.Run("a test receiver is no open bin", func(t *testing.T) {
		s := s.In(t)
		person := s.AsSession(auth.SiteAdmin)
		_, path := openReceiver(t, s, person)
		key := s.As(auth.SiteAdmin)
		for _, route := range []string{"GET /webhooks/receiver", "POST /webhooks/receiver", "DELETE /webhooks/receiver"} {
			s.Visitor().Call(route, nil).Fails(401, "svc_unauthorized")
			key.Call(route, nil).Fails(403, "svc_forbidden")
			s.AsSession("staff").Call(route, nil).Fails(403, "svc_forbidden")
		}
		colleague := s.AsSession(auth.SiteAdmin)
		for n := range requestsKept + 3 {
			s.Visitor().Post(path, fmt.Sprintf(`{"n":%d}`, n)).Is(204)
		}
		got := person.Get("/webhooks/receiver").Is(200)
		require.Len(t, got.Field("requests"), requestsKept)
		require.Equal(t, `{"n":22}`, got.Text("requests.0.body"))
		require.Empty(t, colleague.Get("/webhooks/receiver").Is(200).Field("requests"), "everybody sees their own")
		hook, _ := s.Subscribe(colleague, "https://hooks.example.com/in", proto.KindContactCreated)
		colleague.Post("/webhooks/"+hook+"/try", nil).Fails(409, "svc_conflict")

		big := s.Visitor().With("Content-Type", "text/plain")
		big.Post(path, strings.Repeat("x", 40_000)).Is(204)
		got = person.Get("/webhooks/receiver").Is(200)
		require.Len(t, got.Text("requests.0.body"), bodyKept)
		require.EqualValues(t, 40_000, got.Field("requests.0.size"))
		big.Post(path, strings.Repeat("x", requestMax+1)).Fails(413, "svc_too_large")
		s.Visitor().Post(path[:len(path)-1]+"0", `{}`).Fails(404, "svc_not_found")

		s.Travel(openFor + time.Second)
		s.Visitor().Post(path, `{}`).Fails(404, "svc_not_found")
		require.Nil(t, person.Get("/webhooks/receiver").Is(200).Field("url"))
		require.NoError(t, room.Expire(t.Context()))
		var left int
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select count(*) from test_request`).Scan(&left))
		require.Zero(t, left)
		_, renewed := openReceiver(t, s, person)
		require.NotEqual(t, path, renewed)
		person.Delete("/webhooks/receiver", nil).Is(204)
		s.Visitor().Post(renewed, `{}`).Fails(404, "svc_not_found")
	})
}

func TestATestReceiverTakesEveryRequestWhateverItsHeaders(t *testing.T) {
	t.Parallel()
	s, _ := start(t)
	person := s.AsSession(auth.SiteAdmin)
	_, path := openReceiver(t, s, person)
	sender := s.Visitor().With("Idempotency-Key", "one for each event")
	for _, body := range []string{`{"n":1}`, `{"n":1}`, `{"n":2}`} {
		require.Empty(t, sender.Post(path, body).Is(204).Header.Get("Idempotent-Replayed"))
	}
	for name, value := range map[string]string{"Accept": "image/png", "If-Match": "nonsense", "Authorization": "Bearer nonsense", "Cookie": "svc_session=nonsense", "Content-Type": ";;",
		"Content-Encoding": "gzip", "Sec-Fetch-Site": "cross-site"} {
		s.Visitor().With(name, value).Post(path, `{}`).Is(204)
	}
	require.Len(t, person.Get("/webhooks/receiver").Is(200).Field("requests"), 10)
}
