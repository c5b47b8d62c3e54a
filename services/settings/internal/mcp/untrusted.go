package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// typed are names of values that visitors and clients may have typed, at whatever depth of an answer. A name too many costs an assistant a
// little care; one too few lets it take a stranger's sentence for one of the business.
var typed = map[string]bool{
	"first_name": true, "last_name": true, "email": true, "phone": true, "fields": true, "booked_for": true, "notes": true, "cancel_reason": true, "location": true,
	"values": true, "page": true, "body": true, "subject": true, "message": true, "text": true, "website": true, "address_line": true, "city": true, "postal_code": true, "vat_number": true, "actor_label": true,
	"old": true, "new": true, "called": true, "client": true, "csv": true, "sample": true, "preview": true, "payload": true, "response_body": true,
}

// named are the names of objects whose name a visitor may have typed.
var named = map[string]bool{"contact": true, "organization": true, "record": true, "other": true}

// omitted stands in the place of a text that is left out.
const omitted = "…"

// whole is the path of an answer that is a text, such as a file.
const whole = "."

// fromOutside marks in _meta.untrusted what visitors typed: the paths of an answer, with * for each item of a list. With omit it leaves the texts out.
func fromOutside(r *sdk.CallToolResult, omit bool) *sdk.CallToolResult {
	body, ok := r.StructuredContent.(json.RawMessage)
	if !ok {
		if text, ok := r.Content[0].(*sdk.TextContent); ok && text.Text != nothing {
			r.Meta = sdk.Meta{"untrusted": []string{whole}}
			if omit {
				text.Text = omitted
			}
		}
		return r
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	var answer map[string]any
	if dec.Decode(&answer) != nil {
		return r
	}
	paths := map[string]bool{}
	if data, ok := answer["data"].(map[string]any); ok && answer["code"] != nil {
		// A refusal, or a call that waits: code, message and what is wrong with the input are ours.
		params := data["params"]
		delete(data, "params")
		strangers(data, []string{"data"}, "", paths, omit)
		if params != nil {
			data["params"] = params
		}
	} else {
		strangers(answer, nil, "", paths, omit)
	}
	if len(paths) == 0 {
		return r
	}
	r.Meta = sdk.Meta{"untrusted": slices.Sorted(maps.Keys(paths))}
	if omit {
		if text, err := json.Marshal(answer); err == nil {
			r.StructuredContent = json.RawMessage(text)
			r.Content = []sdk.Content{&sdk.TextContent{Text: string(text)}}
		}
	}
	return r
}

// strangers adds the paths below v that visitors typed; in is the name of the object that v is.
func strangers(v any, path []string, in string, paths map[string]bool, omit bool) {
	switch v := v.(type) {
	case map[string]any:
		_, organization := v["vat_number"]
		for key, x := range v {
			below := append(slices.Clip(path), key)
			_, addressees := x.([]any)
			if (typed[key] || key == "to" && addressees || key == "name" && (named[in] || organization)) && x != nil {
				paths[strings.Join(below, ".")] = true
				if omit {
					v[key] = without(x)
				}
				continue
			}
			strangers(x, below, key, paths, omit)
		}
	case []any:
		for _, x := range v {
			strangers(x, append(slices.Clip(path), "*"), in, paths, omit)
		}
	}
}

// without is a value without its texts, and of the same type.
func without(v any) any {
	switch v := v.(type) {
	case string:
		return omitted
	case map[string]any:
		for key, x := range v {
			v[key] = without(x)
		}
	case []any:
		for i, x := range v {
			v[i] = without(x)
		}
	}
	return v
}
