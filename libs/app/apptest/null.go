package apptest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/auth"
	"frontdesk/libs/openapi"
)

// CheckNulls sends null for every property of every body, at any depth that the description shows, as somebody who may do
// everything. A property that the description does not allow to be null is refused by its name, with the code "null"; one
// that it allows is not, and nothing ends in 500.
func (s *Service) CheckNulls(t *testing.T) {
	t.Helper()
	raw, err := json.Marshal(openapi.Describe(s.Parts.Ops))
	require.NoError(t, err)
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
		Components struct{ Schemas map[string]map[string]any }
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	c := s.AsSession(auth.SiteAdmin)
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for method, o := range doc.Paths[path] {
			body, ok := o.RequestBody.Content["application/json"]
			if !ok {
				continue
			}
			n := nulls{schemas: doc.Components.Schemas, client: c, route: strings.ToUpper(method) + " " + somePath(path)}
			n.properties(t, "", body.Schema, func(v any) any { return v })
		}
	}
}

// nulls sends null to one operation.
type nulls struct {
	schemas map[string]map[string]any
	client  *Client
	route   string
}

// properties sends a null for each property of schema; body makes the whole body around an object of that schema.
func (n nulls) properties(t *testing.T, prefix string, schema map[string]any, body func(object any) any) {
	properties, _ := schema["properties"].(map[string]any)
	for name, p := range properties {
		of, nullable := n.open(p.(map[string]any))
		around := func(v any) any { return body(map[string]any{name: v}) }
		t.Run(n.route+" "+prefix+name, func(t *testing.T) {
			a := n.client.Raw(n.route, around(nil))
			require.NotEqual(t, http.StatusInternalServerError, a.Status, a.Body)
			type refusal struct {
				Data struct {
					Details map[string]struct{ Code string }
				}
			}
			var refused struct {
				refusal
				Items []struct{ Error refusal } // of rows that are refused by themselves
			}
			if a.Status != http.StatusNoContent {
				a.Into(&refused)
			}
			got := refused.Data.Details[prefix+name].Code
			if _, inRow, ok := strings.Cut(prefix+name, "[0]."); ok && len(refused.Items) == 1 {
				got = refused.Items[0].Error.Data.Details[inRow].Code
			}
			if nullable {
				require.NotEqual(t, "null", got, a.Body)
			} else {
				require.Equal(t, "null", got, "%d %s", a.Status, a.Body)
			}
		})
		switch {
		case len(prefix) > 100: // a schema inside itself
		case of["type"] == "object":
			n.properties(t, prefix+name+".", of, around)
		case of["type"] == "array":
			items, _ := n.open(of["items"].(map[string]any))
			n.properties(t, prefix+name+"[0].", items, func(v any) any { return around([]any{v}) })
		}
	}
}

// open follows references, and reports whether a schema allows null.
func (n nulls) open(schema map[string]any) (of map[string]any, nullable bool) {
	if ref, ok := schema["$ref"].(string); ok {
		return n.open(n.schemas[strings.TrimPrefix(ref, "#/components/schemas/")])
	}
	if either, ok := schema["anyOf"].([]any); ok {
		for _, s := range either {
			of, null := n.open(s.(map[string]any))
			nullable = nullable || null || of["type"] == "null"
		}
		first, _ := n.open(either[0].(map[string]any))
		return first, nullable
	}
	types, several := schema["type"].([]any)
	if several {
		schema = maps.Clone(schema)
		schema["type"] = types[0]
	}
	return schema, schema["type"] == nil || schema["type"] == "null" || slices.Contains(types, any("null"))
}
