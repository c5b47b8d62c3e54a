package e2e

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestBadInputGetsTheErrorOfTheInterface(t *testing.T) {
	t.Parallel()
	healthy(t)
	d := setUp(t)
	a := d.admin
	a.post(t, "/contacts", "nonsense").fails(400, "svc_invalid_json")
	a.post(t, "/contacts", `{"first_name":"A","surname":"B"}`).fails(400, "svc_invalid_param")
	a.post(t, "/contacts", `{"first_name":7}`).fails(400, "svc_invalid_param")
	a.post(t, "/contacts", `{"first_name":"`+strings.Repeat("x", 101)+`"}`).fails(400, "svc_invalid_param")
	a.post(t, "/contacts", `{"first_name":"`+strings.Repeat("x", 2<<20)+`"}`).fails(413, "svc_too_large")
	a.post(t, "/contacts", `{"first_name":"`+strings.Repeat("x", 40<<20)+`"}`).fails(413, "svc_too_large")
	a.with("Content-Type", "text/plain").post(t, "/contacts", `{"first_name":"A"}`).fails(415, "svc_unsupported_media_type")
	a.post(t, "/contacts", `{"first_name":"a\u0000b"}`).fails(400, "svc_invalid_param")
	a.get(t, "/contacts/"+uuid.NewString()).fails(404, "svc_not_found")
	a.get(t, "/contacts/x").fails(400, "svc_invalid_param")
	a.get(t, "/contacts?cursor=abc").fails(400, "svc_invalid_cursor")
	a.get(t, "/contacts?per_page=0").fails(400, "svc_invalid_param")
	a.call(t, "PUT", "/contacts", "{}").fails(405, "svc_method_not_allowed")
	visitor.get(t, "/contacts").fails(401, "svc_unauthorized")
	client{login: "admin", password: "wrong"}.get(t, "/contacts").fails(401, "svc_unauthorized")
	visitor.with("X-Forwarded-User", "admin").with("X-User-Id", "1").with("X-Svc-User", "1").get(t, "/contacts").fails(401, "svc_unauthorized")
	visitor.with("Cookie", "svc_session=forged").get(t, "/contacts").fails(401, "svc_unauthorized")
	visitor.post(t, "/auth/login", `{"login":"admin","password":"wrong"}`).fails(401, "svc_unauthorized")

	a.post(t, "/appointments", map[string]any{"contact": uuid.NewString(), "service": d.service, "starts_at": "2030-01-01T10:00:00Z"}).fails(404, "svc_not_found")
	a.post(t, "/appointments", map[string]any{"contact": uuid.NewString(), "service": d.service, "starts_at": "tomorrow"}).fails(400, "svc_invalid_param")
	visitor.get(t, "/booking/slots?service="+uuid.NewString()).fails(404, "svc_not_found")
	visitor.get(t, "/booking/slots").fails(400, "svc_invalid_param")
	visitor.post(t, "/booking/book", d.booking("2030-01-01T10:00:00Z", "forged", "a@example.com")).fails(400, "svc_invalid_token")
	visitor.post(t, "/forms/"+d.form+"/submit", d.submission("forged", "a@example.com")).fails(400, "svc_invalid_token")
	visitor.post(t, "/forms/999999/submit", d.submission("forged", "a@example.com")).fails(404, "svc_not_found")
	a.post(t, "/webhooks", `{"name":"x","url":"https://10.0.0.1/x","events":["contact.created"]}`).fails(400, "svc_invalid_param")
	a.post(t, "/webhooks", `{"name":"x","url":"https://example.com/x","events":["nothing.happened"]}`).fails(400, "svc_invalid_param")
}

func TestTheGatewaysOwnHeadersAreNotThoseOfAProxy(t *testing.T) {
	healthy(t)
	a := setUp(t).admin
	for name, c := range map[string]struct {
		caller client
		seen   []any
	}{
		"directly":                         {a, []any{}},
		"through a proxy that appends":     {a.with("X-Forwarded-For", "203.0.113.7"), []any{"X-Forwarded-For"}},
		"through one that names a visitor": {a.with("X-Real-IP", "203.0.113.7"), []any{"X-Real-IP"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.seen, c.caller.get(t, "/settings/general").is(200).field("ip_headers_seen"))
		})
	}
}
