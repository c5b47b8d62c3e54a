package apps

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// part is one service's share of the description, as openapi.Part is read.
type part struct {
	Tags       []op.Tag                              `json:"tags"`
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components components                            `json:"components"`
	Webhooks   struct {
		Tag   op.Tag                                `json:"tag"`
		Items map[string]map[string]json.RawMessage `json:"items"`
	} `json:"webhooks"`
}

// components are the shared parts of a description by kind ("schemas") and name.
type components map[string]map[string]json.RawMessage

func (c components) set(kind, name string, raw json.RawMessage) {
	if c[kind] == nil {
		c[kind] = map[string]json.RawMessage{}
	}
	c[kind][name] = raw
}

// customField is the part of a custom field's record that the description shows.
type customField struct {
	Entity   string   `json:"entity"`
	Key      string   `json:"key"`
	Label    string   `json:"label"`
	Type     string   `json:"type"`
	Options  []string `json:"options"`
	Archived bool     `json:"archived"`
}

// Description is an OpenAPI or AsyncAPI document of the installation.
type Description []byte

// Schema is that of any object: the standards themselves define what a description is.
func (Description) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// EncodedJSON is the document, which is JSON already.
func (d Description) EncodedJSON() []byte { return d }

// description caches the merged documents until one of their ingredients changes.
type description struct {
	mu   sync.Mutex
	of   ingredients
	docs *documents
}

// documents are all that the parts of the services are merged into.
type documents struct{ open, async Description }

// ingredients are the versions of everything that the documents are made of.
type ingredients struct {
	manifests map[string]*Manifest
	fields    map[string]customField
	apps      int64
}

func (i ingredients) same(o ingredients) bool {
	return i.apps == o.apps && maps.Equal(i.manifests, o.manifests) &&
		maps.EqualFunc(i.fields, o.fields, func(a, b customField) bool {
			return a.Entity == b.Entity && a.Key == b.Key && a.Label == b.Label && a.Type == b.Type && a.Archived == b.Archived && slices.Equal(a.Options, b.Options)
		})
}

func (r *Room) describe(context.Context, *db.DB, op.None) (Description, error) {
	return r.Description()
}

func (r *Room) describeEvents(context.Context, *db.DB, op.None) (Description, error) {
	docs, err := r.documents()
	return docs.async, err
}

// Description is the OpenAPI document of the installation as it is now.
func (r *Room) Description() (Description, error) {
	docs, err := r.documents()
	return docs.open, err
}

func (r *Room) documents() (documents, error) {
	state := r.Apps.State()
	now := ingredients{manifests: r.manifests.All(), fields: r.fields.All(), apps: state.Version}
	d := &r.description
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.docs != nil && d.of.same(now) {
		return *d.docs, nil
	}
	docs, err := merge(r.Config.PublicURL+"/v1", r.Announced(), slices.Collect(maps.Values(now.fields)), r.Apps.On)
	if err != nil {
		return documents{}, err
	}
	d.of, d.docs = now, &docs
	return docs, nil
}

// keepDescription merges the documents anew within 0.25 s after a change, so that no caller waits for it, until ctx ends.
func (r *Room) keepDescription(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// The next caller gets the same error as an answer.
			_, _ = r.documents()
		}
	}
}

// merge makes one document of each kind of the parts of all services, without the operations and events of apps that are off.
func merge(server string, all []*Manifest, fields []customField, on func(string) bool) (docs documents, err error) {
	paths, shared := map[string]map[string]json.RawMessage{}, components{}
	var tags []op.Tag
	used := map[string]bool{}
	for _, m := range all {
		rename := clashes(all, m)
		for path, methods := range m.part.Paths {
			for method, raw := range methods {
				about, err := read(raw)
				if err != nil {
					return docs, fmt.Errorf("description of %s %s by %s: %w", method, path, m.GetService(), err)
				}
				if about.App != "" && !on(about.App) {
					continue
				}
				if paths[path] == nil {
					paths[path] = map[string]json.RawMessage{}
				}
				paths[path][method] = rename(raw)
				for _, t := range about.Tags {
					used[t] = true
				}
			}
		}
		for kind, named := range m.part.Components {
			for name, raw := range named {
				if kind == "schemas" {
					name = renamed(rename, name)
				}
				shared.set(kind, name, rename(additive(name, raw)))
			}
		}
		for _, t := range m.part.Tags {
			if !slices.Contains(tags, t) {
				tags = append(tags, t)
			}
		}
	}
	for name, v := range map[string]any{"ContactFields": fieldsSchema("contact", fields), "OrganizationFields": fieldsSchema("organization", fields)} {
		raw, err := json.Marshal(v)
		if err != nil {
			return docs, fmt.Errorf("schema %s: %w", name, err)
		}
		shared.set("schemas", name, raw)
	}
	webhooks := map[string]map[string]json.RawMessage{}
	for _, m := range all {
		w := m.part.Webhooks
		for event, item := range w.Items {
			about, err := read(item["post"])
			if err != nil {
				return docs, fmt.Errorf("description of %s by %s: %w", event, m.GetService(), err)
			}
			if (about.App == "" || on(about.App)) && shared.have(item["post"]) {
				webhooks[event] = item
				used[w.Tag.Name] = true
			}
		}
		tags = append(tags, w.Tag)
	}
	info := func(description string) map[string]any {
		return map[string]any{"title": "Frontdesk", "version": "1.0.0", "description": description,
			"contact": map[string]any{"name": "The team behind this site", "url": server + "/docs"},
			"license": map[string]any{"name": "For the integrations of this site", "url": server + "/docs"}}
	}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info": info("Contacts, forms and bookings of this site. The guides beside this reference stand at /v1/docs. Within version 1 answers only gain keys, " +
			"so a client ignores keys that it has no use for. Every error has the one shape Error; each operation lists its codes and when they come."),
		"servers": []any{map[string]any{"url": server}},
		"tags":    slices.DeleteFunc(tags, func(t op.Tag) bool { return !used[t.Name] }),
		"paths":   paths,
		"components": map[string]any{"securitySchemes": map[string]any{
			"basic":  map[string]any{"type": "http", "scheme": "basic", "description": "Login and an application password."},
			"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": auth.Cookie, "description": "A browser that signed in."},
		}},
	}
	if len(webhooks) > 0 {
		doc["webhooks"] = webhooks
	}
	for kind, named := range shared {
		doc["components"].(map[string]any)[kind] = named
	}
	if docs.open, err = json.Marshal(doc); err == nil {
		docs.async, err = asyncDocument(info("What happens on this site, as events: a POST to each webhook that subscribed them. POST /v1/webhooks makes one; the guide stands at /v1/docs. "+
			"Within version 1 events only gain keys, so a receiver ignores keys that it has no use for."), webhooks, shared)
	}
	return docs, err
}

// about is what the merge reads of an operation.
type about struct {
	App  string   `json:"x-app"`
	Tags []string `json:"tags"`
}

func read(operation json.RawMessage) (a about, err error) {
	err = json.Unmarshal(operation, &a)
	return a, err
}

// additive is the schema of an answer without its promise to have no other keys: within a version answers gain keys. The service's own tests
// hold its answers against the strict schema.
func additive(name string, schema json.RawMessage) json.RawMessage {
	if strings.HasSuffix(name, "Input") {
		return schema
	}
	return bytes.ReplaceAll(schema, []byte(`"additionalProperties":false,`), nil)
}

var references = regexp.MustCompile(`"#/components/(\w+)/(\w+)"`)

// have reports whether all that text refers to is there.
func (c components) have(text json.RawMessage) bool {
	for _, m := range references.FindAllSubmatch(text, -1) {
		if _, there := c[string(m[1])][string(m[2])]; !there {
			return false
		}
	}
	return true
}

// reachable are the schemas that text refers to, and those that these refer to.
func (c components) reachable(text []byte) map[string]json.RawMessage {
	found := map[string]json.RawMessage{}
	for queue := [][]byte{text}; len(queue) > 0; queue = queue[1:] {
		for _, m := range references.FindAllSubmatch(queue[0], -1) {
			if name := string(m[2]); string(m[1]) == "schemas" && found[name] == nil {
				found[name] = c["schemas"][name]
				queue = append(queue, found[name])
			}
		}
	}
	return found
}

const reference = `"#/components/schemas/`

// clashes finds the schemas of m whose names other services give to different schemas. The function it answers with puts the
// service's name before them, wherever a text refers to them.
func clashes(all []*Manifest, m *Manifest) func([]byte) []byte {
	mine := m.part.Components["schemas"]
	different := map[string]bool{}
	// A schema that refers to a clashing one differs too, even when its text does not.
	for changed := true; changed; {
		changed = false
		for name, raw := range mine {
			if different[name] {
				continue
			}
			clash := false
			for _, o := range all {
				other, ok := o.part.Components["schemas"][name]
				if o == m || !ok {
					continue
				}
				clash = clash || !bytes.Equal(raw, other)
				for d := range different {
					clash = clash || bytes.Contains(raw, []byte(reference+d+`"`))
				}
			}
			if clash {
				different[name], changed = true, true
			}
		}
	}
	if len(different) == 0 {
		return func(raw []byte) []byte { return raw }
	}
	title := strings.ToUpper(m.GetService()[:1]) + m.GetService()[1:]
	var pairs []string
	for name := range different {
		pairs = append(pairs, reference+name+`"`, reference+title+name+`"`)
	}
	r := strings.NewReplacer(pairs...)
	return func(raw []byte) []byte { return []byte(r.Replace(string(raw))) }
}

// renamed is the name that rename gives to the schema name.
func renamed(rename func([]byte) []byte, name string) string {
	return strings.TrimSuffix(strings.TrimPrefix(string(rename([]byte(reference+name+`"`))), reference), `"`)
}

// fieldsSchema describes the values of the custom fields of an entity, by key.
func fieldsSchema(entity string, fields []customField) map[string]any {
	properties := map[string]any{}
	for _, f := range fields {
		if f.Entity != entity || f.Archived || f.Key == "" {
			continue
		}
		p := map[string]any{"type": []string{"string", "null"}, "title": f.Label}
		switch f.Type {
		case "number":
			p["type"] = []string{"number", "null"}
		case "checkbox":
			p["type"] = []string{"boolean", "null"}
		case "date":
			p["format"] = "date"
		case "email":
			p["format"] = "email"
		case "url":
			p["format"] = "uri"
		case "dropdown":
			p["enum"] = choices(f.Options)
		case "choices":
			p["type"] = []string{"array", "null"}
			p["items"] = map[string]any{"type": "string", "enum": f.Options}
		}
		properties[f.Key] = p
	}
	return map[string]any{"type": "object", "description": "Values of the site's own fields, by key.", "properties": properties, "additionalProperties": true}
}

// choices are the options of a field, and null for none of them.
func choices(options []string) []any {
	all := make([]any, 0, len(options)+1)
	for _, o := range options {
		all = append(all, o)
	}
	return append(all, nil)
}
