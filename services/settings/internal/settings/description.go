package settings

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// part is one service's share of the description.
type part struct {
	Paths      map[string]map[string]json.RawMessage `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
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

// Description is the OpenAPI description of the installation.
type Description []byte

// Schema is that of any object: OpenAPI itself defines what a description is.
func (Description) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// EncodedJSON is the document, which is JSON already.
func (d Description) EncodedJSON() []byte { return d }

// description caches the merged document until one of its ingredients changes.
type description struct {
	mu   sync.Mutex
	of   ingredients
	json Description
}

// ingredients are the versions of everything that the document is made of.
type ingredients struct {
	manifests map[string]*manifest
	fields    map[string]customField
	apps      int64
}

func (i ingredients) same(o ingredients) bool {
	return i.apps == o.apps && maps.Equal(i.manifests, o.manifests) &&
		maps.EqualFunc(i.fields, o.fields, func(a, b customField) bool {
			return a.Entity == b.Entity && a.Key == b.Key && a.Label == b.Label && a.Type == b.Type && a.Archived == b.Archived && slices.Equal(a.Options, b.Options)
		})
}

func (s *service) describe(context.Context, *db.DB, op.None) (Description, error) {
	return s.currentDescription()
}

func (s *service) currentDescription() (Description, error) {
	state := s.Apps.State()
	now := ingredients{manifests: s.manifests.All(), fields: s.fields.All(), apps: state.Version}
	d := &s.description
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.json != nil && d.of.same(now) {
		return d.json, nil
	}
	doc, err := merge(s.Config.PublicURL+"/v1", s.announced(), slices.Collect(maps.Values(now.fields)), s.Apps.On)
	if err != nil {
		return nil, err
	}
	d.of, d.json = now, doc
	return doc, nil
}

// keepDescription merges the document anew within 0.25 s after a change, so that no caller waits for it, until ctx ends.
func (s *service) keepDescription(ctx context.Context) {
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			// The next caller gets the same error as an answer.
			_, _ = s.currentDescription()
		}
	}
}

// merge makes one document of the parts of all services, without the operations of apps that are off.
func merge(server string, all []*manifest, fields []customField, on func(string) bool) (Description, error) {
	paths, schemas := map[string]map[string]json.RawMessage{}, map[string]json.RawMessage{}
	for _, m := range all {
		rename := clashes(all, m)
		for path, methods := range m.part.Paths {
			for method, raw := range methods {
				var about struct {
					App string `json:"x-app"`
				}
				if err := json.Unmarshal(raw, &about); err != nil {
					return nil, fmt.Errorf("description of %s %s by %s: %w", method, path, m.GetService(), err)
				}
				if about.App != "" && !on(about.App) {
					continue
				}
				if paths[path] == nil {
					paths[path] = map[string]json.RawMessage{}
				}
				paths[path][method] = rename(raw)
			}
		}
		for name, raw := range m.part.Components.Schemas {
			schemas[renamed(rename, name)] = rename(raw)
		}
	}
	for name, v := range map[string]any{"Error": op.ErrorSchema, "ContactFields": fieldsSchema("contact", fields),
		"OrganizationFields": fieldsSchema("organization", fields)} {
		raw, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("schema %s: %w", name, err)
		}
		schemas[name] = raw
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{"title": "Frontdesk", "version": "1.0.0",
			"description": "Contacts, forms and bookings of this site. Every error has the one shape Error."},
		"servers": []any{map[string]any{"url": server}},
		// Operations without a security of their own need one of these two.
		"security": []any{map[string]any{"basic": []string{}}, map[string]any{"cookie": []string{}}},
		"paths":    paths,
		"components": map[string]any{"schemas": schemas, "securitySchemes": map[string]any{
			"basic":  map[string]any{"type": "http", "scheme": "basic", "description": "Login and an application password."},
			"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": auth.Cookie, "description": "A browser that signed in."},
		}},
	})
}

const reference = `"#/components/schemas/`

// clashes finds the schemas of m whose names other services give to different schemas. The function it answers with puts the
// service's name before them, wherever a text refers to them.
func clashes(all []*manifest, m *manifest) func([]byte) []byte {
	mine := m.part.Components.Schemas
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
				other, ok := o.part.Components.Schemas[name]
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
	return map[string]any{"type": "object", "description": "Values of the site's own fields, by key.", "properties": properties}
}

// choices are the options of a field, and null for none of them.
func choices(options []string) []any {
	all := make([]any, 0, len(options)+1)
	for _, o := range options {
		all = append(all, o)
	}
	return append(all, nil)
}
