package system

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/answer"
)

// Client calls the API through the gateway as somebody.
type Client struct {
	system          *System
	login, password string
	cookie          *http.Cookie
	header          http.Header
}

// Visitor is a client who is nobody.
func (s *System) Visitor() Client { return Client{system: s} }

// Answer is that of a call.
type Answer = answer.Answer

var transport = &http.Transport{MaxIdleConnsPerHost: 128, IdleConnTimeout: 5 * time.Second}

// As is the client with a login and a password, of a person or of an application.
func (c Client) As(login, password string) Client {
	c.login, c.password = login, password
	return c
}

// With is the client with one more header.
func (c Client) With(name, value string) Client {
	c.header = c.header.Clone()
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set(name, value)
	return c
}

// Try is Call for a system in which something fails: it answers the error. The answer expects nothing: only its values can be read.
func (c Client) Try(ctx context.Context, method, path string, body any) (*Answer, error) {
	now, err := c.system.State()
	if err != nil {
		return nil, err
	}
	return c.TryAt(ctx, now.Gateway, method, path, body)
}

// TryAt is Try at the address of a process, past the gateway.
func (c Client) TryAt(ctx context.Context, url, method, path string, body any) (*Answer, error) {
	var reader io.Reader
	if s, ok := body.(string); ok {
		reader = strings.NewReader(s)
	} else if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		reader = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url+"/v1"+path, reader)
	if err != nil {
		return nil, err
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	c.sign(req)
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return answer.Read(nil, res)
}

// sign adds the client's credential and headers.
func (c Client) sign(req *http.Request) {
	if c.password != "" {
		req.SetBasicAuth(c.login, c.password)
	}
	if c.cookie != nil {
		req.AddCookie(c.cookie)
	}
	for k, v := range c.header {
		req.Header[k] = v
	}
}

// Request is a request through the gateway that the caller sends, for an answer that is read while it is written.
func (c Client) Request(t testing.TB, method, path string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, c.system.Now(t).Gateway+"/v1"+path, nil)
	require.NoError(t, err)
	c.sign(req)
	return req
}

// Call sends body as JSON (a string as it is, nil for none). No call may be answered with 500.
func (c Client) Call(t testing.TB, method, path string, body any) *Answer {
	t.Helper()
	a, err := c.Try(context.Background(), method, path, body) // cleanups call, too
	require.NoError(t, err)
	a.T = t
	require.NotEqual(t, 500, a.Status, "%s %s: %s", method, path, a.Body)
	return a
}

// Get is Call with GET.
func (c Client) Get(t testing.TB, path string) *Answer {
	t.Helper()
	return c.Call(t, http.MethodGet, path, nil)
}

// Post is Call with POST.
func (c Client) Post(t testing.TB, path string, body any) *Answer {
	t.Helper()
	return c.Call(t, http.MethodPost, path, body)
}
