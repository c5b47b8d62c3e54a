package apptest

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/op"
	"frontdesk/libs/openapi"
)

// recording holds the examples of the room under test and those that this process has seen, and writes them to the room's
// examples.json, with UPDATE_EXAMPLES=1.
var recording struct {
	sync.Mutex
	of map[string]openapi.Example
}

var records = os.Getenv("UPDATE_EXAMPLES") != ""

// exampleFile stands beside the package under test, which embeds it.
const exampleFile = "examples.json"

// record keeps the call as the example of its operation if it shows more than the one before.
func (c *Client) record(o *openapi3.Operation, req *http.Request, request []byte, res *http.Response, answer []byte) {
	c.t.Helper()
	recording.Lock()
	defer recording.Unlock()
	if recording.of == nil {
		raw, err := os.ReadFile(exampleFile)
		if os.IsNotExist(err) {
			return // it has no operations of its own
		}
		require.NoError(c.t, err)
		recording.of = map[string]openapi.Example{}
		require.NoError(c.t, json.Unmarshal(raw, &recording.of))
	}
	before, own := recording.of[o.OperationID]
	if _, elsewhere := c.s.Parts.Ops.Recorded()[o.OperationID]; elsewhere && !own {
		return // another room's
	}
	x := before
	if res.StatusCode >= 400 {
		var got refusal
		require.NoError(c.t, json.Unmarshal(answer, &got))
		key := strings.TrimSpace(got.Code + " " + got.Data.Reason)
		_, declared := c.s.Parts.Ops.Fails(o.OperationID)[key]
		if _, there := before.Refused[key]; there || !declared {
			return
		}
		if x.Refused == nil {
			x.Refused = map[string]json.RawMessage{}
		}
		x.Refused[key] = masked(c.t, answer)
	} else {
		x = openapi.Example{Path: strings.TrimPrefix(req.URL.Path, "/v1"), Query: req.URL.Query(), Status: res.StatusCode, Refused: before.Refused}
		if len(request) > 0 && strings.HasPrefix(req.Header.Get("Content-Type"), "application/json") {
			x.Request = masked(c.t, request)
		}
		switch {
		case strings.HasPrefix(res.Header.Get("Content-Type"), "application/json"):
			x.Answer = masked(c.t, answer)
		case len(answer) > 0:
			x.Answer, _ = json.Marshal(string(answer))
		}
		if worth(x) <= worth(before) {
			return
		}
	}
	recording.of[o.OperationID] = x
	raw, err := json.MarshalIndent(recording.of, "", " ")
	require.NoError(c.t, err)
	require.NoError(c.t, os.WriteFile(exampleFile, append(raw, '\n'), 0o644))
}

// worth counts the values in an example. A missing example is worth 0, one that is too long to read 1.
func worth(x openapi.Example) int {
	if x.Status == 0 || len(x.Request) > 1500 || len(x.Answer) > 3500 || longWord.Match(x.Request) || longWord.Match(x.Answer) {
		return min(x.Status, 1)
	}
	return 2 + values(x.Request) + values(x.Answer) + len(x.Query)
}

var longWord = regexp.MustCompile(`[a-z]{30}|<script|\\u00`)

// values counts the values of a JSON text that are neither null nor empty.
func values(raw json.RawMessage) (n int) {
	var v any
	_ = json.Unmarshal(raw, &v)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v[:min(len(v), 3)] {
				walk(x)
			}
		case nil:
		default:
			if v != "" {
				n++
			}
		}
	}
	walk(v)
	return n
}

var (
	secretName = regexp.MustCompile(`^(password|secret|token|otpauth_url|recovery_codes|challenge|code|state|redirect|nonce|proof)$`)
	letter     = regexp.MustCompile(`[A-Za-z0-9]`)
	// A state that is a word is that of a record; the others are of somebody who signs in.
	word = regexp.MustCompile(`^[a-z_]+$`)
)

// masked is a JSON text without its secrets: x stands for each of their letters.
func masked(t testing.TB, raw []byte) json.RawMessage {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v), "%s", raw)
	var walk func(v any, secret bool) any
	walk = func(v any, secret bool) any {
		switch v := v.(type) {
		case map[string]any:
			for k, x := range v {
				text, _ := x.(string)
				v[k] = walk(x, secretName.MatchString(k) && (k != "state" || !word.MatchString(text)))
			}
		case []any:
			for i, x := range v {
				v[i] = walk(x, secret)
			}
		case string:
			if secret && !strings.HasPrefix(v, "svc_") {
				return letter.ReplaceAllString(v, "x")
			}
		}
		return v
	}
	out, err := json.Marshal(walk(v, false))
	require.NoError(t, err)
	return out
}

// CheckExamples requires a true example of every operation but those without and those that answer with a zip file: an answer that the service has given, which the description allows, and a request
// that it allows too. UPDATE_EXAMPLES=1 records missing ones while the tests run, in the examples.json of the package whose tests
// make the call; an example that is not true any more is to be deleted from it first.
func CheckExamples(t testing.TB, set *op.Set, without ...string) {
	t.Helper()
	all := openapi.Examples(set)
	text := documentText(t, set)
	doc := document(t, text)
	for path, item := range doc.Paths.Map() {
		for method, o := range item.Operations() {
			for _, p := range o.Parameters {
				require.NotEmpty(t, p.Value.Description, "%s %s: the field of %s needs a tag doc", method, path, p.Value.Name)
			}
			x, ok := all[o.OperationID]
			delete(all, o.OperationID)
			if slices.Contains(without, o.OperationID) || o.Responses.Status(200) != nil && o.Responses.Status(200).Value.Content["application/zip"] != nil {
				continue
			}
			require.True(t, ok && x.Status != 0, "%s (%s %s) has no example: run the tests of the service with UPDATE_EXAMPLES=1", o.OperationID, method, path)
			if body := o.RequestBody; body != nil && x.Request != nil && body.Value.Content["application/json"] != nil {
				requireFits(t, body.Value.Content["application/json"].Schema, x.Request, o.OperationID+": request")
			}
			answer := o.Responses.Status(x.Status)
			require.NotNil(t, answer, "%s: %d", o.OperationID, x.Status)
			if content := answer.Value.Content["application/json"]; content != nil {
				requireFits(t, content.Schema, x.Answer, o.OperationID+": answer")
			}
		}
	}
	require.Empty(t, all, "examples of no operation")
	checkFields(t, text)
}

func requireFits(t testing.TB, schema *openapi3.SchemaRef, raw []byte, what string) {
	t.Helper()
	var v any
	require.NoError(t, json.Unmarshal(raw, &v), what)
	require.NoError(t, schema.Value.VisitJSON(v), "%s: %s", what, raw)
}

// checkFields requires a description of each field of a request or an answer, unless it refers to a shared schema, which has its own.
func checkFields(t testing.TB, text []byte) {
	t.Helper()
	var doc map[string]any
	require.NoError(t, json.Unmarshal(text, &doc))
	var wrong []string
	var walk func(v any, where string)
	walk = func(v any, where string) {
		switch v := v.(type) {
		case map[string]any:
			if fields, ok := v["properties"].(map[string]any); ok {
				for name, f := range fields {
					if f, ok := f.(map[string]any); ok && f["$ref"] == nil && f["description"] == nil {
						wrong = append(wrong, where+": "+name)
					}
				}
			}
			for key, x := range v {
				if key != "example" && key != "examples" {
					walk(x, where+"/"+key)
				}
			}
		case []any:
			for _, x := range v {
				walk(x, where)
			}
		}
	}
	walk(doc["paths"], "")
	walk(doc["components"].(map[string]any)["schemas"], "")
	slices.Sort(wrong)
	require.Empty(t, wrong, "fields need a tag doc")
}
