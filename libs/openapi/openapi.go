// Package openapi describes the operations of a service by what package op declares of them: the part of the OpenAPI document,
// the abilities as assistants see them, and the manifest, which has both for settings and the gateway. Nothing runs here.
package openapi

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/op"
)

// Part is the service's part of the OpenAPI description. It is complete: a reference leads to its own components.
type Part struct {
	Tags       []op.Tag                  `json:"tags"`
	Paths      map[string]map[string]any `json:"paths"`
	Components map[string]map[string]any `json:"components"`
	// Webhooks are the calls that the service makes, see op.Set.Webhooks.
	Webhooks *op.Webhooks `json:"webhooks,omitempty"`
}

// Describe describes every operation of the service, whatever app it belongs to.
func Describe(s *op.Set) Part {
	examples := Examples(s)
	p := Part{Tags: s.Tags, Paths: map[string]map[string]any{}, Webhooks: s.Webhooks,
		Components: map[string]map[string]any{"schemas": {"Error": ErrorSchema, "Id": idSchema, "List": listSchema,
			"ContactFields": fieldsSchema, "OrganizationFields": fieldsSchema}, "responses": {}, "headers": headers, "parameters": {}}}
	for _, e := range s.Entries() {
		if p.Paths[e.Path()] == nil {
			p.Paths[e.Path()] = map[string]any{}
		}
		p.Paths[e.Path()][strings.ToLower(e.Method())] = operation(e, examples[e.ID], p.Components)
	}
	for _, registry := range []huma.Registry{s.Answers, s.Requests} {
		for name, schema := range registry.Map() {
			p.Components["schemas"][name] = sharing(name, schema)
		}
	}
	return p
}
