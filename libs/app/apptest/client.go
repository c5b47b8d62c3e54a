package apptest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/answer"
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
	rehearses bool
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

// For is the client with failures reported to another test, see Service.For.
func (c *Client) For(t testing.TB) *Client {
	d := *c
	d.s, d.t = c.s.For(t), t
	return &d
}

// At is the client at another replica, see Service.Beside.
func (c *Client) At(s *Service) *Client {
	d := *c
	d.s = s
	return &d
}

// Basic is the header Authorization with which the client calls, for calls beside it; only of one with an application password.
func (c *Client) Basic() string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(c.Login+":"+c.password))
}

// Answer is that of a call.
type Answer = answer.Answer

// Call sends "METHOD /path" under /v1; body is JSON text, or anything that becomes JSON, or nil.
func (c *Client) Call(route string, body any) *Answer {
	c.t.Helper()
	if c.rehearses {
		return c.change(route, body)
	}
	method, path, _ := strings.Cut(route, " ")
	var reader io.Reader
	var sent []byte
	switch b := body.(type) {
	case nil:
	case string:
		sent, reader = []byte(b), strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(c.t, err)
		sent, reader = raw, bytes.NewReader(raw)
	}
	req := c.request(context.Background(), method, path, reader)
	client := http.Client{Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := client.Do(req)
	require.NoError(c.t, err)
	defer res.Body.Close()
	a, err := answer.Read(c.t, res)
	require.NoError(c.t, err)
	if !c.unchecked {
		c.check(req, sent, res, []byte(a.Body))
	}
	return a
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) *http.Request {
	c.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, c.s.URL+"/v1"+path, body)
	require.NoError(c.t, err)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.password != "" {
		req.SetBasicAuth(c.Login, c.password)
	}
	if c.cookie != "" {
		req.Header.Set("Cookie", "svc_session="+c.cookie)
	}
	maps.Copy(req.Header, c.Header)
	return req
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
func (c *Client) check(req *http.Request, sent []byte, res *http.Response, body []byte) {
	c.t.Helper()
	require.NotEqual(c.t, 500, res.StatusCode, "%s %s: %s", req.Method, req.URL.Path, body)
	isJSON := strings.HasPrefix(res.Header.Get("Content-Type"), "application/json")
	if isJSON && !strings.Contains(req.URL.Path, "openapi.json") {
		require.False(c.t, fraction.Match(body), "a time is not in whole seconds UTC: %s", body)
	}
	route, params, err := c.s.contract.FindRoute(&http.Request{Method: req.Method, URL: req.URL, Host: req.Host, Header: req.Header})
	if err != nil {
		return
	}
	if res.Header.Get("Preference-Applied") == "dry-run" {
		require.Equal(c.t, http.StatusOK, res.StatusCode)
		require.NoError(c.t, c.s.contract.fits("/components/schemas/Rehearsal", body), "%s %s: %s", req.Method, req.URL.Path, body)
		return
	}
	in := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: route, PathParams: params},
		Status:                 res.StatusCode, Header: res.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	in.SetBodyBytes(body)
	in.Options.ExcludeResponseBody = isJSON || strings.HasPrefix(res.Header.Get("Content-Type"), "text/")
	require.NoError(c.t, openapi3filter.ValidateResponse(context.Background(), in), "%s %s: %s", req.Method, req.URL.Path, body)
	if isJSON {
		require.NoError(c.t, c.s.contract.holds(route, res.StatusCode, body), "%s %s: %s", req.Method, req.URL.Path, body)
	}
	if res.StatusCode >= 400 {
		c.checkRefusal(route.Operation, res.StatusCode, body)
	}
	if records {
		c.record(route.Operation, req, sent, res, body)
	}
}

// checkRefusal requires that the description of an operation has the code of an error, and its reason where it has reasons.
func (c *Client) checkRefusal(o *openapi3.Operation, status int, body []byte) {
	c.t.Helper()
	var got refusal
	require.NoError(c.t, json.Unmarshal(body, &got), "%s", body)
	if o.Responses.Default() != nil {
		return
	}
	described := o.Responses.Status(status)
	require.NotNil(c.t, described, "%s may not be refused with %d: %s", o.OperationID, status, body)
	raw, err := json.Marshal(described.Value.Extensions["x-codes"])
	require.NoError(c.t, err)
	var codes []struct{ Code, Reason string }
	require.NoError(c.t, json.Unmarshal(raw, &codes))
	for _, may := range codes {
		if may.Code == got.Code && (may.Reason == got.Data.Reason || may.Reason == "" && got.Code != "svc_forbidden" && got.Code != "svc_conflict") {
			return
		}
	}
	require.Fail(c.t, "an undeclared refusal", "Fails of %s has no %s %s: %s", o.OperationID, got.Code, got.Data.Reason, body)
}

// refusal is the body of an error.
type refusal struct {
	Code string
	Data struct{ Reason string }
}

func (s *Service) get(url string) int {
	res, err := http.Get(url) //nolint:gosec // the test's own service
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	return res.StatusCode
}

// Aside makes a call beside the test. The function that it returns waits for the answer, and ends the test if the call has failed: what failed in
// it has said why.
func Aside(t testing.TB, call func() *Answer) func() *Answer {
	done := make(chan *Answer, 1)
	go func() {
		defer close(done)
		done <- call()
	}()
	return func() *Answer {
		t.Helper()
		a := <-done
		require.NotNil(t, a, "the call has failed")
		return a
	}
}
