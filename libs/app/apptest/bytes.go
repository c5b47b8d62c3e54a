package apptest

import (
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// unreadable are, in the form of addresses, bytes that PostgreSQL takes in no text: NUL, what is no UTF-8, half of a character.
var unreadable = []string{"%00", "%ff", "a%00b", "%c3%28", "%ed%a0%80"}

var wildcard = regexp.MustCompile(`\{[^}]*\}|/$`)

// CheckBytes sends every page and operation but those without, by their ids, bytes that no text can hold, in the path, the query, the headers, a cookie and a form. Nothing
// answers 500. c is an administrator with a session.
func (s *Service) CheckBytes(c *Client, without ...string) {
	s.t.Helper()
	type place struct{ method, path string }
	var places []place
	for _, p := range s.Parts.PagePaths {
		if p.GetStream() {
			continue
		}
		places = append(places, place{http.MethodGet, p.GetPath()})
		// A session that has ended is waited for by each request behind it.
		if p.GetPath() != "/account/sign-out" {
			places = append(places, place{http.MethodPost, p.GetPath()})
		}
	}
	for route, o := range s.Parts.Ops.Operations() {
		method, path, _ := strings.Cut(route, " ")
		// What acts on everything or goes on for ever is not called.
		if !o.Events && !slices.Contains(without, o.ID) && (method == http.MethodGet || wildcard.MatchString(path)) {
			places = append(places, place{method, "/v1" + path})
		}
	}
	require.Greater(s.t, len(places), 5)
	for _, p := range places {
		for _, bad := range unreadable {
			path := wildcard.ReplaceAllStringFunc(p.path, func(at string) string {
				if at == "/" {
					return "/" + bad
				}
				return bad
			})
			query := "?lang=" + bad + "&service=" + bad + "&search=" + bad + "&next=" + bad + "&" + bad + "=1"
			for _, address := range slices.Compact([]string{path, path + query}) {
				require.Less(s.t, s.sendBytes(c, p.method, address, bad), 500, "%s %s", p.method, address)
			}
		}
	}
}

// sendBytes sends one request in a session, with headers, a cookie and a form that nobody can read, and returns the status.
func (s *Service) sendBytes(c *Client, method, address, bad string) int {
	s.t.Helper()
	var body io.Reader
	if method != http.MethodGet {
		body = strings.NewReader("token=" + bad + "&values.email=" + bad + "&password=" + bad)
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, s.URL+address, body)
	require.NoError(s.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, name := range []string{"Accept-Language", "User-Agent", "Referer", "Idempotency-Key", "If-Match", "If-Effects", "Prefer", "If-None-Match", "X-Request-Id", "X-Forwarded-For"} {
		req.Header.Set(name, "\xff\xfe\xc3\x28")
	}
	session := "svc_session=" + c.cookie
	if own := c.Header.Get("Cookie"); own != "" {
		session = own
	}
	req.Header.Set("Cookie", session+"; svc_language=\xff; svc_theme=%00")
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(s.t, err)
	return res.StatusCode
}
