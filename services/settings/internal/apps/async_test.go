package apps

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

// eventsPart is a part with webhooks, as the service of the same name describes them.
const eventsPart = `{"paths":{},"components":{"schemas":{"Id":{"type":"string","format":"uuid"},"Contact":{"type":"object","properties":{"id":{"$ref":"#/components/schemas/Id"},"owner":{"$ref":"#/components/schemas/Person"}}},
	"Person":{"type":"object"},"Appointment":{"type":"object"},"Unused":{"type":"string"}}},
	"webhooks":{"tag":{"name":"Events"},"items":{"contact.created":%s,"contact.merged":%s,"appointment.booked":%s,"webhook.test":%s}}}`

func webhook(app, data string) string {
	body := func(example string) string {
		return `{"schema":{"type":"object","properties":{"data":{"type":"object","properties":` + data + `}}},"example":` + example + `}`
	}
	return `{"post":{"x-app":"` + app + `","description":"Something happened.","parameters":[{"name":"webhook-id","in":"header","description":"The id.","schema":{"type":"string"},"example":"evt_1"}],
		"requestBody":{"content":{"application/json":` + body(`{"event":"x"}`) + `,"application/cloudevents+json":` + body(`{"type":"x"}`) + `}}}}`
}

func asyncOf(t *testing.T, on func(string) bool) map[string]any {
	t.Helper()
	const contact, appointment = `{"contact":{"$ref":"#/components/schemas/Contact"}}`, `{"appointment":{"$ref":"#/components/schemas/Appointment"}}`
	m := &Manifest{Manifest: &proto.Manifest{Service: "webhooks"}}
	require.NoError(t, json.Unmarshal(fmt.Appendf(nil, eventsPart, webhook("contacts", contact), webhook("contacts", `{"merged_id":{"$ref":"#/components/schemas/Id"},"contact":{"$ref":"#/components/schemas/Contact"}}`),
		webhook("booking", appointment), webhook("", `{"webhook":{"type":"object"}}`)), &m.part))
	docs, err := merge("https://desk.example.com/v1", []*Manifest{m}, nil, on)
	require.NoError(t, err)
	var doc map[string]any
	require.NoError(t, json.Unmarshal(docs.async, &doc))
	return doc
}

// at is what stands at a path of keys.
func at(v any, keys ...string) any {
	for _, key := range keys {
		object, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = object[key]
	}
	return v
}

func TestTheEventsAreDescribedInEachFormatWithTheirTopics(t *testing.T) {
	t.Parallel()
	doc := asyncOf(t, func(string) bool { return true })
	require.Equal(t, "3.0.0", doc["asyncapi"])
	for _, event := range []string{proto.KindContactCreated, proto.KindContactMerged, proto.KindAppointmentBooked, "webhook.test"} {
		require.Equal(t, "send", at(doc, "operations", "send-"+event, "action"))
		for format, media := range map[string]string{"svc": "application/json", "cloudevents": "application/cloudevents+json"} {
			require.NotNil(t, at(doc, "channels", event, "messages", format))
			message := at(doc, "components", "messages", event+"."+format)
			require.Equal(t, media, at(message, "contentType"))
			require.Equal(t, "The id.", at(message, "headers", "properties", "webhook-id", "description"))
			require.NotNil(t, at(message, "payload", "properties", "data"))
		}
	}
	require.Equal(t, map[string]any{"$ref": "#/components/schemas/Contact"}, at(doc, "components", "messages", proto.ContactTopic, "payload", "properties", "data"))
	require.EqualValues(t, 4, at(doc, "channels", proto.ContactTopic, "bindings", "kafka", "partitions"))
	require.Equal(t, []any{"compact"}, at(doc, "channels", proto.ContactTopic, "bindings", "kafka", "topicConfiguration", "cleanup.policy"))
	require.Contains(t, at(doc, "components", "messages", proto.ContactTopic, "payload", "properties", "kind", "description"), "contact.created, contact.merged")
	require.Equal(t, []string{"Appointment", "Contact", "Id", "Person"}, keysOf(at(doc, "components", "schemas")))
	leads(t, doc, doc)
}

func TestEventsOfAnAppThatIsOffAreNotDescribed(t *testing.T) {
	t.Parallel()
	doc := asyncOf(t, func(app string) bool { return app != "booking" })
	require.Nil(t, at(doc, "channels", proto.KindAppointmentBooked))
	require.Nil(t, at(doc, "channels", proto.AppointmentTopic))
	require.NotNil(t, at(doc, "channels", proto.KindContactCreated))
	require.Equal(t, []string{"Contact", "Id", "Person"}, keysOf(at(doc, "components", "schemas")))
	leads(t, doc, doc)
}

// leads holds that each reference below v leads to something in doc.
func leads(t *testing.T, doc, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if to, ok := v["$ref"].(string); ok {
			require.NotNil(t, at(doc, strings.Split(strings.TrimPrefix(to, "#/"), "/")...), to)
		}
		for _, x := range v {
			leads(t, doc, x)
		}
	case []any:
		for _, x := range v {
			leads(t, doc, x)
		}
	}
}

func keysOf(v any) (keys []string) {
	for key := range v.(map[string]any) {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
