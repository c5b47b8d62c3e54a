// Command webhooks measures the webhooks service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/webhooks`. Each figure stands beside a limit taken in the same run.
package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/db"
)

var (
	fanned = flag.Int("events", 5000, "events of the fan-out")
	length = flag.Duration("length", 15*time.Second, "length of each measurement of times")
	rows   = flag.Int("rows", 1_000_000, "rows of the log")
)

// bench is the service, and a producer of the events that it passes on.
type bench struct {
	*world.World
	*world.Report
	events  *db.DB
	created sample
}

// sample is an event as its producer sends it.
type sample struct {
	Kind string
	Data map[string]any
}

// about is the event's data, about another record.
func (s sample) about(id string) map[string]any {
	data := maps.Clone(s.Data)
	data["id"] = id
	return data
}

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		b, err := newBench(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		return []world.Part{{Name: "latency", Take: b.latency}, {Name: "fan-out", Take: b.fanOut}, {Name: "bad", Take: b.badReceiver}, {Name: "log", Take: b.log}}, b.Close, nil
	})
}

func newBench(ctx context.Context, r *world.Report) (*bench, error) {
	trust, err := trustReceivers()
	if err != nil {
		return nil, err
	}
	w, err := world.New(ctx, world.Options{Service: "webhooks", People: 1, Schemas: []string{"producer"}, Env: []string{"SVC_WEBHOOK_LOCAL=1", "SSL_CERT_FILE=" + trust}})
	if err != nil {
		_ = os.Remove(trust)
		return nil, err
	}
	w.Defer(func() { _ = os.Remove(trust) })
	b := &bench{World: w, Report: r}
	if err := b.produce(ctx); err != nil {
		w.Close()
		return nil, fmt.Errorf("start the producer: %w", err)
	}
	return b, nil
}

// trustReceivers writes the certificate that all receivers show, for the service to trust.
func trustReceivers() (file string, err error) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	file = filepath.Join(os.TempDir(), fmt.Sprintf("frontdesk-bench-%d.pem", os.Getpid()))
	return file, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600)
}

// produce reads what contacts sends, and opens the database whose outbox the events go through.
func (b *bench) produce(ctx context.Context) (err error) {
	raw, err := os.ReadFile("proto/samples/contacts.contact/contact.created.json")
	if err != nil {
		return fmt.Errorf("run from the top of the checkout: %w", err)
	}
	if err := json.Unmarshal(raw, &b.created); err != nil {
		return err
	}
	if b.events, err = db.Open(ctx, b.URLs["producer"], "producer"); err != nil {
		return err
	}
	b.Defer(b.events.Close)
	if err := b.events.Migrate(ctx, nil); err != nil {
		return err
	}
	relay, stop := context.WithCancel(context.WithoutCancel(ctx))
	b.Defer(stop)
	go b.events.Relay(relay, b.Bus.Send, func(err error) { fmt.Fprintln(os.Stderr, "relay:", err) })
	return nil
}
