package system

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/client"
	"frontdesk/libs/answer"
)

// Client calls the API through the gateway as somebody. It holds answers against what a test expects; programs that are no tests use
// client.API, on which it stands. The tests of a single service have apptest.Client instead, which holds each call and answer against the
// OpenAPI document that the service in the same process has.
type Client struct {
	system *System
	api    client.API
}

var caller = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128, IdleConnTimeout: 5 * time.Second}}

// Visitor is a client who is nobody.
func (s *System) Visitor() Client { return Client{s, client.API{Client: caller}} }

// Answer is that of a call.
type Answer = answer.Answer

// As is the client with a login and a password, of a person or of an application.
func (c Client) As(login, password string) Client {
	c.api.Login, c.api.Password = login, password
	return c
}

// With is the client with one more header.
func (c Client) With(name, value string) Client {
	c.api.Header = c.api.Header.Clone()
	if c.api.Header == nil {
		c.api.Header = http.Header{}
	}
	c.api.Header.Set(name, value)
	return c
}

// Try is Call for a system in which something fails, and for goroutines that are not the test's: it answers the error. The answer expects
// nothing: only its values can be read.
func (c Client) Try(ctx context.Context, method, path string, body any) (*Answer, error) {
	now, err := c.system.State()
	if err != nil {
		return nil, err
	}
	return c.TryAt(ctx, now.Gateway, method, path, body)
}

// TryAt is Try at the address of a process, past the gateway.
func (c Client) TryAt(ctx context.Context, url, method, path string, body any) (*Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	c.api.URL = url
	req, err := c.api.Request(ctx, method, path, body)
	if err != nil {
		return nil, err
	}
	res, err := c.api.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return answer.Read(nil, res)
}

// Request is a request through the gateway that the caller sends, for an answer that is read while it is written.
func (c Client) Request(t testing.TB, method, path string) *http.Request {
	t.Helper()
	c.api.URL = c.system.Now(t).Gateway
	req, err := c.api.Request(t.Context(), method, path, nil)
	require.NoError(t, err)
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
