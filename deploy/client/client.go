// Package client calls the REST API as somebody, for programs that measure or fill a system, and for tests of whole systems (deploy/system).
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
)

// API is called with an application password, with the session that SignIn begins, or as nobody.
type API struct {
	URL      string // http://host:port
	Login    string
	Password string      // of an application; empty for a session
	Header   http.Header // goes with each call, and wins over what a call has by itself
	Client   *http.Client
}

// New returns a client without a credential. It keeps a connection open for each of many callers.
func New(url string) (API, error) {
	jar, err := cookiejar.New(nil)
	return API{URL: url, Client: &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 128}}}, err
}

// SignIn begins a person's session.
func (a *API) SignIn(login, password string) error {
	_, err := a.Call(http.MethodPost, "/auth/login", map[string]string{"login": login, "password": password}, nil)
	return err
}

// Request is the request of a call: body goes as JSON, a string as it is, nothing for nil.
func (a *API) Request(ctx context.Context, method, path string, body any) (*http.Request, error) {
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
	req, err := http.NewRequestWithContext(ctx, method, a.URL+"/v1"+path, reader)
	if err != nil {
		return nil, err
	}
	if a.Password != "" {
		req.SetBasicAuth(a.Login, a.Password)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, values := range a.Header {
		req.Header[name] = values
	}
	return req, nil
}

// Call sends a Request, decodes the answer into out unless that is nil, and returns the status. A status
// of 300 and more is an error, except 409.
func (a *API) Call(method, path string, body, out any) (status int, err error) {
	req, err := a.Request(context.Background(), method, path, body)
	if err != nil {
		return 0, err
	}
	res, err := a.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, err
	}
	if res.StatusCode >= 300 && res.StatusCode != http.StatusConflict {
		return res.StatusCode, fmt.Errorf("%s %s: %s: %s", req.Method, req.URL.Path, res.Status, raw)
	}
	if out == nil || len(raw) == 0 {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(raw, out)
}

// Get is a call that only asks.
func (a *API) Get(path string) func() error {
	return func() error {
		_, err := a.Call(http.MethodGet, path, nil, nil)
		return err
	}
}
