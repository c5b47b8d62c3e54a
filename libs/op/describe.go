package op

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/proto"
)

// Manifest is the service's entry for the gateway and settings: routes, abilities and OpenAPI. The caller adds BaseUrl, App
// and Pages.
func (s *Set) Manifest() (*proto.Manifest, error) {
	m := &proto.Manifest{Service: s.Service}
	for _, e := range s.ops {
		m.Routes = append(m.Routes, &proto.Route{Id: e.ID, Method: e.method(), Path: e.path(), App: e.App,
			Public: e.Perm == Public && !e.SameOrigin, Stream: e.csv})
	}
	for _, e := range s.tools() {
		a := s.describe(e)
		in, err := json.Marshal(a.InputSchema)
		if err != nil {
			return nil, err
		}
		out, err := json.Marshal(a.OutputSchema)
		if err != nil {
			return nil, err
		}
		m.Abilities = append(m.Abilities, &proto.Ability{Name: a.Name, Label: a.Label, Description: a.Description,
			InputSchema: in, OutputSchema: out, Permission: e.Perm, ReadOnly: e.runMethod() == http.MethodGet,
			Destructive: e.destructive(), Idempotent: e.idempotent(), Exposed: !e.Hidden, App: e.App, Operation: e.ID})
		if !e.Hidden {
			path := "/abilities/" + a.Name
			m.Routes = append(m.Routes, &proto.Route{Id: "ability-" + e.ability(), Method: http.MethodGet, Path: path, App: e.App},
				&proto.Route{Id: "run-" + e.ability(), Method: e.runMethod(), Path: path + "/run", App: e.App, Stream: e.csv})
		}
	}
	var err error
	m.Openapi, err = json.Marshal(s.OpenAPI())
	return m, err
}

// Described is an ability as assistants see it.
type Described struct {
	Name         string         `json:"name"`
	Label        string         `json:"label"`
	Description  string         `json:"description"`
	Category     string         `json:"category"`
	InputSchema  any            `json:"input_schema"`
	OutputSchema any            `json:"output_schema"`
	Meta         map[string]any `json:"meta"`
}

func (s *Set) describe(e *entry) Described {
	return Described{
		Name:        "svc/" + e.ability(),
		Label:       label(e.ability()),
		Description: e.Doc, Category: s.Service,
		InputSchema:  inline(e.inputSchema(true), s.requests),
		OutputSchema: inline(e.out, s.answers),
		Meta: map[string]any{"annotations": map[string]any{
			"readonly": e.runMethod() == http.MethodGet, "destructive": e.destructive(), "idempotent": e.idempotent() || e.reads()}},
	}
}

func label(name string) string {
	words := strings.ReplaceAll(name, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// inputSchema is the whole request as one object.
func (e *entry) inputSchema(asAbility bool) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, f := range e.in {
		if asAbility && f.personal {
			continue
		}
		s.Properties[f.name] = f.schema
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	return s
}

// inline is a schema with its references replaced, for readers who get no components.
func inline(s *huma.Schema, reg huma.Registry) any {
	if s == nil {
		return map[string]any{"type": "null"}
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return map[string]any{}
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return map[string]any{}
	}
	var walk func(v any, depth int) any
	walk = func(v any, depth int) any {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && depth < 12 {
				return inline(reg.SchemaFromRef(ref), reg)
			}
			for k, x := range v {
				v[k] = walk(x, depth+1)
			}
		case []any:
			for i, x := range v {
				v[i] = walk(x, depth+1)
			}
		}
		return v
	}
	return walk(v, 0)
}

// Part is the service's part of the OpenAPI description.
type Part struct {
	Paths      map[string]map[string]any `json:"paths"`
	Components map[string]any            `json:"components"`
}

// OpenAPI describes every operation of the service, whatever app it belongs to.
func (s *Set) OpenAPI() Part {
	p := Part{Paths: map[string]map[string]any{}}
	for _, e := range s.ops {
		if p.Paths[e.path()] == nil {
			p.Paths[e.path()] = map[string]any{}
		}
		p.Paths[e.path()][strings.ToLower(e.method())] = e.openAPI()
	}
	schemas := map[string]any{}
	for name, schema := range s.answers.Map() {
		schemas[name] = schema
	}
	for name, schema := range s.requests.Map() {
		schemas[name] = schema
	}
	p.Components = map[string]any{"schemas": schemas}
	return p
}

func (e *entry) openAPI() map[string]any {
	o := map[string]any{"operationId": e.ID, "summary": e.Doc, "tags": []string{e.set.Service}}
	if e.App != "" {
		o["x-app"] = e.App
	}
	switch e.Perm {
	case Public:
		o["security"] = []any{}
	case SignedIn:
	default:
		o["x-permission"] = e.Perm
	}
	if name := e.ability(); name != "" && e.Perm != Public {
		o["x-ability"] = "svc/" + name
	}
	var params []any
	body := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	query := e.method() == http.MethodGet || e.method() == http.MethodDelete
	for _, f := range e.in {
		switch {
		case f.inPath:
			params = append(params, map[string]any{"name": f.name, "in": "path", "required": true, "schema": f.schema})
		case query:
			params = append(params, map[string]any{"name": f.name, "in": "query", "required": f.required, "schema": f.inQuery(), "description": f.schema.Description})
		default:
			body.Properties[f.name] = f.schema
			if f.required {
				body.Required = append(body.Required, f.name)
			}
		}
	}
	if e.replays() {
		params = append(params, map[string]any{"name": "Idempotency-Key", "in": "header", "schema": map[string]any{"type": "string", "maxLength": 255}})
	}
	if params != nil {
		o["parameters"] = params
	}
	if len(body.Properties) > 0 {
		o["requestBody"] = map[string]any{"required": len(body.Required) > 0, "content": map[string]any{"application/json": map[string]any{"schema": body}}}
	}
	o["responses"] = e.responses()
	return o
}

// inQuery is the field's schema as a query parameter: an empty value is the same as none.
func (f *field) inQuery() *huma.Schema {
	s := f.schema
	words := s.Type == huma.TypeString && s.Format == "" && s.Enum == nil && s.MinLength == nil && s.Pattern == ""
	if f.required || words || s.Type == huma.TypeArray {
		return s
	}
	none := 0
	return &huma.Schema{AnyOf: []*huma.Schema{s, {Type: huma.TypeString, MaxLength: &none}}}
}

func (e *entry) responses() map[string]any {
	fails := map[string]any{"description": "Refused; the body says why.", "content": map[string]any{"application/json": map[string]any{
		"schema": map[string]any{"$ref": "#/components/schemas/Error"}}}}
	done := map[string]any{"description": "Done."}
	switch {
	case e.csv:
		done["content"] = map[string]any{"text/csv": map[string]any{"schema": map[string]any{"type": "string"}}}
	case e.out != nil:
		done["content"] = map[string]any{"application/json": map[string]any{"schema": e.out}}
	}
	all := map[string]any{"default": fails}
	for _, status := range e.statuses() {
		all[strconv.Itoa(status)] = done
	}
	return all
}

// statuses are the codes of success.
func (e *entry) statuses() []int {
	if e.out == nil && !e.csv {
		return []int{http.StatusNoContent}
	}
	all := []int{cmp.Or(e.Status, http.StatusOK)}
	if e.Also != 0 {
		all = append(all, e.Also)
	}
	return all
}

// ErrorSchema is the one shape of errors, for the components of the whole description.
var ErrorSchema = map[string]any{
	"type":     "object",
	"required": []string{"code", "message", "data"},
	"properties": map[string]any{
		"code":    map[string]any{"type": "string"},
		"message": map[string]any{"type": "string"},
		"data": map[string]any{"type": "object", "required": []string{"status"}, "additionalProperties": true,
			"properties": map[string]any{"status": map[string]any{"type": "integer"}, "request_id": map[string]any{"type": "string"}}},
	},
}

// Operations are all operations by route.
func (s *Set) Operations() map[string]Op {
	m := map[string]Op{}
	for _, e := range s.ops {
		m[e.Route] = e.Op
	}
	return m
}

// Statuses are the codes of success that a route is described with.
func (s *Set) Statuses(route string) []int {
	for _, e := range s.ops {
		if e.Route == route {
			return e.statuses()
		}
	}
	return nil
}

// Routes are the routes of all operations, sorted.
func (s *Set) Routes() []string { return slices.Sorted(maps.Keys(s.Operations())) }
