package op

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMostSpecificPathAnswersWhateverTheMethod(t *testing.T) {
	on := true
	routes := router{}
	for _, o := range []struct{ method, path string }{
		{"GET", "/contacts/{id}"}, {"PATCH", "/contacts/{id}"}, {"GET", "/contacts/sources"},
		{"PUT", "/staff/{user}/role"}, {"DELETE", "/staff/invitations/{id}"}, {"GET", "/exports/contacts.csv"},
	} {
		routes.add(o.method, o.path, func() bool { return on }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = w.Write([]byte(o.method + " " + o.path + " " + r.PathValue("id") + r.PathValue("user")))
		}))
	}
	for request, want := range map[string]string{
		"GET /v1/contacts/7":              "GET /contacts/{id} 7",
		"HEAD /v1/contacts/7":             "GET /contacts/{id} 7",
		"GET /v1/contacts/a%2Fb%20c":      "GET /contacts/{id} a/b c",
		"GET /v1/contacts/sources":        "GET /contacts/sources ",
		"PATCH /v1/contacts/sources":      "405 GET, HEAD",
		"DELETE /v1/contacts/7":           "405 GET, HEAD, PATCH",
		"PUT /v1/staff/7/role":            "PUT /staff/{user}/role 7",
		"DELETE /v1/staff/invitations/7":  "DELETE /staff/invitations/{id} 7",
		"PUT /v1/staff/invitations/role":  "405 DELETE",
		"GET /v1/contacts":                "404 ",
		"GET /v1/contacts/":               "404 ",
		"GET /v1/contacts/..":             "404 ",
		"GET /v1/contacts/%2E%2E":         "404 ",
		"GET /v1//contacts/sources":       "404 ",
		"GET /v1/contacts/sources/":       "404 ",
		"GET /v2/contacts/sources":        "404 ",
		"GET /v1/exports/contacts%2Ecsv":  "GET /exports/contacts.csv ",
		"GET /v1/exports/contacts%2ecsvx": "404 ",
	} {
		t.Run(request, func(t *testing.T) {
			method, target, _ := strings.Cut(request, " ")
			w := httptest.NewRecorder()
			routes.ServeHTTP(w, httptest.NewRequest(method, target, nil))
			got := w.Body.String()
			if w.Code != 200 {
				got = map[int]string{404: "404 ", 405: "405 "}[w.Code] + w.Header().Get("Allow")
			}
			require.Equal(t, want, got)
		})
	}
	on = false
	w := httptest.NewRecorder()
	routes.ServeHTTP(w, httptest.NewRequest("PATCH", "/v1/contacts/sources", nil))
	require.Equal(t, 404, w.Code, "nothing of the path is on")
	require.Panics(t, func() { routes.add("PUT", "/contacts/{contact}", nil, nil) }, "one path, two names")
}
