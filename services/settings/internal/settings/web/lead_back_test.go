package web

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/web"
)

// A refusal that says nothing of client and address says nothing good of them: whatever is wrong beside them, nobody is led to an address
// before the API has said that it is the assistant's.
func TestNobodyIsLedBackBeforeTheAddressIsKnown(t *testing.T) {
	answer := ""
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/v1/auth/session" {
			_, _ = io.WriteString(w, `{"login":"admin","capabilities":["svc_view_contacts"],"two_factor_missing":false}`)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, answer)
	})
	h := Pages(Options{Site: web.Site{Read: func(string, any) {}, On: func(string) bool { return true }, PublicURL: "http://localhost:8080", Zone: time.UTC, API: api}})
	open := func() *httptest.ResponseRecorder {
		q := url.Values{"response_type": {"code"}, "client_id": {"x"}, "redirect_uri": {"https://elsewhere.example/phish"}}
		r := httptest.NewRequest(http.MethodGet, "/account/connect?"+q.Encode(), nil)
		r.AddCookie(&http.Cookie{Name: "svc_session", Value: "x"})
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	for _, params := range []string{`"scope":"is too long"`, `"resource":"is too long"`, `"code_challenge":"is too long"`, `"client_id":"is unknown"`, `"redirect_uri":"is unknown"`, ``} {
		answer = `{"code":"svc_invalid_param","message":"x","data":{"status":400,"params":{` + params + `}}}`
		page := open()
		require.Equal(t, http.StatusBadRequest, page.Code, params)
		require.Empty(t, page.Header().Get("Refresh"), params)
		require.NotContains(t, page.Body.String(), "elsewhere.example", params)
	}
	answer = `{"code":"svc_invalid_param","message":"x","data":{"status":400,"lead_back":true,"params":{"code_challenge":"must be a SHA-256 in base64url"}}}`
	require.Contains(t, open().Header().Get("Refresh"), "https://elsewhere.example/phish?error=invalid_request")
}
