package main

import (
	"context"

	"frontdesk/deploy/bench/world"
)

// people have the calendars that are booked.
const people = 20

// bareBooking is a booking of five minutes of one of them, with nothing but what keeps two visitors from having the same time.
const bareBooking = `\set staff random(1, 20)
\set minute random(0, 500000000)
insert into booking (staff, period, email) values (:staff, tstzrange(timestamptz '2030-01-01' + make_interval(mins => :minute), timestamptz '2030-01-01' + make_interval(mins => :minute + 5)), 'b' || :minute || '@example.com') on conflict do nothing;
`

// booking compares bookings through the gateway and past it with the bare insert.
func (b *bench) booking(ctx context.Context) error {
	db, err := database(ctx, b.postgres, "booking")
	if err != nil {
		return err
	}
	if err := execute(ctx, db, `create extension btree_gist;
		create table booking (id uuid primary key default gen_random_uuid(), staff int not null, period tstzrange not null, email text not null, made_at timestamptz not null default now(),
			exclude using gist (staff with =, period with &&))`); err != nil {
		return err
	}
	bare, err := world.NewBare(b.dir, db.ConnString(), "public", bareBooking)
	if err != nil {
		return err
	}
	c, err := world.NewCalendar(&b.ours.API, people-1)
	if err != nil {
		return err
	}
	direct := b.ours.API
	process, err := b.ours.Process("booking")
	if err != nil {
		return err
	}
	direct.URL = process.URL
	through, past := &limited{name: "book, through the gateway"}, &limited{name: "book, past the gateway"}
	limit := &limited{name: "a bare insert with an exclusion constraint, and the commit"}
	take := func(l *limited, book func() error) func() (float64, error) {
		return func() (float64, error) {
			rate, took, err := world.Timed(16, *booking, book)
			if err != nil {
				return 0, err
			}
			l.took = append(l.took, took...)
			return rate, b.ours.subjects[0].quiet(ctx)
		}
	}
	rates, err := world.Turns(*turns,
		func() (float64, error) { return bare.Rate(ctx, 16, *booking) },
		take(past, func() error { return c.Book(&direct) }),
		take(through, func() error { return c.Book(&b.ours.API) }))
	if err != nil {
		return err
	}
	limit.rates, past.rates, through.rates = rates[0], rates[1], rates[2]
	b.table.limits = append(b.table.limits, limit, past, through)
	return nil
}
