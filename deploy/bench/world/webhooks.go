package world

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

// Webhooks is a world of the service webhooks, with a producer of the events that it passes on.
type Webhooks struct {
	*World
	Created Sample
	events  *db.DB
}

// Sample is an event as its producer sends it.
type Sample struct {
	Kind string
	Data map[string]any
}

// About is the event's data, about another record.
func (s Sample) About(id string) map[string]any {
	data := maps.Clone(s.Data)
	data["id"] = id
	return data
}

// NewWebhooks starts one, from the checkout in the current folder. The service trusts Receivers.
func NewWebhooks(ctx context.Context) (*Webhooks, error) {
	trust, err := TrustReceivers()
	if err != nil {
		return nil, err
	}
	w, err := New(ctx, Options{Service: "webhooks", People: 1, Schemas: []string{"producer"}, Env: []string{"SVC_WEBHOOK_LOCAL=1", "SSL_CERT_FILE=" + trust}})
	if err != nil {
		_ = os.Remove(trust)
		return nil, err
	}
	w.Defer(func() { _ = os.Remove(trust) })
	h := &Webhooks{World: w}
	if err := h.produce(ctx); err != nil {
		h.Close()
		return nil, fmt.Errorf("start the producer: %w", err)
	}
	return h, nil
}

// produce reads what contacts sends, and opens the database whose outbox the events go through.
func (w *Webhooks) produce(ctx context.Context) (err error) {
	raw, err := os.ReadFile("proto/samples/contacts.contact/contact.created.json")
	if err != nil {
		return fmt.Errorf("run from the top of the checkout: %w", err)
	}
	if err := json.Unmarshal(raw, &w.Created); err != nil {
		return err
	}
	if w.events, err = db.Open(ctx, w.URLs["producer"], "producer"); err != nil {
		return err
	}
	w.Defer(w.events.Close)
	if err := w.events.Migrate(ctx, nil); err != nil {
		return err
	}
	relaying, stop := context.WithCancel(context.WithoutCancel(ctx))
	w.Defer(stop)
	go (&relay.Relay{DB: w.events, Log: w.Bus}).Run(relaying, func(err error) { fmt.Fprintln(os.Stderr, "relay:", err) })
	return nil
}

// Commit emits n events in one transaction, and returns the ids of their records and when it was committed.
func (w *Webhooks) Commit(ctx context.Context, n int) (ids []string, at time.Time, err error) {
	err = w.events.Do(ctx, func(tx *db.Tx) error {
		ids = ids[:0]
		for range n {
			key := uuid.NewString()
			if err := tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: w.Created.Kind, Key: key, Version: 1, Data: w.Created.About(key)}); err != nil {
				return err
			}
			ids = append(ids, key)
		}
		return nil
	})
	return ids, time.Now(), err
}

// Subscribe adds a webhook for the event.
func (w *Webhooks) Subscribe(url string) (id string, err error) {
	var out struct{ Webhook struct{ ID string } }
	_, err = w.Call(http.MethodPost, "/webhooks", map[string]any{"name": "bench", "url": url, "events": []string{w.Created.Kind}}, &out)
	return out.Webhook.ID, err
}

// Unsubscribe deletes webhooks.
func (w *Webhooks) Unsubscribe(ids []string) error {
	for _, id := range ids {
		if _, err := w.Call(http.MethodDelete, "/webhooks/"+id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Receiver takes webhooks by TLS, and notes when each event arrived first.
type Receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]time.Time
}

// NewReceiver starts one. If it hangs it takes requests and never answers.
func NewReceiver(hang bool) *Receiver {
	r := &Receiver{seen: map[string]time.Time{}}
	r.Server = httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		now := time.Now()
		_, _ = io.Copy(io.Discard, req.Body)
		if hang {
			<-req.Context().Done()
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if id := req.Header.Get("webhook-id"); r.seen[id].IsZero() {
			r.seen[id] = now
		}
	}))
	return r
}

// Count is how many events have arrived.
func (r *Receiver) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// Seen is when each event arrived, by its id.
func (r *Receiver) Seen() map[string]time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.seen)
}

// Forget makes the receiver count anew.
func (r *Receiver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.seen)
}

// AllHave waits until n events have arrived at each receiver.
func AllHave(n int, to []*Receiver) error {
	begin := time.Now()
	for _, r := range to {
		for ; r.Count() < n; time.Sleep(2 * time.Millisecond) {
			if time.Since(begin) > 2*time.Minute {
				return fmt.Errorf("%d of %d events have arrived at a receiver after two minutes", r.Count(), n)
			}
		}
	}
	return nil
}

// TrustReceivers writes the certificate that all receivers show to a temporary file, for SSL_CERT_FILE.
func TrustReceivers() (file string, err error) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	f, err := os.CreateTemp("", "frontdesk-bench-*.pem")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), pem.Encode(f, &pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
}
