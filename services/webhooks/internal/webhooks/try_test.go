package webhooks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

// openTestReceiver opens the caller's test receiver and returns its path.
func (r *running) openTestReceiver(c *apptest.Client) (url, path string) {
	r.t.Helper()
	url = c.Post("/webhooks/receiver", nil).Is(200).Text("url")
	path, ok := strings.CutPrefix(url, r.Config.PublicURL+"/v1")
	require.True(r.t, ok, url)
	return url, path
}

func TestATestReceiverShowsWhatArrivesAndWhichSecretSignedIt(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.WebhookLocal, c.PublicURL = false, "http://10.0.0.7:8080" })
	person := s.AsSession(auth.SiteAdmin)
	empty := person.Get("/webhooks/receiver").Is(200)
	require.Nil(t, empty.Field("url"))
	url, _ := s.openTestReceiver(person)
	again, _ := s.openTestReceiver(person)
	require.Equal(t, url, again, "another hour, and the same address")

	// The address is inside a private network: the delivery makes no connection.
	id, _ := s.subscribe(person, url, proto.KindContactCreated)
	event := s.contact(proto.KindContactCreated, uuid.NewString(), 1)
	s.Eventually(func() bool {
		st := s.statuses(person, id)
		return len(st) == 1 && st[0] == "delivered"
	})
	got := person.Get("/webhooks/receiver").Is(200)
	require.Len(t, got.Field("requests"), 1)
	require.Contains(t, got.Text("requests.0.body"), "evt_"+event)
	for i, header := range []string{"X-Svc-Signature", "webhook-signature"} {
		at := fmt.Sprintf("requests.0.signatures.%d.", i)
		require.Equal(t, header, got.Field(at+"header"))
		require.Nil(t, got.Field(at+"problem"))
		require.Equal(t, []any{map[string]any{"webhook": id, "name": "receiver", "which": "current"}}, got.Field(at+"signed_by"))
	}

	// A test of a webhook with another address comes here too, signed by both of its secrets, and its log does not grow.
	other := person.Post("/webhooks", map[string]any{"name": "Real", "url": "https://hooks.example.com/in", "events": []string{proto.KindContactCreated}, "active": false}).Is(201).Text("webhook.id")
	person.Post("/webhooks/"+other+"/secret", map[string]any{"keep_old": true}).Is(200)
	tried := person.Post("/webhooks/"+other+"/try", nil).Is(200)
	require.Equal(t, "current", tried.Field("signatures.0.signed_by.0.which"))
	require.Equal(t, "old", tried.Field("signatures.1.signed_by.1.which"))
	require.Equal(t, tried.Text("id"), person.Get("/webhooks/receiver").Text("requests.0.id"))
	require.Empty(t, s.statuses(person, other))
	person.Post("/webhooks/"+uuid.NewString()+"/try", nil).Fails(404, "svc_not_found")
}

func TestATestReceiverIsOfOnePersonForAWhile(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a test receiver says why a signature fails", func(t *testing.T) {
		s := s.in(t)
		person := s.AsSession(auth.SiteAdmin)
		_, path := s.openTestReceiver(person)
		_, secret := s.subscribe(person, "https://hooks.example.com/in", proto.KindContactCreated)
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
	t.Run("a delivery to a test receiver that has ended says so", func(t *testing.T) {
		s := s.in(t)
		person := s.AsSession(auth.SiteAdmin)
		url, _ := s.openTestReceiver(person)
		id, _ := s.subscribe(person, url, proto.KindContactCreated)
		person.Delete("/webhooks/receiver", nil).Is(204)
		require.Contains(t, person.Post("/webhooks/"+id+"/test", nil).Is(200).Text("error"), "test receiver at this address has ended")
	})
	t.Run("an erasure empties test receivers and somebody without the right has none", func(t *testing.T) {
		s := s.in(t)
		person := s.AsSession(auth.SiteAdmin)
		_, path := s.openTestReceiver(person)
		s.Visitor().Post(path, `{"email":"gone@example.com"}`).Is(204)
		s.Send(apptest.Event{Topic: proto.ForgetTopic, Kind: proto.KindForgetPerson, Key: uuid.NewString(),
			Data: &proto.ForgetPerson{Called: [][]byte{s.Keys.Person("gone@example.com")}}})
		s.Eventually(func() bool { return len(person.Get("/webhooks/receiver").Is(200).Field("requests").([]any)) == 0 })

		s.Role("helper", "all", auth.ViewContacts, auth.ManageIntegrations)
		helper := s.AsSession("helper")
		_, theirs := s.openTestReceiver(helper)
		s.Role("helper", "all", auth.ViewContacts)
		s.Eventually(func() bool { return !s.Identity.Rights(helper.UserID)[auth.ManageIntegrations] })
		require.NoError(t, s.expire(t.Context()))
		s.Visitor().Post(theirs, `{}`).Fails(404, "svc_not_found")
		s.Visitor().Post(path, `{}`).Is(204)
	})
	t.Run("a test receiver is no open bin", func(t *testing.T) {
		s := s.in(t)
		person := s.AsSession(auth.SiteAdmin)
		_, path := s.openTestReceiver(person)
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
		hook, _ := s.subscribe(colleague, "https://hooks.example.com/in", proto.KindContactCreated)
		colleague.Post("/webhooks/"+hook+"/try", nil).Fails(409, "svc_conflict")

		big := s.Visitor().With("Content-Type", "text/plain")
		big.Post(path, strings.Repeat("x", 40_000)).Is(204)
		got = person.Get("/webhooks/receiver").Is(200)
		require.Len(t, got.Text("requests.0.body"), bodyKept)
		require.EqualValues(t, 40_000, got.Field("requests.0.size"))
		big.Post(path, strings.Repeat("x", requestMax+1)).Fails(413, "svc_too_large")
		s.Visitor().Post(path[:len(path)-1]+"0", `{}`).Fails(404, "svc_not_found")

		s.Travel(receiverFor + time.Second)
		s.Visitor().Post(path, `{}`).Fails(404, "svc_not_found")
		require.Nil(t, person.Get("/webhooks/receiver").Is(200).Field("url"))
		require.NoError(t, s.expire(t.Context()))
		var left int
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select count(*) from test_request`).Scan(&left))
		require.Zero(t, left)
		_, renewed := s.openTestReceiver(person)
		require.NotEqual(t, path, renewed)
		person.Delete("/webhooks/receiver", nil).Is(204)
		s.Visitor().Post(renewed, `{}`).Fails(404, "svc_not_found")
	})
}
