package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"strconv"

	"frontdesk/libs/fault"
)

// rehearsal says how a call is made: as a rehearsal, or only with the effects that a rehearsal has shown.
type rehearsal struct {
	DryRun    bool   `json:"dry_run"`
	IfEffects string `json:"if_effects"`
}

// headers are those of the call of the API.
func (r rehearsal) headers(h http.Header) {
	if r.DryRun {
		h.Set("Prefer", "dry-run")
	}
	if r.IfEffects != "" {
		h.Set("If-Effects", strconv.Quote(r.IfEffects))
	}
}

// rehearsalInput are the properties of a rehearsal in the input schema of a tool.
const rehearsalInput = `"dry_run":{"type":"boolean","description":"true rehearses the call: it answers with answer, status, effects and hash, and nothing happens."},
	"if_effects":{"type":"string","maxLength":64,"description":"The hash of a rehearsal: the call is made only if its effects are still those."}`

// rehearsalSchema is that of the answer to a rehearsal.
var rehearsalSchema = schema(`{"type":"object","required":["answer","status","effects","hash"],"properties":{"answer":{},"status":{"type":"integer"},"effects":{"type":"object"},"hash":{"type":"string"}}}`)

// withRehearsal is the input schema of an ability's tool, with the properties of a rehearsal where it can be rehearsed.
func withRehearsal(x Ability) json.RawMessage {
	var input struct {
		Type                 json.RawMessage            `json:"type"`
		Properties           map[string]json.RawMessage `json:"properties,omitempty"`
		Required             json.RawMessage            `json:"required,omitempty"`
		AdditionalProperties json.RawMessage            `json:"additionalProperties,omitempty"`
	}
	if !x.GetRehearses() || json.Unmarshal(x.GetInputSchema(), &input) != nil {
		return x.GetInputSchema()
	}
	var more map[string]json.RawMessage
	if err := json.Unmarshal([]byte("{"+rehearsalInput+"}"), &more); err != nil {
		panic(err) // it is a literal
	}
	if input.Properties == nil {
		input.Properties = more
	} else {
		maps.Copy(input.Properties, more)
	}
	raw, err := json.Marshal(input)
	if err != nil {
		return x.GetInputSchema()
	}
	return raw
}

// takeRehearsal takes the properties of a rehearsal out of the arguments of an ability's tool.
func takeRehearsal(x Ability, arguments json.RawMessage) (input json.RawMessage, how rehearsal, err error) {
	var all map[string]json.RawMessage
	if !x.GetRehearses() || json.Unmarshal(arguments, &all) != nil || all["dry_run"] == nil && all["if_effects"] == nil {
		return arguments, how, nil
	}
	if json.Unmarshal(arguments, &how) != nil {
		return nil, how, fault.Invalid("dry_run", fault.NewProblem("type", "must be true or false, and if_effects the hash of a rehearsal"))
	}
	delete(all, "dry_run")
	delete(all, "if_effects")
	input, err = json.Marshal(all)
	return input, how, err
}
