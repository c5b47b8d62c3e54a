// Package client calls the REST API as somebody, for programs that measure or fill a system.
package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
)

// API is called with an application password, or with the session that SignIn begins.
type API struct {
	URL      string // http://host:port
	Login    string
	Password string // of an application; empty for a session
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

// Call sends body as JSON unless it is nil, decodes the answer into out unless that is nil, and returns the status. A status
// of 300 and more is an error, except 409.
func (a *API) Call(method, path string, body, out any) (status int, err error) {
	var reader io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(raw)
	}
	req, err := http.NewRequest(method, a.URL+"/v1"+path, reader)
	if err != nil {
		return 0, err
	}
	if a.Password != "" {
		req.SetBasicAuth(a.Login, a.Password)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
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
