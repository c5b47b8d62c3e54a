package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"frontdesk/deploy/bench/world"
)

// operation is what the clients of a subject do again and again.
type operation struct {
	name   string
	writes bool
	// prepare returns what a client sends each time, to a subject with so many contacts.
	prepare func(s *subject, size int) (func() request, error)
}

var operations = []operation{
	reading("list, first page with total", "", true),
	reading("list, second page without", "", false),
	reading("search for one, with total", rare, true),
	reading("search for 4 %, with total", common, true),
	reading("search for 4 %, second page without", common, false),
	{"change a number", true, func(s *subject, size int) (func() request, error) {
		return func() request {
			return s.api.change(1+rand.IntN(size), fmt.Sprintf("+32471%06d", rand.IntN(1_000_000)))
		}, nil
	}},
}

// creating comes last, because it makes the sites differ.
var creating = operation{"create", true, func(s *subject, _ int) (func() request, error) {
	return func() request { return s.api.create(newcomer(newcomers.Add(1))) }, nil
}}

var newcomers atomic.Int64

func reading(name, text string, total bool) operation {
	return operation{name, false, func(s *subject, size int) (func() request, error) {
		path, err := s.api.page(text, total)
		if err != nil {
			return nil, err
		}
		r := request{method: http.MethodGet, path: path}
		page, err := s.call(r)
		if err != nil {
			return nil, err
		}
		items, found, err := s.api.read(page)
		if err != nil {
			return nil, err
		}
		want := map[string]int{"": size, common: size / len(lasts), rare: 1}[text]
		if items != min(20, want) || total && found != want {
			return nil, fmt.Errorf("%s: %s: %d on the page and %d in all instead of %d: %.300s", s.name, r.path, items, found, want, page)
		}
		return func() request { return r }, nil
	}}
}

// contacts measures all that is done with contacts, at each size.
func (b *bench) contacts(ctx context.Context) error {
	for _, s := range b.subjects {
		if err := s.quiet(ctx); err != nil {
			return err
		}
		s.rest = s.held()
	}
	there := 0
	for _, size := range b.sizes {
		for _, s := range b.subjects {
			if s.fill == nil {
				continue // it shares the contacts of another
			}
			start := time.Now()
			if err := s.fill(ctx, there+1, size); err != nil {
				return fmt.Errorf("fill %s: %w", s.name, err)
			}
			progress(fmt.Sprintf("%s has %d contacts (%s)", s.name, size, time.Since(start).Round(100*time.Millisecond)))
		}
		for _, s := range b.subjects {
			if err := s.quiet(ctx); err != nil {
				return err
			}
		}
		there = size
		if size != b.sizes[len(b.sizes)-1] {
			if err := b.measure(ctx, operations, size, nil); err != nil {
				return err
			}
			continue
		}
		limit, err := b.ours.alone.BareCreate(ctx)
		if err != nil {
			return err
		}
		if err := b.measure(ctx, append(operations[:len(operations):len(operations)], creating), size, limit); err != nil {
			return err
		}
	}
	b.compareCreates()
	return nil
}

// compareCreates reports what we want of creates: nearly half of what the database alone could do, and far more than Directus.
func (b *bench) compareCreates() {
	busy := b.table.rows[len(b.table.rows)-2]
	rates := func(s *subject) []float64 { return busy.cells[s].rates }
	through := b.subjects[0]
	b.AtLeast("create, 16 clients, gateway ÷ bare transaction", world.Plain(world.Median(world.Ratios(rates(through), b.table.limits[0].rates))), world.Plain(0.45))
	for _, peer := range b.subjects[len(b.ours.subjects):] {
		wanted := 1.
		if peer.name == directusName {
			wanted = 20
		}
		b.AtLeast("create, 16 clients, gateway ÷ "+peer.name, world.Plain(world.Median(world.Ratios(rates(through), rates(peer)))), world.Plain(wanted))
	}
}

// measure takes each operation of each subject in turns, with 16 clients and with one, and with 16 the limit of creates, if there is
// one.
func (b *bench) measure(ctx context.Context, all []operation, size int, limit *world.Bare) error {
	var takes []func() (float64, error)
	var cells []*cell
	for _, o := range all {
		for _, c := range []struct {
			clients int
			length  time.Duration
		}{{16, *many}, {1, *single}} {
			row := b.table.row(size, o.name, c.clients)
			for _, s := range b.subjects {
				if s.onlyWrites && !o.writes {
					continue
				}
				next, err := o.prepare(s, size)
				if err != nil {
					return err
				}
				cell := row.cell(s)
				cells = append(cells, cell)
				takes = append(takes, func() (float64, error) {
					rate, took, err := world.Timed(c.clients, c.length, func() error {
						_, err := s.call(next())
						return err
					})
					if err != nil {
						return 0, err
					}
					cell.took = append(cell.took, took...)
					if o.writes {
						err = s.quiet(ctx)
					}
					return rate, err
				})
			}
		}
	}
	bare := &limited{name: "the bare transaction of a create: contact, timeline, two rows of the outbox"}
	if limit != nil {
		takes = append(takes, func() (float64, error) { return limit.Rate(ctx, 16, *many) })
		b.table.limits = append(b.table.limits, bare)
	}
	for turn := range *turns {
		rates, err := world.Turns(1, takes...)
		if err != nil {
			return err
		}
		for i, r := range rates {
			if i == len(cells) {
				bare.rates = append(bare.rates, r[0])
				continue
			}
			cells[i].rates = append(cells[i].rates, r[0])
		}
		progress(fmt.Sprintf("%s contacts: turn %d of %d", thousands(size), turn+1, *turns))
	}
	return nil
}

func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
