// Command booking measures the booking service alone, on a database and a broker of its own that lose
// nothing: `go run ./deploy/bench/booking`. Each figure stands beside a limit taken in the same run.
package main

import (
	"context"
	"flag"
	"time"

	"frontdesk/deploy/bench/world"
)

var (
	rounds  = flag.Int("rounds", 200, "rounds of 64 visitors on one slot")
	length  = flag.Duration("length", 3*time.Second, "length of each turn of measuring throughput")
	clients = flag.Int("clients", 16, "visitors who book distinct slots at once")
)

// bench is the service with a business whose calendar is full.
type bench struct {
	*world.World
	*world.Report
	service string
	first   time.Time // midnight of the first day with appointments
}

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		w, err := world.New(ctx, world.Options{Service: "booking", People: 2 * people})
		if err != nil {
			return nil, nil, err
		}
		b := &bench{World: w, Report: r, first: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1)}
		if b.service, err = b.fill(ctx, everybody()); err != nil {
			w.Close()
			return nil, nil, err
		}
		return []world.Part{{Name: "slots", Take: b.slots}, {Name: "calendar", Take: b.calendar}, {Name: "one-slot", Take: b.oneSlot}, {Name: "distinct", Take: b.distinct}, {Name: "busy", Take: b.busy}}, w.Close, nil
	})
}
