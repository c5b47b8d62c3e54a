package message

import (
	"context"
	"slices"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/signature"
)

// sampleSecret signs samples, and nothing else.
const sampleSecret = "whsec_c2FtcGxlcyBhcmUgc2lnbmVkIHdpdGggdGhpcyEhISE="

type sampleOf struct {
	Event  string `json:"event" doc:"A name from GET /webhooks/events, or webhook.test."`
	Format Format `json:"format,omitempty" enum:"svc,cloudevents" doc:"svc when left out."`
}

// sample is a request as a receiver gets it.
type sample struct {
	Headers []sampleHeader `json:"headers" doc:"All headers that a delivery has by itself, by name."`
	Body    string         `json:"body" doc:"The body, byte for byte as it is signed."`
	Payload Object         `json:"payload" doc:"The same body, to read."`
	Secret  string         `json:"secret" doc:"What signed it just now: the secret of samples, which no webhook has."`
}

type sampleHeader struct {
	Name  string `json:"name" doc:"The header's name."`
	Value string `json:"value" doc:"Its value."`
}

// sample answers with the request of an example of an event, signed at this moment, so that a receiver may check it like any other. An
// event that cannot be subscribed now is svc_not_found.
func (r *Room) sample(_ context.Context, tx *db.Tx, in sampleOf) (sample, error) {
	b := exampleTest
	if in.Event != testEvent {
		if e, ok := EventNamed(in.Event); !ok || !r.Apps.On(e.App) {
			return sample{}, fault.NotFound("event")
		}
		b = exampleOf(in.Event)
	}
	b.at = tx.Now
	if in.Format == "" {
		in.Format = Svc
	}
	stored, err := b.text()
	if err != nil {
		return sample{}, err
	}
	request, err := in.Format.Request(r.Config.PublicURL, stored, in.Event, exampleDelivery, func(body []byte) (map[string]string, error) {
		return signature.Headers(sampleSecret, "", EventID(b.id), tx.Now, body)
	})
	if err != nil {
		return sample{}, err
	}
	s := sample{Headers: []sampleHeader{}, Body: request.Body, Payload: Object(request.Body), Secret: sampleSecret}
	for name, values := range request.Header {
		s.Headers = append(s.Headers, sampleHeader{name, values[0]})
	}
	slices.SortFunc(s.Headers, func(a, b sampleHeader) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}
