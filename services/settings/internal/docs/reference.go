package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// reference is the OpenAPI document as the pages show it.
type reference struct {
	Tags       []section
	Paths      map[string]map[string]*operation
	Webhooks   map[string]map[string]*operation
	Components struct {
		Parameters map[string]parameter
		Responses  map[string]response
	}
}

type section struct {
	Name, Description string
	Operations        []*operation
}

type operation struct {
	Method, Path string
	ID           string `json:"operationId"`
	Summary      string
	Description  string
	Tags         []string
	Parameters   []parameter
	RequestBody  struct {
		Content map[string]struct {
			Schema struct {
				Required   []string
				Properties map[string]property
			}
			Example json.RawMessage
		}
	}
	Responses map[string]response
}

type parameter struct {
	Ref         string `json:"$ref"`
	Name, In    string
	Required    bool
	Description string
	Example     json.RawMessage
}

// Value is what "try it" begins with: the example of a parameter in the path, because nothing goes without it.
func (p parameter) Value() string {
	if p.In != "path" || p.Example == nil {
		return ""
	}
	var text string
	if json.Unmarshal(p.Example, &text) == nil {
		return text
	}
	return string(p.Example)
}

type property struct {
	Type        any
	Format      string
	Description string
	Enum        []any
	Ref         string `json:"$ref"`
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Content     map[string]struct{ Example json.RawMessage }
	Codes       []struct{ Code, Reason, When string } `json:"x-codes"`
}

// line is a row of a table about an operation.
type line struct{ Name, Kind, Text string }

// Paragraphs are the description's.
func (o *operation) Paragraphs() []string {
	return strings.Split(strings.ReplaceAll(o.Description, "`", ""), "\n\n")
}

// Inputs are the parameters and the properties of the body.
func (o *operation) Inputs() []line {
	var all []line
	for _, p := range o.Parameters {
		kind := p.In
		if p.Required {
			kind += ", required"
		}
		all = append(all, line{p.Name, kind, p.Description})
	}
	body := o.RequestBody.Content["application/json"].Schema
	for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
		p, kind := body.Properties[name], "body"
		if slices.Contains(body.Required, name) {
			kind += ", required"
		}
		var words []string
		for _, v := range p.Enum {
			if s, ok := v.(string); ok && s != "" {
				words = append(words, s)
			}
		}
		all = append(all, line{name, kind, strings.TrimSpace(p.Description + " " + strings.Join(words, ", "))})
	}
	return all
}

// Request is the example of a body.
func (o *operation) Request() string {
	return indented(o.RequestBody.Content["application/json"].Example)
}

// Answer is the example of an answer.
func (o *operation) Answer() string {
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		for _, c := range o.Responses[status].Content {
			if c.Example != nil {
				return indented(c.Example)
			}
		}
	}
	return ""
}

// Refusals are the errors by status and code.
func (o *operation) Refusals() []line {
	var all []line
	for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
		for _, c := range o.Responses[status].Codes {
			all = append(all, line{strings.TrimSpace(c.Code + " " + c.Reason), status, c.When})
		}
	}
	return all
}

// canTry reports whether the page can send the request: of an operation, whose body is JSON, and that answers at once.
func (o *operation) canTry() bool {
	if !strings.HasPrefix(o.Path, "/") || len(o.RequestBody.Content) > 0 && !o.TakesJSON() {
		return false
	}
	for _, a := range o.Responses {
		if _, stream := a.Content["text/event-stream"]; stream {
			return false
		}
	}
	return true
}

// TakesJSON reports whether the operation has a body.
func (o *operation) TakesJSON() bool {
	_, ok := o.RequestBody.Content["application/json"]
	return ok
}

// Endangers reports whether "try it" asks before it sends the request: of all that may change data.
func (o *operation) Endangers() bool { return o.Method != http.MethodGet }

// Tryable are the parameters that the page can send.
func (o *operation) Tryable() []parameter {
	return slices.DeleteFunc(slices.Clone(o.Parameters), func(p parameter) bool { return p.In == "cookie" })
}

func indented(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return ""
	}
	return b.String()
}

// readReference reads the document and orders its operations under their headings.
func readReference(document []byte) (*reference, error) {
	var r reference
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, err
	}
	add := func(method, path string, o *operation) {
		o.Method, o.Path = strings.ToUpper(method), path
		for i, p := range o.Parameters {
			if p.Ref != "" {
				o.Parameters[i] = r.Components.Parameters[last(p.Ref)]
			}
		}
		for status, a := range o.Responses {
			if a.Ref != "" {
				o.Responses[status] = r.Components.Responses[last(a.Ref)]
			}
		}
		for i := range r.Tags {
			if slices.Contains(o.Tags, r.Tags[i].Name) {
				r.Tags[i].Operations = append(r.Tags[i].Operations, o)
			}
		}
	}
	for path, methods := range r.Paths {
		for method, o := range methods {
			add(method, path, o)
		}
	}
	for event, methods := range r.Webhooks {
		for method, o := range methods {
			add(method, event, o)
		}
	}
	for _, t := range r.Tags {
		slices.SortFunc(t.Operations, func(a, b *operation) int {
			return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Method, b.Method))
		})
	}
	return &r, nil
}

func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// search are the sections with the operations that have all words of text in their name, path or description.
func (r *reference) search(text string) []section {
	words := strings.Fields(strings.ToLower(text))
	var found []section
	for _, t := range r.Tags {
		some := section{Name: t.Name, Description: t.Description}
		for _, o := range t.Operations {
			all := strings.ToLower(t.Name + " " + o.Method + " " + o.Path + " " + o.ID + " " + o.Summary + " " + o.Description)
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) }) {
				some.Operations = append(some.Operations, o)
			}
		}
		if len(some.Operations) > 0 {
			found = append(found, some)
		}
	}
	return found
}

func (r *reference) find(id string) *operation {
	for _, t := range r.Tags {
		for _, o := range t.Operations {
			if o.ID == id {
				return o
			}
		}
	}
	return nil
}
