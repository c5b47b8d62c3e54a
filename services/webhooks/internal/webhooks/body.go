package webhooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/bus"
)

// body is a request body in the making. It is written once, and every attempt sends the same bytes.
type body struct {
	event  string
	id     uuid.UUID
	at     time.Time
	key    string // of the record in data; empty for a test
	record uuid.UUID
	// contact is the person whose data the record shows.
	contact  *uuid.UUID
	data     json.RawMessage
	changed  []string
	mergedID *uuid.UUID
	// spam is never told to anybody.
	spam bool
}

func newBody(e bus.Event, record uuid.UUID) body {
	b := body{event: e.Kind, id: e.ID, at: e.At, key: keys[e.Topic], record: record, data: e.Data}
	switch b.key {
	case "contact":
		b.contact = &record
	case "appointment", "submission":
		var v struct {
			Contact json.RawMessage `json:"contact"`
			Status  string          `json:"status"`
		}
		if json.Unmarshal(e.Data, &v) == nil {
			b.contact, b.spam = idOf(v.Contact), b.key == "submission" && v.Status == "spam"
		}
	}
	if strings.HasSuffix(e.Kind, ".updated") {
		b.changed = slices.Concat([]string{}, e.Changed)
	}
	if strings.HasSuffix(e.Kind, ".merged") && len(e.Extra) > 0 {
		var v struct {
			MergedID *uuid.UUID `json:"merged_id"`
		}
		if json.Unmarshal(e.Extra, &v) == nil {
			b.mergedID = v.MergedID
		}
	}
	if e.Kind == "contact.erased" {
		b.strip()
	}
	return b
}

// strip leaves nothing of the record but its id.
func (b *body) strip() {
	b.data = json.RawMessage(`{"id":"` + b.record.String() + `"}`)
	b.changed = nil
}

// sent is a body as it is sent.
type sent struct {
	Event      string                     `json:"event"`
	ID         string                     `json:"id"`
	OccurredAt string                     `json:"occurred_at"`
	Data       map[string]json.RawMessage `json:"data"`
}

func (s sent) text() (string, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	return strings.TrimSuffix(out.String(), "\n"), err
}

// text is the body as sent.
func (b *body) text() (string, error) {
	s := sent{b.event, eventID(b.id), b.at.UTC().Truncate(time.Second).Format(time.RFC3339), map[string]json.RawMessage{}}
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

// eventID is the id of an event as receivers see it.
func eventID(id uuid.UUID) string { return "evt_" + id.String() }
