// Package oauth reads the request with which an assistant leads a person to the page of consent.
package oauth

import (
	"net/url"
	"slices"
	"strings"
)

// names are the parameters of a request.
var names = []string{"response_type", "client_id", "redirect_uri", "code_challenge", "code_challenge_method", "resource", "scope", "state"}

// Request has the parameters of a request, each as often as it came.
type Request url.Values

// Read is what a query or a form asks for, without its other fields.
func Read(in url.Values) Request {
	r := Request{}
	for _, name := range names {
		if values := in[name]; len(values) > 0 {
			r[name] = values
		}
	}
	return r
}

// One is the value of a parameter, "" for one that came several times. Only of resource there may be several, which One separates by spaces.
func (r Request) One(name string) string {
	if r.repeats(name) {
		return ""
	}
	return strings.Join(r[name], " ")
}

func (r Request) repeats(name string) bool { return len(r[name]) > 1 && name != "resource" }

// ForAPI are the parameters that the API checks.
func (r Request) ForAPI() map[string]any {
	all := map[string]any{"client_id": r.One("client_id"), "redirect_uri": r.One("redirect_uri")}
	for _, name := range []string{"code_challenge", "code_challenge_method", "resource", "scope"} {
		if v := r.One(name); v != "" {
			all[name] = v
		}
	}
	return all
}

// Wrong is the error of OAuth in what the API does not check: a parameter that comes several times, and the kind of answer.
func (r Request) Wrong() string {
	switch kind := r.One("response_type"); {
	case kind == "" || slices.ContainsFunc(names, r.repeats):
		return "invalid_request"
	case kind != "code":
		return "unsupported_response_type"
	}
	return ""
}

// Refused is the error of OAuth for the parameters that the API refuses.
func Refused[V any](parameters map[string]V) string {
	_, target := parameters["resource"]
	_, scope := parameters["scope"]
	switch {
	case len(parameters) == 1 && target:
		return "invalid_target"
	case len(parameters) == 1 && scope:
		return "invalid_scope"
	}
	return "invalid_request"
}

// Back is the address of the assistant with an error of OAuth. The API has said that it is the assistant's.
func (r Request) Back(problem, issuer string) string {
	to, err := url.Parse(r.One("redirect_uri"))
	if err != nil {
		return issuer // the API lets no such address pass
	}
	q := to.Query()
	q.Set("error", problem)
	q.Set("iss", issuer)
	if state := r.One("state"); state != "" {
		q.Set("state", state)
	}
	to.RawQuery = q.Encode()
	return to.String()
}
