package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
)

const samples = 200

// slots compares a month of free times of everybody with the bare select of what is in the way.
func (b *bench) slots(ctx context.Context) error {
	from, to := b.first, b.first.AddDate(0, 0, days-1)
	path := fmt.Sprintf("/slots?service=%s&from=%s&to=%s", b.service, from.Format(time.DateOnly), to.Format(time.DateOnly))
	bare := func() error {
		rows, err := b.DB.Query(ctx, `select user_id, starts_at, ends_at, buffer_before, buffer_after from appointment
			where user_id = any($1) and status in ('pending', 'confirmed', 'pending_payment') and starts_at >= $2 and starts_at < $3`,
			everybody(), from.AddDate(0, 0, -2), to.AddDate(0, 0, 3))
		if err != nil {
			return err
		}
		var user int64
		var start, end time.Time
		var before, after int
		_, err = pgx.ForEachRow(rows, []any{&user, &start, &end, &before, &after}, func() error { return nil })
		return err
	}
	times, err := world.Times(samples, b.Get(path), bare)
	if err != nil {
		return err
	}
	asked, selected := world.Median(times[0]), world.Median(times[1])
	b.AtMost(fmt.Sprintf("slots, month × %d people, %d appointments, p50", people, appointments), world.Ms(asked), world.Ms(20*time.Millisecond))
	b.Note("bare select of the busy times, p50", world.Ms(selected))
	b.AtMost("slots ÷ bare select of the busy times", world.Ratio(asked, selected), world.Plain(3))
	return nil
}

// taken is how many times the calendars of each person take in the month.
const taken = 200

// busy compares a month of free times of everybody with that of people who have as many appointments, and whose own calendars take time at night.
func (b *bench) busy(ctx context.Context) error {
	service, err := b.fill(ctx, others())
	if err != nil {
		return err
	}
	if _, err := b.DB.Exec(ctx, `with c as (insert into external_calendar (id, user_id, kind, name, url, username, calendar, blocks, writes, created_at)
			select gen_random_uuid(), u, 'ics', 'Bench', '', '', '', true, false, now() from unnest($1::bigint[]) u returning id, user_id)
		insert into external_time (calendar_id, user_id, starts_at, ends_at) select c.id, c.user_id, $2::timestamptz + make_interval(days => i % $4, mins => i / $4 * 60),
			$2::timestamptz + make_interval(days => i % $4, mins => i / $4 * 60 + 45) from c, generate_series(0, $3 - 1) i`, others(), b.first, taken, days); err != nil {
		return err
	}
	if _, err := b.DB.Exec(ctx, `analyze external_time, external_month`); err != nil {
		return err
	}
	path := "/slots?service=%s&from=" + b.first.Format(time.DateOnly) + "&to=" + b.first.AddDate(0, 0, days-1).Format(time.DateOnly)
	times, err := world.Times(samples, b.Get(fmt.Sprintf(path, service)), b.Get(fmt.Sprintf(path, b.service)))
	if err != nil {
		return err
	}
	b.AtMost(fmt.Sprintf("slots with %d busy times each ÷ without, month × %d people", taken, people), world.Ratio(world.Median(times[0]), world.Median(times[1])), world.Plain(1.1))
	return nil
}

func (b *bench) calendar(context.Context) error {
	path := fmt.Sprintf("/calendar?from=%s&to=%s", b.first.Format(time.DateOnly), b.first.AddDate(0, 0, 6).Format(time.DateOnly))
	times, err := world.Times(samples*2, b.Get(path))
	if err != nil {
		return err
	}
	b.Note(fmt.Sprintf("calendar, week × %d people, p50", people), world.Ms(world.Median(times[0])))
	b.AtMost(fmt.Sprintf("calendar, week × %d people, p99", people), world.Ms(world.Quantile(.99, times[0])), world.Ms(50*time.Millisecond))
	return nil
}

// token is a time token that is old enough to book with.
func (b *bench) token() (string, error) {
	var out struct{ Token string }
	_, err := b.Call("GET", "/booking/slots?service="+b.service, nil, &out)
	time.Sleep(3200 * time.Millisecond)
	return out.Token, err
}

// book answers 201 or, if somebody was faster, 409.
func (b *bench) book(visitor *world.Caller, token string, staff int64, start time.Time, email string) (status int, err error) {
	return visitor.Call("POST", "/v1/booking/book", fmt.Appendf(nil,
		`{"service": %q, "staff": %d, "starts_at": %q, "token": %q, "values": {"first_name": "Bea", "email": %q}}`,
		b.service, staff, start.Format(time.RFC3339), token, email))
}

// oneSlot has 64 visitors book the same time at once, round after round, and compares the slowest answer with a single
// booking.
func (b *bench) oneSlot(context.Context) error {
	token, err := b.token()
	if err != nil {
		return err
	}
	visitors, err := world.NewCaller(b.API, b.URL, racers)
	if err != nil {
		return err
	}
	defer visitors.Close()
	var slowest, single []time.Duration
	for round := range *rounds {
		// Free days after the filled month; one slot of one person each round.
		start := b.first.AddDate(0, 0, days+round/8).Add(time.Duration(13+round%8/2)*time.Hour + time.Duration(round%2*30)*time.Minute)
		begin := time.Now()
		status, err := b.book(visitors, token, 2, start, fmt.Sprintf("single%d@example.com", round))
		if err != nil || status != http.StatusCreated {
			return fmt.Errorf("single booking: status %d: %w", status, err)
		}
		single = append(single, time.Since(begin))
		won, worst, err := b.race(visitors, token, round, start)
		if err != nil {
			return err
		}
		if won != 1 {
			return fmt.Errorf("round %d: %d visitors got the same time", round, won)
		}
		slowest = append(slowest, worst)
	}
	one, worst := world.Median(single), world.Median(slowest)
	b.Note("64 on one slot: rounds, each with exactly one winner", world.Plain(*rounds))
	b.Note("a single booking, p50", world.Ms(one))
	b.Note("64 on one slot: slowest answer, p50", world.Ms(worst))
	b.AtMost("64 on one slot: slowest answer ÷ a single booking", world.Ratio(worst, one), world.Plain(10))
	return nil
}

// racers book one slot at once.
const racers = 64

// race has all of them book start at once. It returns how many succeeded, and how long the slowest answer took.
func (b *bench) race(racing *world.Caller, token string, round int, start time.Time) (won int, worst time.Duration, err error) {
	var mu sync.Mutex
	var visitors sync.WaitGroup
	gate := make(chan struct{})
	for i := range racers {
		visitors.Go(func() {
			<-gate
			begin := time.Now()
			status, e := b.book(racing, token, 1, start, fmt.Sprintf("r%d-%d@example.com", round, i))
			took := time.Since(begin)
			mu.Lock()
			defer mu.Unlock()
			worst = max(worst, took)
			if e != nil {
				err = e
			}
			if status == http.StatusCreated {
				won++
			}
		})
	}
	close(gate)
	visitors.Wait()
	return won, worst, err
}

const distinctTurns = 5

// distinct books as many different times as it can, and lets pgbench do what the constraint alone costs, in turns.
func (b *bench) distinct(ctx context.Context) error {
	if err := b.prepareBare(ctx); err != nil {
		return err
	}
	limit, err := world.NewBare(b.Dir, b.URLs["booking"], "booking,ext", bareBook)
	if err != nil {
		return err
	}
	token, err := b.token()
	if err != nil {
		return err
	}
	visitors, err := world.NewCaller(b.API, b.URL, *clients)
	if err != nil {
		return err
	}
	defer visitors.Close()
	var next atomic.Int64
	book := func() error {
		for {
			n := next.Add(1)
			// Afternoons, in summer and winter alike.
			day, turn := int(n)/people/12, int(n)/people%12
			start := b.first.AddDate(0, 0, days+30+day).Add(12*time.Hour + time.Duration(turn)*30*time.Minute)
			if status, err := b.book(visitors, token, 1+n%people, start, fmt.Sprintf("d%d@example.com", n)); err != nil || status == http.StatusCreated {
				return err
			}
		}
	}
	rates, err := world.Turns(distinctTurns,
		func() (float64, error) { return limit.Rate(ctx, *clients, *length) },
		b.Costing(b.Report, "booking", func() (float64, error) { return world.Load(*clients, *length, book) }))
	if err != nil {
		return err
	}
	b.Note("bookings on distinct slots", world.PerSecond(world.Median(rates[1])))
	b.Note("bare transaction", world.PerSecond(world.Median(rates[0])))
	b.AtLeast("bookings on distinct slots ÷ bare transaction", world.Plain(world.Median(world.Ratios(rates[1], rates[0]))), world.Plain(0.4))
	return nil
}

// bareBook is the least that a booking needs: lock the person's calendar, read it, insert under the constraint, commit.
const bareBook = `\set person random(1, 20)
\set minute random(0, 100000000)
begin;
select pg_advisory_xact_lock(:person);
select starts_at, ends_at, buffer_before, buffer_after from bare where user_id = :person and status in ('pending', 'confirmed', 'pending_payment')
	and starts_at >= timestamptz '2030-01-01' + make_interval(mins => :minute - 3000) and starts_at < timestamptz '2030-01-01' + make_interval(mins => :minute + 3000);
insert into bare (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location, meeting_url, notes,
	source, timed_at, created_at, updated_at)
	values (gen_random_uuid(), 'confirmed', gen_random_uuid(), '{"name": "Bench", "duration_min": 15}', :person, gen_random_uuid(),
		timestamptz '2030-01-01' + make_interval(mins => :minute), timestamptz '2030-01-01' + make_interval(mins => :minute + 15),
		0, 5, 'in_person', '', '', '', 'booking', now(), now(), now()) on conflict do nothing;
commit;
`

// prepareBare makes a table with as many rows, and as well known to the planner, as the service's own.
func (b *bench) prepareBare(ctx context.Context) error {
	for _, q := range []string{
		`create table bare (like appointment including all)`,
		`alter table bare add exclude using gist (user_id with =, period with &&) where (status in ('pending', 'confirmed', 'pending_payment'))`,
		`insert into bare (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location,
			meeting_url, notes, source, timed_at, created_at, updated_at)
			select id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location,
			meeting_url, notes, source, timed_at, created_at, updated_at from appointment`,
		`vacuum analyze bare`, `vacuum analyze appointment`,
	} {
		if _, err := b.DB.Exec(ctx, q); err != nil {
			return fmt.Errorf("prepare the bare table: %w", err)
		}
	}
	return nil
}
