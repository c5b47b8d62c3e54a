package message

import (
	"encoding/json"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

// Describe describes the requests to receivers, for the OpenAPI document: one webhook per kind of event, with an example that is made of the
// producer's own sample. The records in them have the schemas of the services that they come from.
func Describe() *op.Webhooks {
	w := &op.Webhooks{
		Tag: op.Tag{Name: "Events", Description: "What receivers get: a POST for each event, signed. A webhook chooses one of the two formats of the body. Answer with any 2xx within five seconds; other answers are tried again after " +
			"1 minute, 5 minutes, 30 minutes, 2 hours and 12 hours. An event keeps its id on every attempt."},
		Items: map[string]map[string]any{},
	}
	for _, e := range events {
		record := e.Record
		data := map[string]any{record: map[string]any{"$ref": "#/components/schemas/" + strings.ToUpper(record[:1]) + record[1:]}}
		required := []string{record}
		switch e.Event {
		case proto.KindContactUpdated, proto.KindOrganizationUpdated, proto.KindTaskUpdated:
			data["changed"] = map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "The names of the values that changed."}
			required = append(required, "changed")
		case proto.KindContactMerged, proto.KindOrganizationMerged:
			data["merged_id"] = map[string]any{"$ref": "#/components/schemas/Id", "description": "The record that went."}
			required = append(required, "merged_id")
		case proto.KindContactErased:
			data[record] = map[string]any{"type": "object", "required": []string{"id"}, "description": "Nothing but the id is left.",
				"properties": map[string]any{"id": map[string]any{"$ref": "#/components/schemas/Id"}}}
		}
		describeEvent(w, e.Event, e.App, e.Label+".", data, required, exampleOf(e.Event))
	}
	describeEvent(w, testEvent, "", "The event that POST /webhooks/{id}/test sends. It cannot be subscribed.", map[string]any{"webhook": map[string]any{"type": "object",
		"required": []string{"id", "name"}, "properties": map[string]any{"id": map[string]any{"$ref": "#/components/schemas/Id"}, "name": map[string]any{"type": "string"}}}},
		[]string{"webhook"}, exampleTest)
	return w
}

// Examples have one id and one time.
var (
	exampleDelivery = uuid.MustParse("0197b5f2-8d3e-7c4a-9b1f-2a6c8e4d0f13")
	exampleTime     = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	exampleTest     = body{event: testEvent, id: exampleDelivery, at: exampleTime, data: json.RawMessage(`{"webhook":{"id":"` + exampleDelivery.String() + `","name":"Mine"}}`)}
)

// must is the value of what is compiled in.
func must[T any](v T, err error) T {
	if err != nil {
		panic("webhooks: a sample: " + err.Error())
	}
	return v
}

// exampleOf is the body of an event, of the sample that its producer's test has written.
func exampleOf(kind string) body {
	files := must(fs.Glob(proto.Samples, "samples/*/"+kind+".json"))
	if len(files) != 1 {
		panic("webhooks: no sample of " + kind)
	}
	file := files[0]
	var sample struct {
		ID          uuid.UUID `json:"record_id"`
		Changed     []string
		Data, Extra json.RawMessage
	}
	must(sample, json.Unmarshal(must(proto.Samples.ReadFile(file)), &sample))
	return must(newBody(bus.Event{Topic: path.Base(path.Dir(file)), Kind: kind, ID: exampleDelivery, At: exampleTime, Changed: sample.Changed, Data: sample.Data, Extra: sample.Extra}, sample.ID))
}

func eventHeader(name, description, example string) map[string]any {
	return map[string]any{"name": name, "in": "header", "required": true, "description": description, "schema": map[string]any{"type": "string"}, "example": example}
}

// describeEvent adds the request of one event to w.
func describeEvent(w *op.Webhooks, event, app, text string, data map[string]any, required []string, example body) {
	sent := must(example.text())
	wrapped := must(cloudEvents.Body("https://desk.example.com", sent))
	record := map[string]any{"type": "object", "required": required, "properties": data,
		"description": "The record as the API shows it, without tokens, meeting links, internal notes and internal reasons."}
	id := map[string]any{"type": "string", "description": "evt_ and a UUID: the same on every attempt, and in every webhook."}
	at := map[string]any{"type": "string", "format": "date-time"}
	is := func(value, description string) map[string]any {
		return map[string]any{"type": "string", "const": value, "description": description}
	}
	content := map[string]any{
		contentTypes[Svc]: map[string]any{"example": json.RawMessage(sent), "schema": map[string]any{"type": "object", "description": text,
			"required":   []string{"event", "id", "occurred_at", "data"},
			"properties": map[string]any{"event": is(event, "The name of the event."), "id": id, "occurred_at": at, "data": record}}},
		contentTypes[cloudEvents]: map[string]any{"example": json.RawMessage(wrapped), "schema": map[string]any{"type": "object", "description": text + " As CloudEvents 1.0 has it.",
			"required": []string{"specversion", "id", "source", "type", "subject", "time", "datacontenttype", "data"},
			"properties": map[string]any{"specversion": is("1.0", "The version of CloudEvents."), "id": id, "time": at, "data": record,
				"type": is(event, "The name of the event."), "datacontenttype": is(contentTypes[Svc], "What data is."),
				"source":  map[string]any{"type": "string", "format": "uri", "description": "The address of the installation."},
				"subject": map[string]any{"type": "string", "format": "uuid", "description": "The id of the record."}}}},
	}
	// Schema and headers stand at each webhook, because generators drop components that only webhooks use.
	headers := []any{
		eventHeader("X-Svc-Event", "The name of the event.", event),
		eventHeader("X-Svc-Delivery", "The id of the delivery.", exampleDelivery.String()),
		eventHeader(signature.HeaderSvc, "t=<unix time>,v1=<HMAC-SHA256 in hex, keyed with the whole secret, of the time, a dot and the body>.", "t=1767225600,v1="+strings.Repeat("0", 64)),
		eventHeader(signature.HeaderStandardID, "The id of the event, the same on every attempt (Standard Webhooks).", EventID(exampleDelivery)),
		eventHeader(signature.HeaderStandardTimestamp, "The unix time of this attempt (Standard Webhooks).", "1767225600"),
		eventHeader(signature.HeaderStandardSignature, "v1,<HMAC-SHA256 in base64>, one for each secret that is valid (Standard Webhooks).", "v1,"+strings.Repeat("0", 43)+"="),
	}
	o := map[string]any{"operationId": "receive-" + strings.NewReplacer(".", "-", "_", "-").Replace(event), "summary": event, "description": text, "tags": []string{w.Tag.Name},
		"security": []any{}, "parameters": headers,
		"requestBody": map[string]any{"required": true, "content": content},
		"responses":   map[string]any{"2XX": map[string]any{"description": "Delivered."}, "4XX": map[string]any{"description": "Tried again later, like every other answer."}}}
	if app != "" {
		o["x-app"] = app
	}
	w.Items[event] = map[string]any{"post": o}
}
