package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// subscribe adds a webhook for the event.
func (b *bench) subscribe(url string) (id string, err error) {
	var out struct{ Webhook struct{ ID string } }
	_, err = b.Call("POST", "/webhooks", map[string]any{"name": "bench", "url": url, "events": []string{b.created.Kind}}, &out)
	return out.Webhook.ID, err
}

func (b *bench) unsubscribe(ids []string) error {
	for _, id := range ids {
		if _, err := b.Call("DELETE", "/webhooks/"+id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// receiver notes when each event arrived.
type receiver struct {
	*httptest.Server
	mu   sync.Mutex
	seen map[string]time.Time
}

// newReceiver starts one. If it hangs it takes requests and never answers.
func newReceiver(hang bool) *receiver {
	r := &receiver{seen: map[string]time.Time{}}
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

func (r *receiver) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.seen)
}

// commit emits n events in one transaction, and answers the ids of their records and when it was committed.
func (b *bench) commit(ctx context.Context, n int) (ids []string, at time.Time, err error) {
	err = b.events.Do(ctx, func(tx *db.Tx) error {
		ids = ids[:0]
		for range n {
			key := uuid.NewString()
			if err := tx.Emit(ctx, db.Event{Topic: proto.ContactTopic, Kind: b.created.Kind, Key: key, Version: 1, Data: b.created.about(key)}); err != nil {
				return err
			}
			ids = append(ids, key)
		}
		return nil
	})
	return ids, time.Now(), err
}
