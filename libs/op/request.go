package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// request is a call before and after its body was read.
type request struct {
	http *http.Request
	w    http.ResponseWriter
	// args of an ability, instead of the request's own.
	args map[string]json.RawMessage
	// asAbility tells that the operation is called as an ability, with args for its input.
	asAbility bool
	key       string
	// rehearses says that nothing of the call may stay; effects is the hash of those that its caller expects, or empty.
	rehearses bool
	effects   string
	// undoes is the call that this one takes back; nil for all others.
	undoes *db.Undoing
	prints [][]byte
	actor  db.Actor
	// waits says that a person has to approve the call: it is rehearsed. body is then what was read of it, and input what it was read as.
	waits bool
	body  *bytes.Buffer
	input map[string]json.RawMessage
}

func (r *request) claim(op string) db.Request {
	caller := r.actor.Credential
	switch {
	case caller == "":
		caller = "visitor"
	case r.actor.Approved.ID != "":
		caller = approvedCaller // no key that a caller chooses can be that of an approval
	}
	return db.Request{Caller: caller, Op: op, Key: r.key, Prints: r.prints}
}

// parseQuery reads a query string. A semicolon is a character like others, as browsers see it.
func parseQuery(raw string) (url.Values, error) {
	query, err := url.ParseQuery(strings.ReplaceAll(raw, ";", "%3B"))
	if err != nil {
		return nil, fault.Invalid("query", fault.NewProblem("malformed", "must be percent-encoded: "+err.Error()))
	}
	for name, values := range query {
		for _, v := range append(values, name) {
			if !utf8.ValidString(v) {
				return nil, fault.Invalid(strings.ToValidUTF8(name, "\ufffd"), fault.NewProblem("encoding", "must be UTF-8"))
			}
		}
	}
	return query, nil
}

// readJSON is the body of a request, which is UTF-8 and declared as JSON; nil for a request without a body. More than limit bytes
// are 413, another media type is 415.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.ContentLength > limit {
		return nil, fault.TooLarge(limit)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return nil, fault.TooLarge(limit)
		}
		return nil, fault.InvalidJSON("The body could not be read to its end.")
	}
	if len(body) == 0 {
		return nil, nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return nil, ErrMedia
	}
	if !utf8.Valid(body) {
		return nil, fault.InvalidJSON("The body is not UTF-8.")
	}
	return wholeCharacters(body), nil
}

var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// wholeCharacters is JSON text in which half a surrogate pair, such as "\ud800" alone, is the replacement character: no
// text column takes the half. Text that is no JSON comes back as it is.
func wholeCharacters(text []byte) []byte {
	if !surrogate.Match(text) {
		return text
	}
	v, err := decoded(text)
	if err != nil || !json.Valid(text) {
		return text
	}
	// The decoder has replaced the halves.
	whole, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return whole
}

// members adds the values of a JSON object to args by their names, as parts of text, and reports whether text is one. Of two values with one name the
// last counts, as for json.Unmarshal, which would copy each.
func members(text []byte, args map[string]json.RawMessage) bool {
	if !json.Valid(text) {
		return false
	}
	object := gjson.ParseBytes(text)
	object.ForEach(func(name, value gjson.Result) bool {
		args[name.String()] = text[value.Index : value.Index+len(value.Raw)]
		return true
	})
	return object.IsObject()
}
