package message

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// body is the content of a request. Its text is stored, and every attempt sends the same bytes.
type body struct {
	event  string
	id     uuid.UUID
	at     time.Time
	key    string // of the record in data; empty for a test, and for what cannot be subscribed
	record uuid.UUID
	// contact is the person whose data the record shows.
	contact  *uuid.UUID
	data     json.RawMessage
	changed  []string
	mergedID *uuid.UUID
	// spam is never sent.
	spam bool
}

// newBody makes the body of an event about a record. A record or an extra that cannot be read is an error: a body whose
// contact is unknown would escape an erasure.
func newBody(e bus.Event, record uuid.UUID) (body, error) {
	event, _ := EventNamed(e.Kind)
	b := body{event: e.Kind, id: e.ID, at: e.At, key: event.Record, record: record, data: e.Data}
	switch e.Topic {
	case proto.ContactTopic:
		b.contact = &record
	case proto.AppointmentTopic, proto.SubmissionTopic, proto.TaskTopic:
		var r struct {
			Contact *struct {
				ID *uuid.UUID `json:"id"`
			} `json:"contact"`
			Status string `json:"status"`
		}
		if err := e.Decode(&r); err != nil {
			return b, fmt.Errorf("webhooks: record of %s: %w", e.Kind, err)
		}
		if r.Contact != nil {
			b.contact = r.Contact.ID
		}
		b.spam = e.Topic == proto.SubmissionTopic && r.Status == "spam"
	}
	switch e.Kind {
	case proto.KindContactUpdated, proto.KindOrganizationUpdated, proto.KindTaskUpdated:
		b.changed = slices.Concat([]string{}, e.Changed) // [] rather than null
	case proto.KindContactMerged, proto.KindOrganizationMerged:
		var m proto.Merged
		if err := e.DecodeExtra(&m); err != nil {
			return b, err
		}
		merged, err := uuid.Parse(m.GetMergedId())
		if err != nil {
			return b, fmt.Errorf("webhooks: merged_id of %s: %w", e.Kind, err)
		}
		b.mergedID = &merged
	case proto.KindContactErased:
		return b.stripped(), nil
	}
	return b, nil
}

// stripped is the body with nothing of its record but the id.
func (b body) stripped() body {
	b.data = json.RawMessage(`{"id":"` + b.record.String() + `"}`)
	b.changed = nil
	return b
}

// sent is a body as it is sent.
type sent struct {
	Event      string                     `json:"event"`
	ID         string                     `json:"id"`
	OccurredAt string                     `json:"occurred_at"`
	Data       map[string]json.RawMessage `json:"data"`
}

func (s sent) text() (string, error) { return encode(s) }

// encode is v as JSON, with < > & as they are.
func encode(v any) (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// text is the body as sent.
func (b body) text() (string, error) {
	s := sent{b.event, EventID(b.id), b.at.UTC().Truncate(time.Second).Format(time.RFC3339), map[string]json.RawMessage{}}
	if b.key != "" {
		s.Data[b.key] = b.data
	} else if err := json.Unmarshal(b.data, &s.Data); err != nil {
		return "", err
	}
	var err error
	if b.changed != nil {
		if s.Data["changed"], err = json.Marshal(b.changed); err != nil {
			return "", err
		}
	}
	if b.mergedID != nil {
		if s.Data["merged_id"], err = json.Marshal(b.mergedID); err != nil {
			return "", err
		}
	}
	return s.text()
}

// Test is an event that is sent to try a webhook, and never subscribed.
type Test struct {
	ID      uuid.UUID
	Event   string
	Payload string // the body of its request
}

// NewTest makes a test event of a webhook.
func NewTest(tx *db.Tx, webhook uuid.UUID, name string) (Test, error) {
	data, err := json.Marshal(map[string]any{"webhook": map[string]any{"id": webhook, "name": name}})
	if err != nil {
		return Test{}, err
	}
	t := Test{ID: db.NewID(), Event: testEvent}
	t.Payload, err = body{event: t.Event, id: t.ID, at: tx.Now, data: data}.text()
	return t, err
}

// EventID is the id of an event as receivers see it.
func EventID(id uuid.UUID) string { return "evt_" + id.String() }

// idOf is the id of a nested record, nil if raw has none.
func idOf(raw json.RawMessage) *uuid.UUID {
	var v struct {
		ID *uuid.UUID `json:"id"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v.ID
}

// Object is the text of a JSON object, which answers show as it is.
type Object string

// MarshalJSON is the object itself.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// Schema is any object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Raw is a body from outside, which may be any bytes. Answers show it as text.
type Raw []byte

// MarshalText replaces what is not UTF-8.
func (b Raw) MarshalText() ([]byte, error) { return bytes.ToValidUTF8(b, []byte("\uFFFD")), nil }

// Schema is a string.
func (Raw) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeString} }
