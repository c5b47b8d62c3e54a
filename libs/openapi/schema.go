package openapi

import (
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/op"
)

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
		"FileTag":            header("Stands for the bytes of the file, for If-None-Match.", "string"),
		"IdempotentReplayed": header("true if the answer is that of an earlier call with this Idempotency-Key.", "string"),
		"PreferenceApplied":  header("dry-run if the call was rehearsed: the answer is a Rehearsal, and nothing has happened.", "string"),
	}
	keyParameter     = parameter("Idempotency-Key", "A text of your own for this one change, such as a UUID. The same call with the same key gets the first answer again for 24 hours, and nothing happens twice.")
	keptParameter    = parameter("If-None-Match", "The ETag of the file that you have.")
	preferParameter  = parameter("Prefer", "dry-run rehearses the call: it runs with all its checks, is rolled back, and answers 200 with a Rehearsal (x-rehearsal) in the place of its own answer. A refusal stays as it is. The preference has no value: dry-run=true is 400 svc_invalid_param.")
	effectsParameter = parameter("If-Effects", "The hash of a rehearsal, in quotes. If the call would have other effects by now, nothing happens and the answer is 412 svc_effects_changed.")
	matchParameter   = parameter("If-Match", "The ETag of the record as you saw it. If the record has another version by now, the answer is 412 svc_version_mismatch.")
)

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

// parameter is a header that a call may have.
func parameter(name, description string) map[string]any {
	return map[string]any{"name": name, "in": "header", "required": false, "schema": map[string]any{"type": "string", "maxLength": 255}, "description": description}
}

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
	return withIDs(plain(schema))
}

// plain is a schema as the JSON that it is.
func plain(schema *huma.Schema) (v any) {
	raw, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(raw, &v)
	}
	if err != nil {
		panic("openapi: schema: " + err.Error()) // it is made of our own types
	}
	return v
}

func withIDs(v any) any {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := v[op.Component].(string); ok {
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

// inline is a schema with its references replaced, for readers who get no components.
func inline(s *huma.Schema, reg huma.Registry) any {
	if s == nil {
		return map[string]any{"type": "null"}
	}
	var walk func(v any, depth int) any
	walk = func(v any, depth int) any {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && depth < 12 {
				return inline(reg.SchemaFromRef(ref), reg)
			}
			delete(v, op.Component)
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
	return walk(plain(s), 0)
}
