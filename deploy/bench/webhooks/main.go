// Command webhooks measures the webhooks service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/webhooks`. Each figure stands beside a limit taken in the same run.
package main

import (
	"context"
	"flag"
	"time"

	"frontdesk/deploy/bench/world"
)

var (
	fanned = flag.Int("events", 5000, "events of the fan-out")
	length = flag.Duration("length", 15*time.Second, "length of each measurement of times")
	rows   = flag.Int("rows", 1_000_000, "rows of the log")
)

// bench is the service, and the report of one run.
type bench struct {
	*world.Webhooks
	*world.Report
}

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		w, err := world.NewWebhooks(ctx)
		if err != nil {
			return nil, nil, err
		}
		b := &bench{w, r}
		return []world.Part{{Name: "latency", Take: b.latency}, {Name: "fan-out", Take: b.fanOut}, {Name: "bad", Take: b.badReceiver}, {Name: "log", Take: b.log}}, b.Close, nil
	})
}
