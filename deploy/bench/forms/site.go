package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
	"frontdesk/deploy/client"
)

// site is the system with a published form, and visitors who send it.
type site struct {
	*world.System
	*world.Report
	form  string
	token string
	// mark is in every address of this run.
	mark string
	next atomic.Int64
	// killing is held until a process that was killed is back.
	killing sync.Mutex
}

func newSite(system *world.System, r *world.Report) (*site, error) {
	s := &site{System: system, Report: r, mark: uuid.NewString()[:8]}
	s.Client.Timeout = 30 * time.Second
	var form struct{ ID int64 }
	_, err := s.Call("POST", "/forms", json.RawMessage(`{"name":"Bench","status":"publish","definition":{"elements":[
		{"id":"first","type":"field","target":"contact.first_name"},
		{"id":"last","type":"field","target":"contact.last_name"},
		{"id":"email","type":"field","target":"contact.email","required":true},
		{"id":"message","type":"field","target":"submission.fields.message"}]}}`), &form)
	if err != nil {
		return nil, err
	}
	s.form = fmt.Sprint(form.ID)
	var token struct{ Token string }
	if _, err := s.Call("GET", "/forms/"+s.form+"/token", nil, &token); err != nil {
		return nil, err
	}
	s.token = token.Token
	time.Sleep(3200 * time.Millisecond) // a token is not valid before
	return s, nil
}

const message = "Good morning, we would like to know what you can do for us in spring, and what it would cost."

func (s *site) address(n int64) string { return fmt.Sprintf("v%07d.%s@example.com", n, s.mark) }

// body is what visitor n sends.
func (s *site) body(n int64) []byte {
	return fmt.Appendf(nil, `{"token": %q, "hp_url": "", "page": "https://example.com/contact",
		"values": {"first": "Grace", "last": "Hopper", "email": %q, "message": %q}}`, s.token, s.address(n), message)
}

// submit sends the form as visitor n to a base address; key may be empty. The status is 0 if there was no answer.
func (s *site) submit(ctx context.Context, base string, n int64, key string) (status int, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/forms/"+s.form+"/submit", bytes.NewReader(s.body(n)))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.Client.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode, err
}

const clients = 16

// rates compares how many submissions the service takes a second with how many bare transactions the database
// does, both from the same number of clients: while the other services stand still, since they share the machine
// here, and while they consume what the submissions publish.
func (s *site) rates(ctx context.Context, b *bareSubmit) error {
	forms, err := s.Process("forms")
	if err != nil {
		return err
	}
	visitors, err := world.NewCaller(client.API{}, forms.URL, clients)
	if err != nil {
		return err
	}
	defer visitors.Close()
	load := func() (float64, error) {
		return world.Load(clients, *length, func() error {
			status, err := visitors.Call("POST", "/v1/forms/"+s.form+"/submit", s.body(s.next.Add(1)))
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("submit: %d (a running system needs SVC_RATE_FACTOR=0)", status)
			}
			return err
		})
	}
	rates, err := world.Turns(*rounds,
		func() (float64, error) { return b.fast.Rate(ctx, clients, *length) },
		func() (rate float64, err error) {
			err = s.alone(func() error { rate, err = load(); return err })
			return rate, errors.Join(err, s.drained(ctx))
		},
		func() (float64, error) {
			rate, err := load()
			return rate, errors.Join(err, s.drained(ctx))
		})
	if err != nil {
		return err
	}
	limit, alone, together := world.Median(rates[0]), world.Median(rates[1]), world.Median(rates[2])
	s.Note("bare transactions", world.PerSecond(limit))
	s.Note("submissions, forms alone", world.PerSecond(alone))
	s.Note("submissions, all at work", world.PerSecond(together))
	s.AtLeast("submissions, forms alone ÷ bare transactions", world.Ratio(alone, limit), world.Plain(0.4))
	s.Note("submissions, all at work ÷ bare transactions", world.Ratio(together, limit))
	return nil
}

// alone calls f while the other services stand still.
func (s *site) alone(f func() error) error {
	for _, name := range []string{"contacts", "booking", "settings", "webhooks"} {
		p, err := s.Process(name)
		if err != nil {
			return err
		}
		if err := syscall.Kill(p.PID, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stop %s: %w", name, err)
		}
		defer func() { _ = syscall.Kill(p.PID, syscall.SIGCONT) }()
	}
	return f()
}

// drained waits until every submission so far has its result, so that nothing of one measurement is left for
// the next.
func (s *site) drained(ctx context.Context) error {
	for until := time.Now().Add(5 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		var pending bool
		err := s.DB.QueryRow(ctx, `select exists (select from forms.submission where form_id = $1 and result = 'pending')
			or exists (select from forms.outbox where sent_at is null) or exists (select from contacts.outbox where sent_at is null)`, s.form).Scan(&pending)
		if err != nil || !pending {
			return err
		}
	}
	return fmt.Errorf("submissions are still pending")
}

// times compares one client through the gateway with the bare transaction plus what the gateway adds.
func (s *site) times(ctx context.Context, b *bareSubmit) error {
	forms, err := s.Process("forms")
	if err != nil {
		return err
	}
	bare, err := b.time(ctx)
	if err != nil {
		return err
	}
	token := func(base string) func() (int, error) {
		return func() (int, error) {
			res, err := s.Client.Get(base + "/v1/forms/" + s.form + "/token")
			if err != nil {
				return 0, err
			}
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			return res.StatusCode, err
		}
	}
	direct, err := one(token(forms.URL))
	if err != nil {
		return err
	}
	through, err := one(token(s.URL))
	if err != nil {
		return err
	}
	submit := func() (int, error) { return s.submit(ctx, s.URL, s.next.Add(1), "") }
	together, err := one(submit)
	if err != nil {
		return err
	}
	if err := s.drained(ctx); err != nil {
		return err
	}
	var alone time.Duration
	if err := s.alone(func() error { alone, err = one(submit); return err }); err != nil {
		return err
	}
	s.Note("bare transaction", world.Ms(bare))
	s.Note("gateway adds, p50", world.Ms(through-direct))
	s.AtMost("submission, forms alone, p50", world.Ms(alone), world.Ms(2*bare+through-direct))
	s.Note("submission, all at work, p50", world.Ms(together))
	return s.drained(ctx)
}

// one is the median time of a single client who pauses between calls.
func one(call func() (status int, err error)) (time.Duration, error) {
	var took []time.Duration
	for start := time.Now(); time.Since(start) < *length; {
		before := time.Now()
		status, err := call()
		if err != nil || status != http.StatusOK {
			return 0, fmt.Errorf("%d %w", status, err)
		}
		took = append(took, time.Since(before))
		time.Sleep(5 * time.Millisecond)
	}
	return world.Median(took), nil
}

// warmUp is how long submissions are sent before they count: connections, plans and caches of a system that has just
// started are made by then.
const warmUp = 3 * time.Second

// visible sends so many a second as the pace says and looks for the contact of each.
func (s *site) visible(ctx context.Context) error {
	first := s.next.Load() + 1
	early, counted := int64(warmUp.Seconds()*float64(*pace)), int64(length.Seconds()*float64(*pace))
	total := early + counted
	sent := make([]time.Time, total)
	var wg sync.WaitGroup
	watch, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan map[string]time.Time, 1)
	go func() { seen <- s.watch(watch, int(total)) }()
	start := time.Now()
	for i := range total {
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(*pace))))
		s.next.Add(1)
		sent[i] = time.Now()
		wg.Go(func() {
			_, _ = s.submit(ctx, s.URL, first+i, "") // one that is refused is missing below
		})
	}
	wg.Wait()
	time.AfterFunc(10*time.Second, stop)
	found := <-seen
	var took []time.Duration
	for i := early; i < total; i++ {
		if then, ok := found[s.address(first+i)]; ok {
			took = append(took, then.Sub(sent[i]))
		}
	}
	name := fmt.Sprintf("submit to contact visible, %d/s", *pace)
	s.Note(name+", p50", world.Ms(world.Median(took)))
	s.AtMost(name+", p99", world.Ms(world.Quantile(.99, took)), world.Ms(250*time.Millisecond))
	s.AtMost(name+", refused or not visible", world.Plain(int(counted)-len(took)), world.Plain(0))
	return nil
}

// watch returns when each new contact could first be read, to ten milliseconds. It reads only rows of transactions that were
// still open at the read before, so that reading does not change the figure.
func (s *site) watch(ctx context.Context, total int) map[string]time.Time {
	seen := map[string]time.Time{}
	var from string
	if err := s.DB.QueryRow(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text`).Scan(&from); err != nil {
		return seen
	}
	for ctx.Err() == nil && len(seen) < total {
		rows, err := s.DB.Query(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text, coalesce(c.email, '')
			from (select) one left join contacts.contact c on c.changed >= $1::text::xid8`, from)
		if err != nil {
			return seen
		}
		now := time.Now()
		var email string
		_, err = pgx.ForEachRow(rows, []any{&from, &email}, func() error {
			if _, before := seen[email]; !before && strings.Contains(email, s.mark) {
				seen[email] = now
			}
			return nil
		})
		if err != nil {
			return seen
		}
		time.Sleep(10 * time.Millisecond)
	}
	return seen
}
