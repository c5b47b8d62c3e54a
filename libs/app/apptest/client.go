package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/require"
)

// Client calls a service as somebody.
type Client struct {
	UserID int64
	Login  string
	// Header is sent with each call.
	Header http.Header

	s         *Service
	t         testing.TB
	password  string
	cookie    string
	unchecked bool
}

// With is the client with one more header.
func (c *Client) With(name, value string) *Client {
	d := *c
	d.Header = c.Header.Clone()
	if d.Header == nil {
		d.Header = http.Header{}
	}
	d.Header.Set(name, value)
	return &d
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   string

	t testing.TB
}

// Call sends "METHOD /path" under /v1; body is JSON text, or anything that becomes JSON, or nil.
func (c *Client) Call(route string, body any) *Answer {
	c.t.Helper()
	method, path, _ := strings.Cut(route, " ")
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(c.t, err)
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, c.s.URL+"/v1"+path, reader)
	require.NoError(c.t, err)
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.password != "" {
		req.SetBasicAuth(c.Login, c.password)
	}
	if c.cookie != "" {
		req.Header.Set("Cookie", "svc_session="+c.cookie)
	}
	for k, v := range c.Header {
		req.Header[k] = v
	}
	client := http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	a := &Answer{Status: res.StatusCode, Header: res.Header, Body: string(raw), t: c.t}
	if !c.unchecked {
		c.check(req, res, raw)
	}
	return a
}

// Raw is Call for answers that a service must never give, such as 500.
func (c *Client) Raw(route string, body any) *Answer {
	d := *c
	d.unchecked = true
	return d.Call(route, body)
}

// Get and the others are Call by method.
func (c *Client) Get(path string) *Answer            { c.t.Helper(); return c.Call("GET "+path, nil) }
func (c *Client) Post(path string, body any) *Answer { c.t.Helper(); return c.Call("POST "+path, body) }
func (c *Client) Patch(path string, body any) *Answer {
	c.t.Helper()
	return c.Call("PATCH "+path, body)
}
func (c *Client) Put(path string, body any) *Answer { c.t.Helper(); return c.Call("PUT "+path, body) }
func (c *Client) Delete(path string, body any) *Answer {
	c.t.Helper()
	return c.Call("DELETE "+path, body)
}

var fraction = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.|[+-])`)

// check holds an answer against the service's description, and its times to whole seconds UTC.
func (c *Client) check(req *http.Request, res *http.Response, body []byte) {
	c.t.Helper()
	require.NotEqual(c.t, 500, res.StatusCode, "%s %s: %s", req.Method, req.URL.Path, body)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "application/json") && !strings.Contains(req.URL.Path, "openapi.json") {
		require.False(c.t, fraction.Match(body), "a time is not in whole seconds UTC: %s", body)
	}
	route, params, err := c.s.router.FindRoute(&http.Request{Method: req.Method, URL: req.URL, Host: req.Host, Header: req.Header})
	if err != nil {
		return
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: route, PathParams: params},
		Status:                 res.StatusCode, Header: res.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	in.SetBodyBytes(body)
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/csv") {
		in.Options.ExcludeResponseBody = true
	}
	require.NoError(c.t, openapi3filter.ValidateResponse(context.Background(), in), "%s %s: %s", req.Method, req.URL.Path, body)
}

// Is requires the status and answers with the body.
func (a *Answer) Is(status int) *Answer {
	a.t.Helper()
	require.Equal(a.t, status, a.Status, a.Body)
	return a
}

// Fails requires an error of this status and code.
func (a *Answer) Fails(status int, code string) *Answer {
	a.t.Helper()
	require.Equal(a.t, status, a.Status, a.Body)
	require.Equal(a.t, code, a.Field("code"), a.Body)
	return a
}

// Into decodes the body.
func (a *Answer) Into(v any) {
	a.t.Helper()
	require.NoError(a.t, json.Unmarshal([]byte(a.Body), v), a.Body)
}

// Map is the body as an object.
func (a *Answer) Map() map[string]any {
	a.t.Helper()
	var m map[string]any
	a.Into(&m)
	return m
}

// Field is a value inside the body, by a path like "data.params.email" or "items.0.id"; nil when it is
// not there.
func (a *Answer) Field(path string) any {
	a.t.Helper()
	var v any
	a.Into(&v)
	for name := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i := 0
			for _, c := range name {
				i = 10*i + int(c-'0')
			}
			if i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// Text is Field as a string.
func (a *Answer) Text(path string) string {
	a.t.Helper()
	s, _ := a.Field(path).(string)
	return s
}

// Items are the items of a list.
func (a *Answer) Items() []map[string]any {
	a.t.Helper()
	var l struct {
		Items []map[string]any `json:"items"`
	}
	a.Into(&l)
	return l.Items
}

func (s *Service) get(url string) int {
	res, err := http.Get(url) //nolint:gosec // the test's own service
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}
