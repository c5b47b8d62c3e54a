package message

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/google/uuid"
)

// Format is how the body of a request looks.
type Format string

// The formats. A body is stored as Svc, and made into another for each attempt.
const (
	Svc         Format = "svc"
	cloudEvents Format = "cloudevents" // CloudEvents 1.0, structured mode in JSON
)

// contentTypes are those of the formats.
var contentTypes = map[Format]string{Svc: "application/json", cloudEvents: "application/cloudevents+json"}

// structuredEvent is an event as CloudEvents 1.0 has it. Source and ID together name it.
type structuredEvent struct {
	SpecVersion     string                     `json:"specversion"`
	ID              string                     `json:"id"`
	Source          string                     `json:"source"`
	Type            string                     `json:"type"`
	Subject         string                     `json:"subject,omitempty"`
	Time            string                     `json:"time"`
	DataContentType string                     `json:"datacontenttype"`
	Data            map[string]json.RawMessage `json:"data"`
}

// Body is a stored body in the format, of the installation at source. The same body always gives the same bytes.
func (f Format) Body(source, stored string) (string, error) {
	if f != cloudEvents {
		return stored, nil
	}
	var s sent
	if err := json.Unmarshal([]byte(stored), &s); err != nil {
		return "", fmt.Errorf("webhooks: stored body: %w", err)
	}
	record := "webhook" // of a test
	if e, ok := EventNamed(s.Event); ok {
		record = e.Record
	}
	subject := ""
	if id := idOf(s.Data[record]); id != nil {
		subject = id.String()
	}
	return encode(structuredEvent{"1.0", s.ID, source, s.Event, subject, s.OccurredAt, contentTypes[Svc], s.Data})
}

// Request is what one attempt sends.
type Request struct {
	Header http.Header
	Body   string
}

// Request makes the request of an attempt, from the stored body of its event. sign gives the headers that sign a body; its error is returned.
func (f Format) Request(source, stored, event string, delivery uuid.UUID, sign func(body []byte) (map[string]string, error)) (Request, error) {
	body, err := f.Body(source, stored)
	if err != nil {
		return Request{}, err
	}
	signatures, err := sign([]byte(body))
	h := http.Header{}
	h.Set("Content-Type", contentTypes[f])
	h.Set("User-Agent", "Frontdesk-Webhooks/1.0")
	h.Set("X-Svc-Event", event)
	h.Set("X-Svc-Delivery", delivery.String())
	for name, value := range signatures {
		h.Set(name, value)
	}
	return Request{h, body}, err
}
