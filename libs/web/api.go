package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"frontdesk/libs/fault"
)

// Call makes a call of the service's own public API on behalf of r's visitor, inside the process, and decodes the answer into
// out. The error is the fault that the API answered with. A key other than "" makes a repeated call harmless.
func (u *UI) Call(r *http.Request, method, path string, query url.Values, in any, key string, out any) error {
	_, err := u.call(r, nil, method, path, query, in, key, out)
	return err
}

// CallFor is Call for pages that sign people in. It sends the visitor's cookies, so that the browser is recognised, and passes the
// cookies of the answer on to the visitor. Use it for public operations only: they ignore the session.
func (u *UI) CallFor(w http.ResponseWriter, r *http.Request, method, path string, in, out any) error {
	header, err := u.call(r, r.Cookies(), method, path, nil, in, "", out)
	for _, c := range header.Values("Set-Cookie") {
		w.Header().Add("Set-Cookie", c)
	}
	return err
}

// CallAs is CallFor in the name of the person whose session r brings: 401 without a session. Pages of ours only.
func (u *UI) CallAs(w http.ResponseWriter, r *http.Request, method, path string, in, out any) error {
	return u.CallFor(w, r, method, path, in, out)
}

// call sends no session of the visitor but the one in cookies.
func (u *UI) call(r *http.Request, cookies []*http.Cookie, method, path string, query url.Values, in any, key string, out any) (http.Header, error) {
	var body io.Reader = http.NoBody
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(r.Context(), method, "/v1"+path, body)
	if err != nil {
		return nil, err
	}
	if query != nil {
		req.URL.RawQuery = query.Encode()
	}
	req.RemoteAddr, req.Host = r.RemoteAddr, r.Host
	// The visitor's address may be in a header that the general settings name.
	for name, values := range r.Header {
		switch name {
		case "Cookie", "Authorization", "Content-Type", "Content-Length", "Accept", "Accept-Encoding", "Idempotency-Key":
		default:
			req.Header[name] = values
		}
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	req.Header.Set("Accept", "application/json")
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	answer := &recorded{header: http.Header{}, status: http.StatusOK}
	u.API.ServeHTTP(answer, req)
	if answer.status >= 300 {
		var f struct {
			Code    string
			Message string
			Data    map[string]any
		}
		if err := json.Unmarshal(answer.body.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("web: %s %s answered %d: %w", method, path, answer.status, err)
		}
		return nil, &fault.Fault{Code: f.Code, Message: f.Message, Status: answer.status, Data: f.Data}
	}
	if out == nil || answer.body.Len() == 0 {
		return answer.header, nil
	}
	return answer.header, json.Unmarshal(answer.body.Bytes(), out)
}

type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *recorded) Header() http.Header         { return a.header }
func (a *recorded) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *recorded) WriteHeader(status int)      { a.status = status }

// Wait is the pause that a refusal asks for, zero when it asks for none.
func Wait(f *fault.Fault) time.Duration {
	s, _ := f.Data["retry_after"].(float64)
	return time.Duration(s) * time.Second
}

// Problems returns the problems of an svc_invalid_param by the name of the parameter, with code and facts, without texts.
func Problems(f *fault.Fault) map[string]fault.Problem {
	out := map[string]fault.Problem{}
	details, _ := f.Data["details"].(map[string]any)
	for name, detail := range details {
		facts, _ := detail.(map[string]any)
		code, _ := facts["code"].(string)
		out[name] = fault.Problem{Code: code, Facts: facts}
	}
	return out
}
