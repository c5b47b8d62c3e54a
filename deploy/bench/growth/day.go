package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
)

const (
	smallest = 100_000 // contacts that a day needs
	editors  = 16
	// settled is how long the server's own vacuum needs behind the last change: it looks once a minute.
	settled = 150 * time.Second
)

// day makes the changes of a busy day through the gateway, four of contacts to one of an appointment, and leaves them to the server's own
// vacuum. It compares each call with the same before, and each table with one that was written anew.
func (b *bench) day(ctx context.Context) error {
	if b.contacts == 0 {
		if err := b.found(ctx); err != nil {
			return err
		}
		if err := b.grow(ctx, smallest); err != nil {
			return err
		}
	}
	before, err := b.take()
	if err != nil {
		return err
	}
	if err := b.change(*updates); err != nil {
		return err
	}
	time.Sleep(settled)
	after, err := b.take()
	if err != nil {
		return err
	}
	for _, c := range calls {
		b.AtMost(fmt.Sprintf("after %d changes: %s, p50 ÷ before", *updates, c.name), world.Ratio(after[c.name].p50, before[c.name].p50), world.Plain(1.5))
	}
	return b.bloat(ctx)
}

// change makes n changes and returns when they are done.
func (b *bench) change(n int) error {
	var next atomic.Int64
	began := time.Now()
	for next.Load() < int64(n) {
		if _, err := world.Load(editors, time.Second, func() error {
			i := next.Add(1)
			path, body := "/contacts/"+id(1+rand.IntN(b.contacts)), map[string]string{"first_name": fmt.Sprint("Anna ", i)}
			if i%5 == 0 {
				path, body = "/appointments/"+id(1+rand.IntN(min(b.contacts, million))), map[string]string{"notes": fmt.Sprint("Called about it, ", i)}
			}
			_, err := b.Call("PATCH", path, body, nil)
			return err
		}); err != nil {
			return err
		}
	}
	b.Note(fmt.Sprintf("%d changes, %d clients", next.Load(), editors), world.PerSecond(float64(next.Load())/time.Since(began).Seconds()))
	return nil
}

// size is what a table takes on disk, in bytes.
type size struct{ Table, Indexes int64 }

// bloat compares what the larger tables and their indexes take with what they take when they are written anew.
func (b *bench) bloat(ctx context.Context) error {
	grown, err := b.tables(ctx)
	if err != nil {
		return err
	}
	if _, err := b.DB.Exec(ctx, `vacuum (full, analyze)`); err != nil {
		return err
	}
	packed, err := b.tables(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(grown)) {
		g, p := grown[name], packed[name]
		if g.Table+g.Indexes < 4<<20 {
			continue
		}
		b.AtMost(name+": rows ÷ written anew", world.Plain(float64(g.Table)/float64(p.Table)), world.Plain(1.5))
		if p.Indexes > 0 {
			b.AtMost(name+": indexes ÷ written anew", world.Plain(float64(g.Indexes)/float64(p.Indexes)), world.Plain(2))
		}
	}
	return nil
}

func (b *bench) tables(ctx context.Context) (map[string]size, error) {
	rows, err := b.DB.Query(ctx, `select s.nspname || '.' || c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid)
		from pg_class c join pg_namespace s on s.oid = c.relnamespace where s.nspname = any($1) and c.relkind = 'r'`, services)
	if err != nil {
		return nil, err
	}
	all := map[string]size{}
	var name string
	var of size
	_, err = pgx.ForEachRow(rows, []any{&name, &of.Table, &of.Indexes}, func() error { all[name] = of; return nil })
	return all, err
}
