package endpoint

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/webhookstest"
)

// start runs this room and the one below it.
func start(t *testing.T) *webhookstest.Service {
	t.Helper()
	return webhookstest.Of(t, apptest.StartRooms(t, "webhooks", func(k *app.Kit, set *op.Set) []app.Room {
		messages := message.New(k, nil, nil)
		room := New(k, func(string) bool { return false }, func(context.Context, *db.Tx, uuid.UUID) error { return nil })
		messages.Events(set)
		room.Webhooks(set)
		return []app.Room{{Name: "message", Parts: messages.Parts()}, {Name: "endpoint", Parts: room.Parts()}}
	}))
}

func TestAWebhookIsMadeAndChangedWithinItsRules(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("a webhook is made read changed and deleted", func(t *testing.T) {
		made := admin.Post("/webhooks", map[string]any{"name": " Orders ", "url": "https://hooks.example.com/in",
			"events": []string{proto.KindContactCreated, proto.KindContactCreated, proto.KindFormSubmitted}}).Is(201)
		id, secret := made.Text("webhook.id"), made.Text("secret")
		require.Regexp(t, `^whsec_[A-Za-z0-9+/]{43}=$`, secret)

		got := admin.Get("/webhooks/" + id).Is(200)
		require.Equal(t, made.Field("webhook"), any(got.Map()))
		require.Equal(t, "Orders", got.Text("name"))
		require.Equal(t, []any{proto.KindContactCreated, proto.KindFormSubmitted}, got.Field("events"))
		require.Equal(t, true, got.Field("active"))
		require.Nil(t, got.Field("paused"))
		require.EqualValues(t, 0, got.Field("failures"))
		require.Equal(t, secret[len(secret)-4:], got.Text("secret_hint"))
		require.NotContains(t, got.Body, secret)

		patched := admin.Patch("/webhooks/"+id, map[string]any{"name": "Sales", "active": false}).Is(200)
		require.Equal(t, "Sales", patched.Text("name"))
		require.Equal(t, false, patched.Field("active"))
		require.Equal(t, "https://hooks.example.com/in", patched.Text("url"))

		again := admin.Post("/webhooks/"+id+"/secret", nil).Is(200)
		require.NotEqual(t, secret, again.Text("secret"))
		require.Equal(t, again.Text("webhook.secret_hint"), admin.Get("/webhooks/"+id).Text("secret_hint"))

		list := admin.Get("/webhooks").Is(200)
		require.EqualValues(t, 1, list.Field("total"))
		require.Equal(t, id, list.Text("items.0.id"))
		require.Nil(t, list.Field("next_cursor"))

		admin.Delete("/webhooks/"+id, nil).Is(204)
		admin.Get("/webhooks/"+id).Fails(404, "svc_not_found")
		admin.Delete("/webhooks/"+id, nil).Fails(404, "svc_not_found")

		var actions []string
		for _, e := range s.Events(proto.AuditTopic) {
			a := &proto.Audit{}
			require.NoError(t, protobuf.Unmarshal(e.GetData(), a))
			require.Equal(t, id, a.GetRecordId())
			require.Equal(t, "api", e.GetActor().GetChannel())
			actions = append(actions, a.GetAction())
		}
		require.ElementsMatch(t, []string{"create-webhook", "update-webhook", "regenerate-webhook-secret", "delete-webhook"}, actions)
	})
	t.Run("a webhook is narrowed down and gets another format", func(t *testing.T) {
		cut := uuid.NewString()
		made := admin.Post("/webhooks", map[string]any{"name": "Narrow", "url": "https://hooks.example.com/in", "events": []string{proto.KindAppointmentBooked, proto.KindContactErased},
			"only": map[string]any{"service": []string{cut, strings.ToUpper(cut)}, "tag": []string{}}, "format": "cloudevents"}).Is(201)
		require.Equal(t, map[string]any{"service": []any{cut}}, made.Field("webhook.only"))
		require.Equal(t, "cloudevents", made.Text("webhook.format"))
		path := "/webhooks/" + made.Text("webhook.id")
		require.Equal(t, made.Field("webhook"), any(admin.Get(path).Is(200).Map()))
		admin.Patch(path, map[string]any{"events": []string{proto.KindContactCreated}}).Fails(400, "svc_invalid_param")
		patched := admin.Patch(path, map[string]any{"events": []string{proto.KindContactCreated}, "only": map[string]any{"tag": []string{" VIP ", "VIP"}}, "format": "svc"}).Is(200)
		require.Equal(t, map[string]any{"tag": []any{"VIP"}}, patched.Field("only"))
		require.Equal(t, "svc", patched.Text("format"))
		require.Equal(t, map[string]any{}, admin.Patch(path, map[string]any{"only": map[string]any{}}).Is(200).Field("only"))
		require.Equal(t, map[string]any{}, admin.Get(path).Field("only"))
		admin.Delete(path, nil).Is(204)
	})
	t.Run("what is wrong with a webhook is named", func(t *testing.T) {
		good := map[string]any{"name": "x", "url": "https://example.com/", "events": []string{proto.KindContactCreated}}
		with := func(k string, v any) map[string]any {
			m := map[string]any{}
			for n, x := range good {
				m[n] = x
			}
			if m[k] = v; v == nil {
				delete(m, k)
			}
			return m
		}
		for _, wrong := range []struct {
			param string
			value any
		}{
			{"name", ""}, {"name", "   "}, {"name", strings.Repeat("x", 191)}, {"name", nil}, {"name", 7}, {"name", "a\x00b"},
			{"url", nil}, {"url", ""}, {"url", "http://example.com/"}, {"url", "https://example.com:8443/"}, {"url", "https://127.0.0.1/"},
			{"url", "https://[::1]/"}, {"url", "https://10.0.0.8/"}, {"url", "https://169.254.169.254/latest"}, {"url", "https://0x7f000001/"},
			{"url", "https://2130706433/"}, {"url", "https://[64:ff9b::7f00:1]/"}, {"url", "https://[2002:7f00:1::]/"}, {"url", "https://[2001::1]/"},
			{"url", "https://user:pass@example.com/"}, {"url", "https://bücher.example/"}, {"url", "https://localhost/"}, {"url", "javascript:alert(1)"},
			{"url", "https://example.com/" + strings.Repeat("x", 500)},
			{"events", nil}, {"events", []string{}}, {"events", []string{"contact.made"}}, {"events", []string{"webhook.test"}},
			{"events", []string{proto.KindAppointmentUpdated}}, {"events", proto.KindContactCreated}, {"events", []any{1}},
			{"active", "yes"}, {"colour", "red"}, {"format", "xml"}, {"format", json.RawMessage("null")}, {"only", json.RawMessage("null")}, {"only", []any{}}, {"only", "vip"}, {"only", map[string]any{"colour": []string{"red"}}},
			{"only", map[string]any{"tag": "vip"}}, {"only", map[string]any{"tag": []any{1}}}, {"only", map[string]any{"tag": []any{" "}}}, {"only", map[string]any{"tag": []any{"a\nb"}}},
			{"only", map[string]any{"tag": []any{strings.Repeat("x", 101)}}}, {"only", map[string]any{"tag": []any{nil}}}, {"only", map[string]any{"tag": slices.Repeat([]string{"x"}, 51)}},
			{"only", map[string]any{"service": []any{"cut"}}}, {"only", map[string]any{"form": []any{"3"}}}, {"only", map[string]any{"form": []any{1.5}}},
			{"only", map[string]any{"form": []any{3}}}, {"only", map[string]any{"service": []any{uuid.NewString()}, "tag": []any{"vip"}}},
		} {
			a := admin.Post("/webhooks", with(wrong.param, wrong.value)).Fails(400, "svc_invalid_param")
			params, ok := a.Field("data.params").(map[string]any)
			require.True(t, ok, a.Body)
			require.Len(t, params, 1, a.Body)
			for name := range params {
				require.True(t, strings.HasPrefix(name, wrong.param), a.Body)
			}
		}
		require.EqualValues(t, 0, admin.Get("/webhooks").Is(200).Field("total"))

		id := admin.Post("/webhooks", good).Is(201).Text("webhook.id")
		for _, patch := range []string{`{"url":"http://example.com"}`, `{"events":[]}`, `{"name":null}`, `{"active":null}`, `{"name":""}`, `{"paused":null}`,
			`{"only":null}`, `{"only":{"form":[3]}}`, `{"format":null}`, `{"format":"atom"}`} {
			admin.Patch("/webhooks/"+id, patch).Fails(400, "svc_invalid_param")
		}
		admin.Patch("/webhooks/"+uuid.NewString(), map[string]any{"name": "x"}).Fails(404, "svc_not_found")
		admin.Patch("/webhooks/nonsense", map[string]any{"name": "x"}).Fails(400, "svc_invalid_param")
	})
}

func TestSecretsAndEventsAreShownToWhoMaySeeThem(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("only those who manage integrations see webhooks", func(*testing.T) {
		s.Role("viewer", "all", auth.ViewContacts, auth.ManageCRM)
		viewer := s.As("viewer")
		for route, o := range s.Parts.Ops.Operations() {
			if o.Perm == op.Public {
				continue // the address of a test receiver, see try_test.go
			}
			path := strings.ReplaceAll(route, "{id}", uuid.NewString())
			s.Visitor().Call(path, nil).Fails(401, "svc_unauthorized")
			viewer.Call(path, nil).Fails(403, "svc_forbidden")
		}
	})
	t.Run("a secret is shown once even to a repeated call", func(t *testing.T) {
		admin := s.As(auth.SiteAdmin).With("Idempotency-Key", "only once")
		body := map[string]any{"name": "x", "url": "https://example.com/", "events": []string{proto.KindContactCreated}}
		first := admin.Post("/webhooks", body).Is(201)
		second := admin.Post("/webhooks", body).Is(201)
		require.Equal(t, first.Field("webhook"), second.Field("webhook"))
		require.NotEmpty(t, first.Text("secret"))
		require.Nil(t, second.Field("secret"))
		require.EqualValues(t, 1, admin.Get("/webhooks").Field("total"))

		id := first.Text("webhook.id")
		again := admin.Post("/webhooks/"+id+"/secret", nil).Is(200)
		require.NotEmpty(t, again.Text("secret"))
		require.Nil(t, admin.Post("/webhooks/"+id+"/secret", nil).Is(200).Field("secret"))

		var sealed []byte
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select secret from webhook where id = $1`, id).Scan(&sealed))
		require.NotContains(t, string(sealed), again.Text("secret"))
		var stored string
		require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select string_agg(convert_from(answer, 'UTF8'), '') from idempotency`).Scan(&stored))
		require.NotContains(t, stored, "whsec_")
	})
	t.Run("only events of apps that are on can be chosen", func(t *testing.T) {
		admin := s.As(auth.SiteAdmin)
		others := 0
		for _, e := range admin.Get("/webhooks/events").Is(200).Items() {
			if e["app"] != "booking" {
				others++
			}
		}
		id, _ := s.Subscribe(admin, "https://example.com/", proto.KindAppointmentBooked, proto.KindContactCreated)

		s.SetApp("booking", false)
		list := admin.Get("/webhooks/events").Is(200)
		require.EqualValues(t, others, list.Field("total"))
		require.Positive(t, others)
		for _, e := range list.Items() {
			require.NotEqual(t, "booking", e["app"])
			require.NotEmpty(t, e["label"])
		}
		admin.Post("/webhooks", map[string]any{"name": "x", "url": "https://example.com/", "events": []string{proto.KindAppointmentBooked}}).
			Fails(400, "svc_invalid_param")
		// What was chosen before stays, and counts again when the app is back.
		admin.Patch("/webhooks/"+id, map[string]any{"events": []string{proto.KindAppointmentBooked, proto.KindContactUpdated}}).Is(200)
		admin.Patch("/webhooks/"+id, map[string]any{"events": []string{proto.KindAppointmentConfirmed}}).Fails(400, "svc_invalid_param")
	})
}

func TestASecretThatCannotBeReadIsNotKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	id, _ := s.Subscribe(admin, "https://example.com/", proto.KindContactCreated)
	_, err := s.DB.Pool.Exec(t.Context(), `update webhook set secret = $2 where id = $1`, id, app.NewKeys(app.Config{MasterKey: "another"}).Seal(purposeOf(id), []byte("x")))
	require.NoError(t, err)
	require.Nil(t, admin.Post("/webhooks/"+id+"/secret", map[string]any{"keep_old": true}).Is(200).Field("webhook.old_secret_until"))
}
