package apps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// merge makes one document of each kind of the parts of all services, without the operations and events of apps that are off.
func merge(server string, all []*Manifest, fields []customField, on func(string) bool) (documents, error) {
	d := merged{on: on, paths: operations{}, webhooks: operations{}, shared: components{}, used: map[string]bool{}}
	for _, m := range all {
		rename := clashes(all, m)
		if err := d.addPaths(m, rename); err != nil {
			return documents{}, err
		}
		d.addComponents(m, rename)
	}
	for name, entity := range map[string]string{"ContactFields": "contact", "OrganizationFields": "organization"} {
		raw, err := json.Marshal(fieldsSchema(entity, fields))
		if err != nil {
			return documents{}, fmt.Errorf("schema %s: %w", name, err)
		}
		d.shared.set("schemas", name, raw)
	}
	// All schemas are there now, so it can be seen which events refer to one that is not.
	for _, m := range all {
		if err := d.addEvents(m); err != nil {
			return documents{}, err
		}
	}
	return d.documents(server)
}

// operations are descriptions by path or event, and method.
type operations map[string]map[string]json.RawMessage

// merged is what the parts of the services come to.
type merged struct {
	on              func(app string) bool
	paths, webhooks operations
	shared          components
	tags            []op.Tag
	used            map[string]bool // names of tags
}

// addPaths adds the operations and tags of a service. rename tells its schemas from those of others.
func (d *merged) addPaths(m *Manifest, rename func([]byte) []byte) error {
	for path, methods := range m.part.Paths {
		for method, raw := range methods {
			about, err := read(raw)
			if err != nil {
				return fmt.Errorf("description of %s %s by %s: %w", method, path, m.GetService(), err)
			}
			if about.App != "" && !d.on(about.App) {
				continue
			}
			if d.paths[path] == nil {
				d.paths[path] = map[string]json.RawMessage{}
			}
			d.paths[path][method] = rename(raw)
			for _, t := range about.Tags {
				d.used[t] = true
			}
		}
	}
	for _, t := range m.part.Tags {
		if !slices.Contains(d.tags, t) {
			d.tags = append(d.tags, t)
		}
	}
	return nil
}

// addComponents adds what the operations of a service share.
func (d *merged) addComponents(m *Manifest, rename func([]byte) []byte) {
	for kind, named := range m.part.Components {
		for name, raw := range named {
			if kind == "schemas" {
				name = renamed(rename, name)
			}
			d.shared.set(kind, name, rename(additive(name, raw)))
		}
	}
}

// addEvents adds the events of a service, as far as the schemas of their records are there.
func (d *merged) addEvents(m *Manifest) error {
	w := m.part.Webhooks
	for event, item := range w.Items {
		about, err := read(item["post"])
		if err != nil {
			return fmt.Errorf("description of %s by %s: %w", event, m.GetService(), err)
		}
		if (about.App == "" || d.on(about.App)) && d.shared.have(item["post"]) {
			d.webhooks[event] = item
			d.used[w.Tag.Name] = true
		}
	}
	d.tags = append(d.tags, w.Tag)
	return nil
}

// documents writes what was merged.
func (d *merged) documents(server string) (docs documents, err error) {
	info := func(description string) map[string]any {
		return map[string]any{"title": "Frontdesk", "version": "1.0.0", "description": description,
			"contact": map[string]any{"name": "The team behind this site", "url": server + "/docs"},
			"license": map[string]any{"name": "For the integrations of this site", "url": server + "/docs"}}
	}
	described := map[string]any{"securitySchemes": map[string]any{
		"basic":  map[string]any{"type": "http", "scheme": "basic", "description": "Login and an application password."},
		"cookie": map[string]any{"type": "apiKey", "in": "cookie", "name": auth.Cookie, "description": "A browser that signed in."},
	}}
	for kind, named := range d.shared {
		described[kind] = named
	}
	doc := map[string]any{
		"openapi": "3.1.0",
		"info": info("Contacts, forms and bookings of this site. The guides beside this reference stand at /v1/docs. Within version 1 answers only gain keys, " +
			"so a client ignores keys that it has no use for. Every error has the one shape Error; each operation lists its codes and when they come."),
		"servers":    []any{map[string]any{"url": server}},
		"tags":       slices.DeleteFunc(d.tags, func(t op.Tag) bool { return !d.used[t.Name] }),
		"paths":      d.paths,
		"components": described,
	}
	if len(d.webhooks) > 0 {
		doc["webhooks"] = d.webhooks
	}
	if docs.open, err = json.Marshal(doc); err == nil {
		docs.async, err = asyncDocument(info("What happens on this site, as events: a POST to each webhook that subscribed them. POST /v1/webhooks makes one; the guide stands at /v1/docs. "+
			"Within version 1 events only gain keys, so a receiver ignores keys that it has no use for."), d.webhooks, d.shared)
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
