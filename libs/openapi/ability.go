package openapi

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/op"
)

// Ability is an ability as assistants see it.
type Ability struct {
	Name         string         `json:"name"`
	Label        string         `json:"label"`
	Description  string         `json:"description"`
	Category     string         `json:"category"`
	InputSchema  any            `json:"input_schema"`
	OutputSchema any            `json:"output_schema"`
	Meta         map[string]any `json:"meta"`
}

// DescribeAbility describes an operation of s that is one of its abilities.
func DescribeAbility(s *op.Set, e *op.Entry) Ability {
	text := strings.TrimSpace(e.Doc + " " + e.Use)
	if e.Destructive && e.Rehearses() {
		text += " Rehearse it first, and show its effects to the person you work for."
	}
	return Ability{
		Name:        e.AbilityName(),
		Label:       label(strings.TrimPrefix(e.AbilityName(), "svc/")),
		Description: text, Category: s.Service,
		InputSchema:  inline(inputSchema(e), s.Requests),
		OutputSchema: inline(e.Out, s.Answers),
		Meta: map[string]any{"annotations": map[string]any{
			"readonly": e.RunMethod() == http.MethodGet, "destructive": e.Destructive, "idempotent": e.Idempotent || e.Reads}},
	}
}

// inputSchema is the whole request as one object.
func inputSchema(e *op.Entry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	for _, f := range e.In {
		if f.Personal || f.PersonOnly {
			continue
		}
		s.Properties[f.Name] = f.Schema
		if f.Required {
			s.Required = append(s.Required, f.Name)
		}
	}
	return s
}
