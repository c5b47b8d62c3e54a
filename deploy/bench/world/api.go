package world

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// API is called as its administrator, over an application password.
type API struct {
	URL      string // http://host:port
	Login    string
	Password string
	Client   *http.Client
}

// newClient keeps a connection for each of many callers.
func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
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
	req.SetBasicAuth(a.Login, a.Password)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return answer(a.Client, req, out)
}

// Get is a call that only asks.
func (a *API) Get(path string) func() error {
	return func() error {
		_, err := a.Call(http.MethodGet, path, nil, nil)
		return err
	}
}

func answer(client *http.Client, req *http.Request, out any) (status int, err error) {
	res, err := client.Do(req)
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
	if out == nil {
		return res.StatusCode, nil
	}
	return res.StatusCode, json.Unmarshal(raw, out)
}
