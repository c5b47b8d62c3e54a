// Command growth measures what grows with a site: `go run ./deploy/bench/growth`. It fills a system in steps, each ten times as
// large as the one before, and takes every list, search, summary and export of the API at each of them. A page that shows as much as
// before has to take as long as before, and a row of an export too.
package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"

	"frontdesk/deploy/bench/world"
)

var (
	steps   = flag.String("contacts", "10000,100000,1000000", "contacts of each step; timeline entries are ten times as many. Beyond a million only contacts grow")
	rounds  = flag.Int("rounds", 40, "how often each call is made at a step")
	updates = flag.Int("updates", 100_000, "changes of a day")
)

// bench is the system, its report and what is in it.
type bench struct {
	*world.System
	*world.Report
	contacts int // so far
	service  string
	form     int64
	webhook  string
	team     []int64
}

func main() {
	world.Run(func(ctx context.Context, r *world.Report) ([]world.Part, func(), error) {
		s, err := world.StartSystem(ctx, "")
		if err != nil {
			return nil, nil, err
		}
		b := &bench{System: s, Report: r}
		return []world.Part{{Name: "growth", Take: b.growth}, {Name: "day", Take: b.day}}, s.Close, nil
	})
}

// growth measures each step, and holds the largest against the first.
func (b *bench) growth(ctx context.Context) error {
	if err := b.found(ctx); err != nil {
		return err
	}
	var first map[string]took
	var firstRates map[string]float64
	for text := range strings.SplitSeq(*steps, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n%1000 != 0 || n <= b.contacts {
			return fmt.Errorf("-contacts is a list of rising multiples of 1000, not %s", *steps)
		}
		if err := b.grow(ctx, n); err != nil {
			return err
		}
		all, err := b.take()
		if err != nil {
			return err
		}
		rates, err := b.export(n)
		if err != nil {
			return err
		}
		if first == nil {
			first, firstRates = all, rates
		}
		for _, c := range calls {
			b.Note(fmt.Sprintf("%d: %s, p50", n, c.name), world.Ms(all[c.name].p50))
			b.Note(fmt.Sprintf("%d: %s, p99", n, c.name), world.Ms(all[c.name].p99))
			if n > 10_000 {
				b.AtMost(fmt.Sprintf("%d: %s, p50 ÷ the first step's", n, c.name), world.Ratio(all[c.name].p50, first[c.name].p50), world.Plain(1.5))
			}
		}
		for _, x := range exports {
			if n > 10_000 {
				b.AtLeast(fmt.Sprintf("%d: %s, rows a second ÷ the first step's", n, x.path), world.Ratio(rates[x.path], firstRates[x.path]), world.Plain(0.67))
			}
		}
		if err := b.sizes(ctx, n); err != nil {
			return err
		}
	}
	return nil
}
