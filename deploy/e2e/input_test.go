package e2e

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

func TestBadInputGetsTheErrorOfTheInterface(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	a := d.Admin
	a.Post(t, "/contacts", "nonsense").Fails(400, "svc_invalid_json")
	a.Post(t, "/contacts", `{"first_name":"A","surname":"B"}`).Fails(400, "svc_invalid_param")
	a.Post(t, "/contacts", `{"first_name":7}`).Fails(400, "svc_invalid_param")
	a.Post(t, "/contacts", `{"first_name":"`+strings.Repeat("x", 101)+`"}`).Fails(400, "svc_invalid_param")
	a.Post(t, "/contacts", `{"first_name":"`+strings.Repeat("x", 2<<20)+`"}`).Fails(413, "svc_too_large")
	a.Post(t, "/contacts", `{"first_name":"`+strings.Repeat("x", 40<<20)+`"}`).Fails(413, "svc_too_large")
	a.With("Content-Type", "text/plain").Post(t, "/contacts", `{"first_name":"A"}`).Fails(415, "svc_unsupported_media_type")
	a.Post(t, "/contacts", `{"first_name":"a\u0000b"}`).Fails(400, "svc_invalid_param")
	a.Get(t, "/contacts/"+uuid.NewString()).Fails(404, "svc_not_found")
	a.Get(t, "/contacts/x").Fails(400, "svc_invalid_param")
	a.Get(t, "/contacts?cursor=abc").Fails(400, "svc_invalid_cursor")
	a.Get(t, "/contacts?per_page=0").Fails(400, "svc_invalid_param")
	a.Call(t, "PUT", "/contacts", "{}").Fails(405, "svc_method_not_allowed")
	visitor.Get(t, "/contacts").Fails(401, "svc_unauthorized")
	visitor.As("admin", "wrong").Get(t, "/contacts").Fails(401, "svc_unauthorized")
	visitor.With("X-Forwarded-User", "admin").With("X-User-Id", "1").With("X-Svc-User", "1").Get(t, "/contacts").Fails(401, "svc_unauthorized")
	visitor.With("Cookie", "svc_session=forged").Get(t, "/contacts").Fails(401, "svc_unauthorized")
	visitor.Post(t, "/auth/login", `{"login":"admin","password":"wrong"}`).Fails(401, "svc_unauthorized")

	a.Post(t, "/appointments", map[string]any{"contact": uuid.NewString(), "service": d.Service, "starts_at": "2030-01-01T10:00:00Z"}).Fails(404, "svc_not_found")
	a.Post(t, "/appointments", map[string]any{"contact": uuid.NewString(), "service": d.Service, "starts_at": "tomorrow"}).Fails(400, "svc_invalid_param")
	visitor.Get(t, "/booking/slots?service="+uuid.NewString()).Fails(404, "svc_not_found")
	visitor.Get(t, "/booking/slots").Fails(400, "svc_invalid_param")
	visitor.Post(t, "/booking/book", d.Booking("2030-01-01T10:00:00Z", "forged", "a@example.com")).Fails(400, "svc_invalid_token")
	visitor.Post(t, "/forms/"+d.Form+"/submit", d.Submission("forged", "a@example.com")).Fails(400, "svc_invalid_token")
	visitor.Post(t, "/forms/999999/submit", d.Submission("forged", "a@example.com")).Fails(404, "svc_not_found")
	a.Post(t, "/webhooks", `{"name":"x","url":"https://10.0.0.1/x","events":["contact.created"]}`).Fails(400, "svc_invalid_param")
	a.Post(t, "/webhooks", `{"name":"x","url":"https://example.com/x","events":["nothing.happened"]}`).Fails(400, "svc_invalid_param")
}

func TestTheGatewaysOwnHeadersAreNotThoseOfAProxy(t *testing.T) {
	sys.Healthy(t)
	a := sys.SetUp(t).Admin
	for name, c := range map[string]struct {
		caller system.Client
		seen   []any
	}{
		"directly":                         {a, []any{}},
		"through a proxy that appends":     {a.With("X-Forwarded-For", "203.0.113.7"), []any{"X-Forwarded-For"}},
		"through one that names a visitor": {a.With("X-Real-IP", "203.0.113.7"), []any{"X-Real-IP"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.seen, c.caller.Get(t, "/settings/general").Is(200).Field("ip_headers_seen"))
		})
	}
}
