// Command forms measures how fast the whole system takes submissions, each figure beside a limit taken in the same
// run: `go run ./deploy/bench/forms`. It starts a system of its own, or takes the running one that -data names. With
// -faults it kills processes instead, and counts what came of the submissions.
package main

import (
	"context"
	"flag"
	"time"

	"frontdesk/deploy/bench/world"
)

var (
	data   = flag.String("data", "", "data folder of a running system; empty starts one")
	length = flag.Duration("length", 10*time.Second, "length of each measurement")
	rounds = flag.Int("rounds", 3, "how often rates are taken, in turn; the median counts")
	faults = flag.Bool("faults", false, "kill contacts and forms in the middle of submissions")
	count  = flag.Int("submissions", 10_000, "submissions of the faults")
	pace   = flag.Int("pace", 200, "submissions a second, where that is given")
)

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		system, err := world.StartSystem(ctx, *data)
		if err != nil {
			return nil, nil, err
		}
		s, err := newSite(system, r)
		if err != nil {
			system.Close()
			return nil, nil, err
		}
		if *faults {
			return []world.Part{{Name: "contacts", Take: s.killContacts}, {Name: "forms", Take: s.killForms}}, s.Close, nil
		}
		bare, err := newBare(ctx, s)
		if err != nil {
			s.Close()
			return nil, nil, err
		}
		take := func(f func(context.Context, *bareSubmit) error) func(context.Context) error {
			return func(ctx context.Context) error { return f(ctx, bare) }
		}
		return []world.Part{{Name: "rates", Take: take(s.rates)}, {Name: "times", Take: take(s.times)}, {Name: "visible", Take: s.visible}}, s.Close, nil
	})
}
