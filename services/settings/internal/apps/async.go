package apps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"frontdesk/proto"
)

// formats are the names of the bodies of webhooks, by their media types.
var formats = map[string]string{"application/json": "svc", "application/cloudevents+json": "cloudevents"}

// webhookCall is what the AsyncAPI document takes of a webhook of the OpenAPI document.
type webhookCall struct {
	Description string
	Parameters  []struct {
		Name, Description string
		Schema            map[string]any
		Example           string
	}
	RequestBody struct {
		Content map[string]struct {
			Schema  json.RawMessage
			Example json.RawMessage
		}
	}
}

// data is the schema of what a body says about its record.
type data struct {
	Properties struct {
		Data struct{ Properties map[string]json.RawMessage }
	}
}

// asyncDocument is the AsyncAPI 3 document of the installation: what webhooks send, in each format, and the topics at the brokers that it
// comes from. webhooks are those of the OpenAPI document, and shared its schemas.
func asyncDocument(info map[string]any, webhooks map[string]map[string]json.RawMessage, shared components) (Description, error) {
	channels, operations, messages := map[string]any{}, map[string]any{}, map[string]any{}
	kinds, records := map[string][]string{}, map[string]json.RawMessage{} // by topic
	for event, item := range webhooks {
		var call webhookCall
		if err := json.Unmarshal(item["post"], &call); err != nil {
			return nil, fmt.Errorf("webhook %s: %w", event, err)
		}
		headers, properties, sent := []string{}, map[string]any{}, map[string]string{}
		for _, p := range call.Parameters {
			headers, sent[p.Name] = append(headers, p.Name), p.Example
			properties[p.Name] = p.Schema
			p.Schema["description"] = p.Description
		}
		here, refs := map[string]any{}, []any{}
		for media, body := range call.RequestBody.Content {
			format := formats[media]
			if format == "" {
				return nil, fmt.Errorf("webhook %s: a body of %s is no format", event, media)
			}
			name := event + "." + format
			messages[name] = map[string]any{"name": event, "title": call.Description, "contentType": media, "payload": body.Schema,
				"headers":  map[string]any{"type": "object", "required": headers, "properties": properties},
				"examples": []any{map[string]any{"name": event, "headers": sent, "payload": body.Example}}}
			here[format] = ref("components", "messages", name)
			refs = append(refs, ref("channels", event, "messages", format))
		}
		channels[event] = map[string]any{"address": nil, "title": event, "description": call.Description + " A POST to the address of each webhook that subscribed it.",
			"servers": []any{ref("servers", "receiver")}, "messages": here}
		operations["send-"+event] = map[string]any{"action": "send", "title": event, "summary": call.Description, "channel": ref("channels", event), "messages": refs,
			"bindings": map[string]any{"http": map[string]any{"method": "POST", "bindingVersion": "0.3.0"}}}
		topic := topicOf(event)
		if topic == "" {
			continue // a test, which no topic has
		}
		kinds[topic] = append(kinds[topic], event)
		var schema data
		if err := json.Unmarshal(call.RequestBody.Content["application/json"].Schema, &schema); err != nil {
			return nil, fmt.Errorf("webhook %s: %w", event, err)
		}
		for _, record := range schema.Properties.Data.Properties {
			if bytes.Contains(record, []byte(reference)) && !bytes.Contains(record, []byte(reference+`Id"`)) {
				records[topic] = record
			}
		}
	}
	for topic, events := range kinds {
		slices.Sort(events)
		messages[topic] = recordMessage(topic, events, records[topic])
		channels[topic], operations["publish-"+topic] = topicChannel(proto.TopicNamed(topic)), map[string]any{"action": "send", "channel": ref("channels", topic), "messages": []any{ref("channels", topic, "messages", "record")}}
	}
	text, err := json.Marshal(messages)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"asyncapi": "3.0.0", "info": info, "defaultContentType": "application/json",
		"servers": map[string]any{
			"receiver": map[string]any{"host": "{host}", "protocol": "https", "description": "The address of a webhook.",
				"variables": map[string]any{"host": map[string]any{"default": "hooks.example.com", "description": "As POST /webhooks names it."}}},
			"brokers": map[string]any{"host": "{brokers}", "protocol": "kafka", "description": "Inside the installation: the operator says who may read there.",
				"variables": map[string]any{"brokers": map[string]any{"default": "127.0.0.1:9092", "description": "As KAFKA_BROKERS names them."}}}},
		"channels": channels, "operations": operations, "components": map[string]any{"messages": messages, "schemas": shared.reachable(text)}})
}

func ref(names ...string) map[string]string {
	return map[string]string{"$ref": "#/" + path.Join(names...)}
}

// topicOf is the topic on which events of a kind come; empty for none.
func topicOf(kind string) string {
	files, _ := fs.Glob(proto.Samples, "samples/*/"+kind+".json")
	if len(files) == 0 {
		return ""
	}
	return path.Base(path.Dir(files[0]))
}

// topicChannel is the channel of a topic.
func topicChannel(t proto.Topic) map[string]any {
	keep := map[string]any{"cleanup.policy": []string{"delete"}}
	if t.Compacted {
		keep["cleanup.policy"] = []string{"compact"}
	}
	if t.Keep > 0 {
		keep["retention.ms"] = t.Keep.Milliseconds()
	}
	return map[string]any{"address": t.Name, "title": t.Name, "servers": []any{ref("servers", "brokers")}, "messages": map[string]any{"record": ref("components", "messages", t.Name)},
		"description": "Records of " + t.Owner + " as they change, in the order of each: the services copy them from here. The newest of each record stays. A system outside reads webhooks or GET /events instead.",
		"bindings":    map[string]any{"kafka": map[string]any{"topic": t.Name, "partitions": t.Partitions, "topicConfiguration": keep, "bindingVersion": "0.5.0"}}}
}

// recordMessage is the message of a topic of records: the Envelope of proto/event.proto.
func recordMessage(topic string, events []string, record json.RawMessage) map[string]any {
	text := func(description string) map[string]any {
		return map[string]any{"type": "string", "description": description}
	}
	return map[string]any{"name": topic, "title": "A record that changed", "contentType": "application/x-protobuf",
		"description": "The value is an Envelope in protobuf (frontdesk.v1.Envelope), shown here by its fields; a record that has gone for good is a message without a value.",
		"payload": map[string]any{"type": "object", "required": []string{"id", "kind", "record_id", "version", "occurred_at", "data"}, "properties": map[string]any{
			"id": text("The id of the event, without evt_."), "record_id": text("The id of the record."), "version": map[string]any{"type": "integer", "description": "Of the record, behind the change."},
			"kind":        text("What happened. Webhooks can subscribe " + strconv.Itoa(len(events)) + " of the kinds: " + strings.Join(events, ", ") + "."),
			"occurred_at": map[string]any{"type": "string", "format": "date-time"},
			"changed":     map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "description": "The names of the values that changed."},
			"data":        record}},
		"bindings": map[string]any{"kafka": map[string]any{"key": text("The id of the record."), "bindingVersion": "0.5.0"}}}
}
