package controller

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/lang"
)

func ask(t *testing.T, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	a := NewAnswers(func(string) {})
	_, table := plan(house(), off("booking"))
	a.SetPaths(table)
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	return w
}

type errorBody struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Data    struct {
		Status    int      `json:"status"`
		RequestID string   `json:"request_id"`
		Allow     []string `json:"allow"`
	} `json:"data"`
}

func bodyOf(t *testing.T, w *httptest.ResponseRecorder) errorBody {
	t.Helper()
	var b errorBody
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &b), w.Body.String())
	require.Equal(t, w.Code, b.Data.Status)
	require.NotEmpty(t, b.Message)
	require.NotEmpty(t, b.Data.RequestID)
	require.Equal(t, w.Header().Get("X-Request-Id"), b.Data.RequestID)
	return b
}

func TestAnUnknownPathIsNoRoute(t *testing.T) {
	w := ask(t, "GET", "/unknown/v1/nothing", "X-Request-Id", "caller-made-1")
	require.Equal(t, http.StatusNotFound, w.Code)
	b := bodyOf(t, w)
	require.Equal(t, "svc_no_route", b.Code)
	require.Equal(t, "caller-made-1", b.Data.RequestID)
}

func TestAForeignRequestIDIsReplaced(t *testing.T) {
	for _, id := range []string{"", "<script>", "a b", strings.Repeat("x", 65)} {
		require.NotEqual(t, id, bodyOf(t, ask(t, "GET", "/unknown/v1/x", "X-Request-Id", id)).Data.RequestID)
	}
}

func TestAMethodThatNoServiceTakesIsNotAllowed(t *testing.T) {
	w := ask(t, "PUT", "/unknown/v1/staff")
	require.Equal(t, http.StatusMethodNotAllowed, w.Code)
	require.Equal(t, "GET, HEAD, POST", w.Header().Get("Allow"))
	b := bodyOf(t, w)
	require.Equal(t, "svc_method_not_allowed", b.Code)
	require.Equal(t, []string{"GET", "HEAD", "POST"}, b.Data.Allow)
}

func TestASwitchedOffPathIsNoRouteWhateverTheMethod(t *testing.T) {
	for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
		require.Equal(t, "svc_no_route", bodyOf(t, ask(t, method, "/unknown/v1/booking/book")).Code, method)
	}
}

func TestAServiceThatIsDownIsUnavailableForNow(t *testing.T) {
	w := ask(t, "GET", "/unavailable?url=http%3A%2F%2Flocalhost%2Fv1%2Fcontacts%3Fsearch%3Dx", "Accept", "text/html")
	require.Equal(t, http.StatusServiceUnavailable, w.Code)
	require.NotEmpty(t, w.Header().Get("Retry-After"))
	require.Equal(t, "svc_unavailable", bodyOf(t, w).Code)
}

func TestWhileTheTablesAreUnreadNothingIsCalledUnknown(t *testing.T) {
	w := httptest.NewRecorder()
	NewAnswers(func(string) {}).ServeHTTP(w, httptest.NewRequest("GET", "/unknown/v1/contacts", nil))
	require.Equal(t, "svc_unavailable", bodyOf(t, w).Code)
}

func TestATooLargeBodyIsReadAndRefused(t *testing.T) {
	body := strings.NewReader(strings.Repeat("x", 1<<20))
	r := httptest.NewRequest("POST", "/too-large", body)
	w := httptest.NewRecorder()
	NewAnswers(func(string) {}).ServeHTTP(w, r)
	require.Equal(t, http.StatusRequestEntityTooLarge, w.Code)
	require.Equal(t, "svc_too_large", bodyOf(t, w).Code)
	require.Zero(t, body.Len())
}

func TestBrowsersGetAPageOutsideTheAPI(t *testing.T) {
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for _, c := range []struct {
		target, accept string
		html           bool
	}{
		{"/unknown/nothing", browser, true},
		{"/unknown/nothing", "application/json", false},
		{"/unknown/nothing", "application/json, text/html;q=0.5", false},
		{"/unknown/nothing", "*/*", false},
		{"/unknown/nothing", "", false},
		{"/unknown/v1/nothing", browser, false},
		{"/unknown/v1", browser, false},
		{"/unknown/mcp", browser, false},
		{"/unavailable?url=http%3A%2F%2Fx%2Fmanage", browser, true},
		{"/unavailable?url=http%3A%2F%2Fx%2Fv1%2Fforms", browser, false},
	} {
		w := ask(t, "GET", c.target, "Accept", c.accept)
		if c.html {
			require.Contains(t, w.Header().Get("Content-Type"), "text/html", c)
			require.Contains(t, w.Body.String(), w.Header().Get("X-Request-Id"))
			require.Contains(t, w.Header().Get("Content-Security-Policy"), "default-src 'none'")
		} else {
			bodyOf(t, w)
		}
	}
}

func TestThePageSpeaksTheVisitorsLanguage(t *testing.T) {
	const browser = "text/html"
	for _, c := range []struct{ target, accepts, language, title string }{
		{"/unknown/book", "", "en", "This page does not exist"},
		{"/unknown/book", "nl-BE,nl;q=0.9,en;q=0.5", "nl", "Deze pagina bestaat niet"},
		{"/unknown/book", "ja, fr-CH;q=0.5", "fr", "Cette page n’existe pas"},
		{"/unknown/book", "ja", "en", "This page does not exist"},
		{"/unknown/book?lang=de", "nl", "de", "Diese Seite gibt es nicht"},
		{"/unknown/book?lang=xx", "nl", "nl", "Deze pagina bestaat niet"},
		{"/unavailable?url=http%3A%2F%2Fx%2Fmanage%3Flang%3Dfr", "nl", "fr", "Nous revenons dans un instant"},
		{"/unavailable?url=http%3A%2F%2Fx%2Fmanage", "de-AT", "de", "Wir sind gleich wieder da"},
	} {
		w := ask(t, "GET", c.target, "Accept", browser, "Accept-Language", c.accepts)
		require.Contains(t, w.Body.String(), `<html lang="`+c.language+`">`, c)
		require.Contains(t, w.Body.String(), "<h1>"+c.title+"</h1>", c)
	}
	require.Len(t, spoken, len(lang.Languages))
	for i, w := range spoken {
		require.Equal(t, lang.Languages[i], w.Language)
		require.NotContains(t, []string{w.NotFound, w.NotFoundText, w.Unavailable, w.UnavailableText}, "", w.Language)
	}
}

func TestThePagesPolicyAllowsItsOwnStyleAndNoOther(t *testing.T) {
	w := ask(t, "GET", "/unknown/book", "Accept", "text/html")
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(w.Body.String())
	require.NotNil(t, style)
	sum := sha256.Sum256([]byte(style[1]))
	require.Contains(t, w.Header().Get("Content-Security-Policy"), "style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
}
