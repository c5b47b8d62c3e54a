package webhooks

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/proto"
)

func TestWhatIsAskedForTwiceOrWronglyLeavesADeliveryWhole(t *testing.T) {
	t.Parallel()
	s := start(t)
	admin := s.As(auth.SiteAdmin)
	t.Run("what a webhookstest.Request may not say is refused by its name", func(t *testing.T) {
		s := s.In(t)
		id, _ := s.Subscribe(admin, "https://example.com/", proto.KindContactCreated)
		for _, c := range []struct{ name, route, body, param, code string }{
			{"null for a name", "PATCH /webhooks/" + id, `{"name":null}`, "name", "null"},
			{"null for an address", "PATCH /webhooks/" + id, `{"url":null}`, "url", "null"},
			{"null for events", "PATCH /webhooks/" + id, `{"events":null}`, "events", "null"},
			{"null for active", "PATCH /webhooks/" + id, `{"active":null}`, "active", "null"},
			{"null for active of a new one", "POST /webhooks", `{"name":"x","url":"https://example.com/","events":["contact.created"],"active":null}`, "active", "null"},
			{"null among events", "PATCH /webhooks/" + id, `{"events":["contact.created",null]}`, "events[1]", "null"},
			{"no event", "PATCH /webhooks/" + id, `{"events":[]}`, "events", "too_few"},
			{"an event that does not exist", "PATCH /webhooks/" + id, `{"events":["contact.made"]}`, "events", "unknown_event"},
			{"a blank name", "PATCH /webhooks/" + id, `{"name":" \t "}`, "name", "empty"},
			{"a name of two lines", "PATCH /webhooks/" + id, `{"name":"one\ntwo"}`, "name", "control_characters"},
			{"a name that hides its end", "PATCH /webhooks/" + id, `{"name":"one\u0085two"}`, "name", "control_characters"},
			{"an address of another scheme", "PATCH /webhooks/" + id, `{"url":"ftp://example.com/"}`, "url", "url"},
			{"an unknown field", "PATCH /webhooks/" + id, `{"secret":"whsec_mine"}`, "secret", "unknown"},
		} {
			t.Run(c.name, func(t *testing.T) {
				a := admin.Call(c.route, c.body).Fails(400, "svc_invalid_param")
				details, _ := a.Field("data.details").(map[string]any)
				require.Len(t, details, 1, a.Body)
				require.Contains(t, details, c.param)
				require.Equal(t, c.code, details[c.param].(map[string]any)["code"])
			})
		}
		t.Run("several nulls are all named", func(t *testing.T) {
			a := admin.Patch("/webhooks/"+id, `{"name":null,"url":null,"events":null,"active":null}`).Fails(400, "svc_invalid_param")
			require.Len(t, a.Field("data.details"), 4)
		})
		t.Run("text that is no UTF-8", func(t *testing.T) {
			admin.Patch("/webhooks/"+id, "{\"name\":\"\xff\"}").Fails(400, "svc_invalid_json")
			admin.Patch("/webhooks/"+id, `{"name":"\ud800"}`)
			require.True(t, slices.Contains([]string{"receiver", "\uFFFD"}, admin.Get("/webhooks/"+id).Text("name")))
		})
		t.Run("a body beyond all measure", func(*testing.T) {
			admin.Post("/webhooks", `{"name":"`+strings.Repeat("x", 2<<20)+`"}`).Fails(413, "svc_too_large")
		})
		t.Run("records that do not exist", func(*testing.T) {
			bodies := map[string]any{"POST /webhooks/{id}/replay": map[string]any{"from": s.Now().Add(-time.Hour).Format(time.RFC3339), "to": s.Now().Format(time.RFC3339)}}
			person := s.AsSession(auth.SiteAdmin)
			for _, route := range s.Parts.Ops.Routes() {
				if method, path, _ := strings.Cut(route, " "); strings.Contains(path, "{id}") {
					person.Call(method+" "+strings.Replace(path, "{id}", uuid.NewString(), 1), bodies[route]).Fails(404, "svc_not_found")
					person.Call(method+" "+strings.Replace(path, "{id}", "x", 1), nil).Fails(400, "svc_invalid_param")
				}
			}
		})
		t.Run("deliveries that do not exist", func(*testing.T) {
			admin.Get("/webhooks/"+id+"/deliveries?status=lost").Fails(400, "svc_invalid_param")
			admin.Get("/webhooks/"+id+"/deliveries?cursor=abc").Fails(400, "svc_invalid_cursor")
			admin.Get("/webhooks/"+uuid.NewString()+"/deliveries").Fails(404, "svc_not_found")
			admin.Post("/webhook-deliveries/"+uuid.NewString()+"/resend", nil).Fails(404, "svc_not_found")
			admin.Get("/webhook-deliveries/"+uuid.NewString()).Fails(404, "svc_not_found")
		})
		t.Run("methods that a path does not take", func(t *testing.T) {
			for route, allow := range map[string]string{
				"PATCH /webhooks/events": "GET, HEAD", "DELETE /webhooks": "GET, HEAD, POST", "GET /webhooks/" + id + "/secret": "POST", "PUT /webhooks/" + id: "DELETE, GET, HEAD, PATCH",
			} {
				a := admin.Call(route, nil).Fails(405, "svc_method_not_allowed")
				got := strings.Split(a.Header.Get("Allow"), ", ")
				slices.Sort(got)
				require.Equal(t, allow, strings.Join(got, ", "), route)
			}
		})
	})
}
