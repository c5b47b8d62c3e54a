package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const samples = 200

// timed calls f again and again and answers with how long each call took.
func timed(n int, f func() error) ([]time.Duration, error) {
	times := make([]time.Duration, 0, n)
	for range n {
		start := time.Now()
		if err := f(); err != nil {
			return nil, err
		}
		times = append(times, time.Since(start))
	}
	return times, nil
}

// slots compares a month of free times of everybody with the bare select of what is in the way.
func (w *world) slots(ctx context.Context) error {
	from, to := w.first, w.first.AddDate(0, 0, days-1)
	all := make([]int64, people)
	for i := range all {
		all[i] = int64(i + 1)
	}
	path := fmt.Sprintf("/slots?service=%s&from=%s&to=%s", w.service, from.Format(time.DateOnly), to.Format(time.DateOnly))
	ask := func() error { _, err := w.call("GET", path, nil, nil); return err }
	bare := func() error {
		rows, err := w.db.Query(ctx, `select user_id, starts_at, ends_at, buffer_before, buffer_after from appointment
			where user_id = any($1) and status in ('pending', 'confirmed', 'pending_payment') and starts_at >= $2 and starts_at < $3`,
			all, from.AddDate(0, 0, -2), to.AddDate(0, 0, 3))
		if err != nil {
			return err
		}
		var user int64
		var start, end time.Time
		var before, after int
		_, err = pgx.ForEachRow(rows, []any{&user, &start, &end, &before, &after}, func() error { return nil })
		return err
	}
	var asked, selected []time.Duration
	// In turns, so that whatever else the machine does falls on both.
	for range samples / 10 {
		a, err := timed(10, ask)
		if err != nil {
			return err
		}
		b, err := timed(10, bare)
		if err != nil {
			return err
		}
		asked, selected = append(asked, a...), append(selected, b...)
	}
	p50, limit := at(.5, asked[10:]), at(.5, selected[10:])
	ratio := float64(p50) / float64(limit)
	report(fmt.Sprintf("slots, month × %d people, %d appointments, p50", people, appointments), p50.Round(10*time.Microsecond), "20ms", p50 <= 20*time.Millisecond)
	report(fmt.Sprintf("  ÷ bare select of the busy times (%s)", limit.Round(10*time.Microsecond)), fmt.Sprintf("%.2f", ratio), "3", ratio <= 3)
	return nil
}

func (w *world) calendar(context.Context) error {
	path := fmt.Sprintf("/calendar?from=%s&to=%s", w.first.Format(time.DateOnly), w.first.AddDate(0, 0, 6).Format(time.DateOnly))
	times, err := timed(samples*2, func() error { _, err := w.call("GET", path, nil, nil); return err })
	if err != nil {
		return err
	}
	p99 := at(.99, times[20:])
	report(fmt.Sprintf("calendar, week × %d people, p99 (p50 %s)", people, at(.5, times).Round(10*time.Microsecond)), p99.Round(100*time.Microsecond), "50ms", p99 <= 50*time.Millisecond)
	return nil
}

// token is a time token that is old enough.
func (w *world) token() (string, error) {
	var out struct{ Token string }
	_, err := w.call("GET", "/booking/slots?service="+w.service, nil, &out)
	time.Sleep(3200 * time.Millisecond)
	return out.Token, err
}

func (w *world) book(token string, staff int64, start time.Time, email string) (status int, err error) {
	return w.call("POST", "/booking/book", map[string]any{"service": w.service, "staff": staff, "starts_at": start.Format(time.RFC3339), "token": token,
		"values": map[string]string{"first_name": "Bea", "email": email}}, nil)
}

// oneSlot lets 64 visitors at once want the same time, again and again.
func (w *world) oneSlot(_ context.Context, rounds int) error {
	token, err := w.token()
	if err != nil {
		return err
	}
	var slowest, single []time.Duration
	for round := range rounds {
		// Free days after the filled month; one slot of one person each round.
		start := w.first.AddDate(0, 0, days+round/8).Add(time.Duration(13+round%8/2)*time.Hour + time.Duration(round%2*30)*time.Minute)
		begin := time.Now()
		if status, err := w.book(token, 2, start, fmt.Sprintf("single%d@example.com", round)); err != nil || status != http.StatusCreated {
			return errors.Join(err, fmt.Errorf("single booking: status %d", status))
		}
		single = append(single, time.Since(begin))
		var won atomic.Int32
		var mu sync.Mutex
		var worst time.Duration
		var failed error
		var wg sync.WaitGroup
		gate := make(chan struct{})
		for i := range 64 {
			wg.Go(func() {
				<-gate
				begin := time.Now()
				status, err := w.book(token, 1, start, fmt.Sprintf("r%d-%d@example.com", round, i))
				took := time.Since(begin)
				mu.Lock()
				defer mu.Unlock()
				worst = max(worst, took)
				failed = errors.Join(failed, err)
				if status == http.StatusCreated {
					won.Add(1)
				}
			})
		}
		close(gate)
		wg.Wait()
		if failed != nil {
			return failed
		}
		if won.Load() != 1 {
			return fmt.Errorf("round %d: %d visitors got the same time", round, won.Load())
		}
		slowest = append(slowest, worst)
	}
	one, worst := at(.5, single), at(.5, slowest)
	ratio := float64(worst) / float64(one)
	report(fmt.Sprintf("64 on one slot, %d rounds: exactly one winner each time", rounds), "yes", "yes", true)
	report(fmt.Sprintf("  slowest answer (%s) ÷ a single booking (%s)", worst.Round(100*time.Microsecond), one.Round(100*time.Microsecond)), fmt.Sprintf("%.1f", ratio), "10", ratio <= 10)
	return nil
}

// distinct books as many different times as it can, and lets pgbench do what the constraint alone costs, in turns.
func (w *world) distinct(ctx context.Context, clients int, length time.Duration) error {
	if err := w.prepareBare(ctx); err != nil {
		return err
	}
	token, err := w.token()
	if err != nil {
		return err
	}
	var next atomic.Int64
	// Each measurement of ours stands between two of the limit: the machine is not equally fast all the time.
	var ours, bare, ratios []float64
	for i := range turns + 1 {
		rate, err := w.bare(ctx, clients, length/turns)
		if err != nil {
			return err
		}
		bare = append(bare, rate)
		if i > 0 {
			ratios = append(ratios, 2*ours[i-1]/(bare[i-1]+bare[i]))
		}
		if i < turns {
			if rate, err = w.bookings(ctx, token, clients, length/turns, &next); err != nil {
				return err
			}
			ours = append(ours, rate)
		}
	}
	for _, all := range [][]float64{ours, bare, ratios} {
		slices.Sort(all)
	}
	ratio := ratios[turns/2]
	report(fmt.Sprintf("bookings on distinct slots (%.0f/s) ÷ bare transaction (%.0f/s)", ours[turns/2], bare[turns/2]), fmt.Sprintf("%.2f", ratio), "0.4", ratio >= .4)
	return nil
}

const turns = 5

// bookings is how many a second clients make, of the times behind next.
func (w *world) bookings(ctx context.Context, token string, clients int, length time.Duration, next *atomic.Int64) (float64, error) {
	var done atomic.Int64
	run, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	begin := time.Now()
	for range clients {
		wg.Go(func() {
			for run.Err() == nil {
				n := next.Add(1)
				// Afternoons, in summer and winter alike.
				day, turn := int(n)/people/12, int(n)/people%12
				start := w.first.AddDate(0, 0, days+30+day).Add(12*time.Hour + time.Duration(turn)*30*time.Minute)
				status, err := w.book(token, 1+n%people, start, fmt.Sprintf("d%d@example.com", n))
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
				if status == http.StatusCreated {
					done.Add(1)
				}
			}
		})
	}
	wg.Wait()
	return float64(done.Load()) / time.Since(begin).Seconds(), failed
}

// script is a booking at its barest: take the person's calendar, look, insert under the constraint, commit.
const script = `\set person random(1, 20)
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

func (w *world) prepareBare(ctx context.Context) error {
	for _, q := range []string{
		`create table bare (like appointment including all)`,
		`alter table bare add exclude using gist (user_id with =, period with &&) where (status in ('pending', 'confirmed', 'pending_payment'))`,
		// With as many rows, and as well known to the planner, as the service's own table.
		`insert into bare (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location,
			meeting_url, notes, source, timed_at, created_at, updated_at)
			select id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location,
			meeting_url, notes, source, timed_at, created_at, updated_at from appointment`,
		`vacuum analyze bare`, `vacuum analyze appointment`,
	} {
		if _, err := w.db.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// bare is how many of them a second the database does by itself.
func (w *world) bare(ctx context.Context, clients int, length time.Duration) (float64, error) {
	program, err := exec.LookPath("pgbench")
	if err != nil {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if len(found) == 0 {
			return 0, errors.New("pgbench is not installed")
		}
		program = found[len(found)-1]
	}
	file := filepath.Join(w.dir, "bare.sql")
	if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
		return 0, err
	}
	cmd := exec.CommandContext(ctx, program, "-n", "-f", file, "-M", "prepared", "-c", fmt.Sprint(clients), "-j", "2", "-T", fmt.Sprint(int(length.Seconds())), w.url)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path=booking,ext")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("pgbench: %w: %s", err, out.String())
	}
	for line := range strings.Lines(out.String()) {
		if rest, ok := strings.CutPrefix(line, "tps = "); ok {
			number, _, _ := strings.Cut(rest, " ")
			return strconv.ParseFloat(strings.TrimSpace(number), 64)
		}
	}
	return 0, errors.New("pgbench says no rate: " + out.String())
}
