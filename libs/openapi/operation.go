package openapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"frontdesk/libs/op"
)

// operation describes e and adds what it shares with others to components.
func operation(e *op.Entry, example Example, components map[string]map[string]any) map[string]any {
	o := map[string]any{"operationId": e.ID, "summary": label(e.ID), "description": description(e), "tags": []string{e.Tag}}
	if e.App != "" {
		o["x-app"] = e.App
	}
	basic, cookie := map[string]any{"basic": []string{}}, map[string]any{"cookie": []string{}}
	switch {
	case e.Perm == op.Public:
		o["security"] = []any{}
	case e.PersonOnly:
		o["security"] = []any{cookie}
	default:
		o["security"] = []any{basic, cookie}
	}
	if e.Perm != op.Public && e.Perm != op.SignedIn {
		o["x-permission"] = e.Perm
	}
	if name := e.AbilityName(); name != "" {
		o["x-ability"] = name
	}
	var params []any
	body := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}, AdditionalProperties: false}
	query := e.Method() == http.MethodGet || e.Method() == http.MethodDelete
	for _, f := range e.In {
		switch {
		case f.InPath:
			p := map[string]any{"name": f.Name, "in": "path", "required": true, "schema": shared(f.Schema), "description": about(e, f)}
			if v, ok := example.pathValue(e.Path(), f.Name); ok {
				p["example"] = f.JSON([]string{v})
			}
			params = append(params, p)
		case query:
			p := map[string]any{"name": f.Name, "in": "query", "required": f.Required, "schema": shared(inQuery(f)), "description": about(e, f)}
			if shared, there := components["parameters"][f.Name]; f.Name == "cursor" {
				if !there || reflect.DeepEqual(shared, p) {
					components["parameters"][f.Name] = p
					params = append(params, ref("parameters", f.Name))
					continue
				}
			}
			if v := example.Query[f.Name]; v != nil {
				p["example"] = f.JSON(v)
			}
			params = append(params, p)
		default:
			body.Properties[f.Name] = f.Schema
			if f.Required {
				body.Required = append(body.Required, f.Name)
			}
		}
	}
	if e.Replays() {
		components["parameters"]["IdempotencyKey"] = keyParameter
		params = append(params, ref("parameters", "IdempotencyKey"))
	}
	if e.Versioned {
		components["parameters"]["IfMatch"] = matchParameter
		params = append(params, ref("parameters", "IfMatch"))
	}
	if e.Rehearses() {
		components["parameters"]["Prefer"], components["parameters"]["IfEffects"] = preferParameter, effectsParameter
		params = append(params, ref("parameters", "Prefer"), ref("parameters", "IfEffects"))
		o["x-rehearsal"] = ref("schemas", "Rehearsal")
	}
	if e.Kept {
		params = append(params, keptParameter)
	}
	if params != nil {
		o["parameters"] = params
	}
	switch {
	case e.TakesAny: // one media type is named, because generators of clients do not support */*
		o["requestBody"] = map[string]any{"required": false, "description": "Any bytes, under any media type.", "content": map[string]any{"application/octet-stream": map[string]any{"schema": &huma.Schema{Type: huma.TypeString, Format: "binary"}}}}
	case e.Accepts != nil:
		o["requestBody"] = describeFile(e)
	}
	if len(body.Properties) > 0 {
		content := inJSON(shared(body))
		if example.Request != nil {
			content["application/json"].(map[string]any)["example"] = example.Request
		}
		o["requestBody"] = map[string]any{"required": len(body.Required) > 0, "content": content}
	}
	answers := failures(e, example, components["responses"])
	for _, status := range e.Statuses() {
		answers[strconv.Itoa(status)] = done(e, status, example)
	}
	if e.Kept {
		answers["304"] = map[string]any{"description": "It is still what the ETag in If-None-Match stands for.", "headers": map[string]any{"X-Request-Id": ref("headers", "RequestId"), "ETag": ref("headers", "FileTag")}}
	}
	o["responses"] = answers
	return o
}

func label(name string) string {
	words := strings.ReplaceAll(name, "-", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// description is the text about the operation, with what its declaration says of permissions, apps and limits.
func description(e *op.Entry) string {
	text := []string{strings.TrimSpace(e.Doc + " " + e.Use)}
	switch {
	case e.Perm == op.Public:
		text = append(text, "Public: it needs no credential.")
	case e.PersonOnly && e.Perm == op.SignedIn:
		text = append(text, "Only for a person who is signed in.")
	case e.PersonOnly:
		text = append(text, "Needs the permission `"+e.Perm+"`, and a person who is signed in.")
	case e.Perm != op.SignedIn:
		text = append(text, "Needs the permission `"+e.Perm+"`.")
	}
	if e.App != "" {
		text = append(text, "Part of the app `"+e.App+"`.")
	}
	if e.MaxBody != op.MaxBody {
		text = append(text, fmt.Sprintf("The body has at most %d MiB.", e.MaxBody>>20))
	}
	if len(e.Limits) > 0 {
		var limits []string
		for _, l := range e.Limits {
			limits = append(limits, fmt.Sprintf("%d in %s", l.N, strings.NewReplacer("1m0s", "a minute", "1h0m0s", "an hour").Replace(l.Per.String())))
		}
		from := "An address"
		if e.PerPerson {
			from = "A person"
		}
		text = append(text, from+" may call it "+strings.Join(limits, " and ")+".")
	}
	return strings.Join(text, "\n\n")
}

// about describes a parameter.
func about(e *op.Entry, f *op.Field) string {
	switch {
	case f.Schema.Description != "":
		return f.Schema.Description
	case f.InPath && f.Name == "id" && e.Record != "":
		return "The id of the " + strings.ReplaceAll(e.Record, "_", " ") + "."
	}
	return meanings[f.Name]
}

// meanings describe parameters whose names mean the same in every operation. A tag doc at the field goes before.
var meanings = map[string]string{
	"id":               "The id of the record.",
	"user":             "The user id of the person.",
	"staff":            "The user id of a person of the team: only what is theirs.",
	"status":           "Only records with this status.",
	"owner":            "The user id of a person of the team: only records that they own.",
	"service":          "The id of a service.",
	"form":             "The id of a form: only what was sent with it.",
	"contact":          "The id of a contact: only what is theirs.",
	"contact_id":       "The id of the contact.",
	"organization":     "The id of an organization: only its people.",
	"marketing":        "Only contacts with this marketing status.",
	"source":           "Only contacts that came from this source, see list-contact-sources.",
	"channel":          "Only what came through this channel.",
	"entity":           "The kind of record that the fields belong to.",
	"include_archived": "Archived ones too.",
	"created_since":    "Only records that were made at this time or later.",
	"updated_since":    "Only records that changed at this time or later. Who asks on with the newest updated_at they saw misses nothing.",
	"app":              "The id of the app, see list-apps.",
	"role":             "The name of the role, see get-roles.",
	"path":             "The path to check.",
	"nonce":            "The text that check-portal-host sent.",
	"name":             "The name behind svc/.",
}

// inQuery is the field's schema as a query parameter: an empty value is the same as none.
func inQuery(f *op.Field) *huma.Schema {
	s := f.Schema
	words := s.Type == huma.TypeString && s.Format == "" && s.Enum == nil && s.MinLength == nil && s.Pattern == ""
	if f.Required || words || s.Type == huma.TypeArray {
		return s
	}
	return &huma.Schema{AnyOf: []*huma.Schema{s, {Type: huma.TypeString, MaxLength: new(0)}}}
}

// done describes the answer of success.
func done(e *op.Entry, status int, example Example) map[string]any {
	done := map[string]any{"description": "Done."}
	media, schema := "application/json", any(nil)
	switch {
	case e.Media != "":
		media, schema = e.Media, map[string]any{"type": "string"}
	case e.Out != nil:
		schema = shared(e.Out)
	}
	if schema != nil {
		content := map[string]any{"schema": schema}
		if example.Status == status && example.Answer != nil {
			content["example"] = example.Answer
		}
		done["content"] = map[string]any{media: content}
	}
	with := map[string]any{"X-Request-Id": ref("headers", "RequestId")}
	if e.Tagged {
		with["ETag"] = ref("headers", "ETag")
	}
	if e.Kept {
		with["ETag"] = ref("headers", "FileTag")
	}
	if e.Replays() {
		with["Idempotent-Replayed"] = ref("headers", "IdempotentReplayed")
	}
	if e.Rehearses() {
		with["Preference-Applied"] = ref("headers", "PreferenceApplied")
	}
	done["headers"] = with
	return done
}

// describeFile is the request body of an operation that takes a file.
func describeFile(e *op.Entry) map[string]any {
	file := &huma.Schema{Type: huma.TypeString, Format: "binary", Description: "The file."}
	content := map[string]any{"multipart/form-data": map[string]any{"schema": &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false,
		Properties: map[string]*huma.Schema{"file": file}, Required: []string{"file"}}}}
	for _, media := range e.Accepts {
		content[media] = map[string]any{"schema": file}
	}
	return map[string]any{"required": true, "content": content}
}
