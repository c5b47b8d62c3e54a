package apps

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

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
