package op

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
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
			Public: e.Perm == Public && !e.SameOrigin, Stream: e.csv || e.events, Replays: e.replays() && s.Fingerprints != nil})
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
			Destructive: e.destructive(), Idempotent: e.idempotent(), Exposed: !e.Hidden,
			OpenWorld: e.Outside, App: e.App, Operation: e.ID})
		path := "/abilities/" + a.Name
		m.Routes = append(m.Routes, &proto.Route{Id: "ability-" + e.ability(), Method: http.MethodGet, Path: path, App: e.App},
			&proto.Route{Id: "run-" + e.ability(), Method: e.runMethod(), Path: path + "/run", App: e.App, Stream: e.csv})
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
		Description: strings.TrimSpace(e.Doc + " " + e.Use), Category: s.Service,
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
			delete(v, component)
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

// Part is the service's part of the OpenAPI description. It is complete: a reference leads to its own components.
type Part struct {
	Tags       []Tag                     `json:"tags"`
	Paths      map[string]map[string]any `json:"paths"`
	Components map[string]map[string]any `json:"components"`
	// Webhooks are the calls that the service makes, see Set.Webhooks.
	Webhooks *Webhooks `json:"webhooks,omitempty"`
}

// Tag is a heading in the description, under which operations stand.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Webhooks are the calls that a service makes: an OpenAPI path item by the event's name. Its schemas may refer to those of other services.
type Webhooks struct {
	Tag   Tag                       `json:"tag"`
	Items map[string]map[string]any `json:"items"`
}

// Under puts the operations that are added after it under a heading. text says in a sentence or two what they are about.
func (s *Set) Under(name, text string) {
	if s.under = name; !slices.Contains(s.tags, Tag{name, text}) {
		s.tags = append(s.tags, Tag{name, text})
	}
}

// OpenAPI describes every operation of the service, whatever app it belongs to.
func (s *Set) OpenAPI() Part {
	p := Part{Tags: s.tags, Paths: map[string]map[string]any{}, Webhooks: s.Webhooks,
		Components: map[string]map[string]any{"schemas": {"Error": ErrorSchema, "Id": idSchema, "List": listSchema,
			"ContactFields": fieldsSchema, "OrganizationFields": fieldsSchema}, "responses": {}, "headers": headers, "parameters": {}}}
	for _, e := range s.ops {
		if p.Paths[e.path()] == nil {
			p.Paths[e.path()] = map[string]any{}
		}
		p.Paths[e.path()][strings.ToLower(e.method())] = e.openAPI(p.Components)
	}
	for name, schema := range s.answers.Map() {
		p.Components["schemas"][name] = sharing(name, schema)
	}
	for name, schema := range s.requests.Map() {
		p.Components["schemas"][name] = sharing(name, schema)
	}
	return p
}

// The shapes that all operations share.
var (
	idSchema = map[string]any{"type": "string", "format": "uuid",
		"description": "The id of a record. New ones are UUIDs of version 7, which sort by the time of their making.", "examples": []any{"0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13"}}
	listSchema = map[string]any{"type": "object", "required": []string{"next_cursor", "total"}, "description": "The page of a list: its items stand beside these two.",
		"properties": map[string]any{
			"next_cursor": map[string]any{"type": []string{"string", "null"}, "description": "The cursor of the next page; null on the last."},
			"total":       map[string]any{"type": "integer", "format": "int64", "description": "Records in the whole list, counted with its first page."}}}
	// settings replaces it by the schemas of the site's own fields.
	fieldsSchema = map[string]any{"type": "object", "additionalProperties": true, "description": "Values of the site's own fields, by key."}
	headers      = map[string]any{
		"RequestId":          header("The id of the call, as sent in X-Request-Id or made here. Errors and logs name it.", "string"),
		"RetryAfter":         header("Seconds to wait before the call is sent again.", "integer"),
		"ETag":               header("The record's version, for If-Match.", "string"),
		"IdempotentReplayed": header("true if the answer is that of an earlier call with this Idempotency-Key.", "string"),
	}
	keyParameter = map[string]any{"name": "Idempotency-Key", "in": "header", "required": false, "schema": map[string]any{"type": "string", "maxLength": 255},
		"description": "A text of your own for this one change, such as a UUID. The same call with the same key gets the first answer again for 24 hours, and nothing happens twice."}
	matchParameter = map[string]any{"name": "If-Match", "in": "header", "required": false, "schema": map[string]any{"type": "string", "maxLength": 255},
		"description": "The ETag of the record as you saw it. If the record has another version by now, the answer is 412 svc_version_mismatch."}
)

func header(description, kind string) map[string]any {
	return map[string]any{"description": description, "schema": map[string]any{"type": kind}}
}

// ref refers to a component of a kind.
func ref(kind, name string) map[string]any {
	return map[string]any{"$ref": "#/components/" + kind + "/" + name}
}

// inJSON is content of a schema.
func inJSON(schema any) map[string]any {
	return map[string]any{"application/json": map[string]any{"schema": schema}}
}

// sharing is a schema as it is described: ids refer to Id, and pages of lists to List.
func sharing(name string, schema *huma.Schema) any {
	if strings.HasPrefix(name, "List") && schema.Properties["items"] != nil && schema.Properties["total"] != nil && !schema.Properties["total"].Nullable {
		return map[string]any{"allOf": []any{ref("schemas", "List"), map[string]any{"type": "object", "required": []string{"items"},
			"properties": map[string]any{"items": shared(schema.Properties["items"])}}}}
	}
	return shared(schema)
}

// shared is a schema with its ids as references to Id.
func shared(schema *huma.Schema) any {
	raw, err := json.Marshal(schema)
	if err != nil {
		panic("op: schema: " + err.Error()) // it is made of our own types
	}
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		panic("op: schema: " + err.Error())
	}
	return withIDs(v)
}

// component marks a schema that is described by a component of this name.
const component = "x-component"

func withIDs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v[component].(string); ok {
			return map[string]any{"$ref": "#/components/schemas/" + name, "description": v["description"]}
		}
		if v["type"] == "string" && v["format"] == "uuid" {
			id := ref("schemas", "Id")
			if d, ok := v["description"]; ok {
				id["description"] = d
			}
			return id
		}
		for k, x := range v {
			v[k] = withIDs(x)
		}
	case []any:
		for i, x := range v {
			v[i] = withIDs(x)
		}
	}
	return v
}

// openAPI describes the operation and adds what it shares with others to components.
func (e *entry) openAPI(components map[string]map[string]any) map[string]any {
	o := map[string]any{"operationId": e.ID, "summary": label(e.ID), "description": e.description(), "tags": []string{e.tag}}
	if e.App != "" {
		o["x-app"] = e.App
	}
	basic, cookie := map[string]any{"basic": []string{}}, map[string]any{"cookie": []string{}}
	switch {
	case e.Perm == Public:
		o["security"] = []any{}
	case e.PersonOnly:
		o["security"] = []any{cookie}
	default:
		o["security"] = []any{basic, cookie}
	}
	if e.Perm != Public && e.Perm != SignedIn {
		o["x-permission"] = e.Perm
	}
	if name := e.AbilityName(); name != "" {
		o["x-ability"] = name
	}
	example := e.set.examples[e.ID]
	var params []any
	body := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	query := e.method() == http.MethodGet || e.method() == http.MethodDelete
	for _, f := range e.in {
		switch {
		case f.inPath:
			p := map[string]any{"name": f.name, "in": "path", "required": true, "schema": shared(f.schema), "description": e.about(f)}
			if v, ok := example.pathValue(e.path(), f.name); ok {
				p["example"] = e.raw(f, []string{v})
			}
			params = append(params, p)
		case query:
			p := map[string]any{"name": f.name, "in": "query", "required": f.required, "schema": shared(f.inQuery()), "description": e.about(f)}
			if shared, there := components["parameters"][f.name]; f.name == "cursor" {
				if !there || reflect.DeepEqual(shared, p) {
					components["parameters"][f.name] = p
					params = append(params, ref("parameters", f.name))
					continue
				}
			}
			if v := example.Query[f.name]; v != nil {
				p["example"] = e.raw(f, v)
			}
			params = append(params, p)
		default:
			body.Properties[f.name] = f.schema
			if f.required {
				body.Required = append(body.Required, f.name)
			}
		}
	}
	if e.replays() {
		components["parameters"]["IdempotencyKey"] = keyParameter
		params = append(params, ref("parameters", "IdempotencyKey"))
	}
	if e.Versioned {
		components["parameters"]["IfMatch"] = matchParameter
		params = append(params, ref("parameters", "IfMatch"))
	}
	if params != nil {
		o["parameters"] = params
	}
	switch {
	case e.takesAny:
		o["requestBody"] = describeSent()
	case e.Accepts != nil:
		o["requestBody"] = e.describeFile()
	}
	if len(body.Properties) > 0 {
		content := inJSON(shared(body))
		if example.Request != nil {
			content["application/json"].(map[string]any)["example"] = example.Request
		}
		o["requestBody"] = map[string]any{"required": len(body.Required) > 0, "content": content}
	}
	answers := e.failures(components["responses"])
	for _, status := range e.statuses() {
		answers[strconv.Itoa(status)] = e.done(status, example)
	}
	o["responses"] = answers
	return o
}

// description is the text about the operation, with what its declaration says of permissions, apps and limits.
func (e *entry) description() string {
	text := []string{strings.TrimSpace(e.Doc + " " + e.Use)}
	switch {
	case e.Perm == Public:
		text = append(text, "Public: it needs no credential.")
	case e.PersonOnly && e.Perm == SignedIn:
		text = append(text, "Only for a person who is signed in.")
	case e.PersonOnly:
		text = append(text, "Needs the permission `"+e.Perm+"`, and a person who is signed in.")
	case e.Perm != SignedIn:
		text = append(text, "Needs the permission `"+e.Perm+"`.")
	}
	if e.App != "" {
		text = append(text, "Part of the app `"+e.App+"`.")
	}
	if e.MaxBody != maxBody {
		text = append(text, fmt.Sprintf("The body has at most %d MiB.", e.MaxBody>>20))
	}
	if len(e.Limits) > 0 {
		var limits []string
		for _, l := range e.Limits {
			limits = append(limits, fmt.Sprintf("%d in %s", l.N, strings.NewReplacer("1m0s", "a minute", "1h0m0s", "an hour").Replace(l.Per.String())))
		}
		text = append(text, "An address may call it "+strings.Join(limits, " and ")+".")
	}
	return strings.Join(text, "\n\n")
}

// about describes a parameter.
func (e *entry) about(f *field) string {
	switch {
	case f.schema.Description != "":
		return f.schema.Description
	case f.inPath && f.name == "id" && e.Record != "":
		return "The id of the " + strings.ReplaceAll(e.Record, "_", " ") + "."
	}
	return meanings[f.name]
}

// meanings describe parameters whose names mean the same in every operation. A tag doc at the field goes before.
var meanings = map[string]string{
	"id":               "The id of the record.",
	"user":             "The user id of the person.",
	"staff":            "The user id of a person of the team: only what is theirs.",
	"status":           "Only records with this status.",
	"owner":            "The user id of a person of the team: only records that they own.",
	"service":          "The id of a service.",
	"form":             "The id of a form: only what was sent with it.",
	"contact":          "The id of a contact: only what is theirs.",
	"contact_id":       "The id of the contact.",
	"organization":     "The id of an organization: only its people.",
	"marketing":        "Only contacts with this marketing status.",
	"source":           "Only contacts that came from this source, see list-contact-sources.",
	"channel":          "Only what came through this channel.",
	"entity":           "The kind of record that the fields belong to.",
	"include_archived": "Archived ones too.",
	"created_since":    "Only records that were made at this time or later.",
	"updated_since":    "Only records that changed at this time or later. Who asks on with the newest updated_at they saw misses nothing.",
	"app":              "The id of the app, see list-apps.",
	"role":             "The name of the role, see get-roles.",
	"path":             "The path to check.",
	"nonce":            "The text that check-portal-host sent.",
	"name":             "The name behind svc/.",
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

// done describes the answer of success.
func (e *entry) done(status int, example Example) map[string]any {
	done := map[string]any{"description": "Done."}
	media, schema := "application/json", any(nil)
	switch {
	case e.csv:
		media, schema = "text/csv", map[string]any{"type": "string"}
	case e.events:
		media, schema = "text/event-stream", map[string]any{"type": "string"}
	case e.out != nil:
		schema = shared(e.out)
	}
	if schema != nil {
		content := map[string]any{"schema": schema}
		if example.Status == status && example.Answer != nil {
			content["example"] = example.Answer
		}
		done["content"] = map[string]any{media: content}
	}
	with := map[string]any{"X-Request-Id": ref("headers", "RequestId")}
	if e.tagged {
		with["ETag"] = ref("headers", "ETag")
	}
	if e.replays() {
		with["Idempotent-Replayed"] = ref("headers", "IdempotentReplayed")
	}
	done["headers"] = with
	return done
}

// statuses are the codes of success.
func (e *entry) statuses() []int {
	if e.out == nil && !e.csv && !e.events {
		return []int{http.StatusNoContent}
	}
	all := []int{cmp.Or(e.Status, http.StatusOK)}
	if e.Also != 0 {
		all = append(all, e.Also)
	}
	return all
}

// ErrorSchema is the one shape of errors.
var ErrorSchema = map[string]any{
	"type":        "object",
	"description": "Every error has this shape. Programs decide by code and reason, people read message.",
	"required":    []string{"code", "message", "data"},
	"properties": map[string]any{
		"code":    map[string]any{"type": "string", "description": "It never changes its meaning.", "examples": []any{"svc_invalid_param"}},
		"message": map[string]any{"type": "string", "description": "A sentence for people, which may change."},
		"data": map[string]any{"type": "object", "required": []string{"status"}, "additionalProperties": true, "description": "Facts beside the code, by code.",
			"properties": map[string]any{
				"status":     map[string]any{"type": "integer", "description": "The status of the answer."},
				"request_id": map[string]any{"type": "string", "description": "It finds the call in the logs."},
				"reason":     map[string]any{"type": "string", "description": "Why, where a code has several reasons."},
			}},
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

// Fails are the refusals that the operation with this id declares.
func (s *Set) Fails(id string) Fails {
	for _, e := range s.ops {
		if e.ID == id {
			return e.Op.Fails
		}
	}
	return nil
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
