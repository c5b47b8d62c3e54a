package main

import (
	"bytes"
	"context"
	"encoding/json"
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
	"github.com/jackc/pgx/v5/pgxpool"
)

// site is a published form, and visitors who send it.
type site struct {
	run
	db     *pgxpool.Pool
	client *http.Client
	key    string
	form   string
	token  string
	// mark is in every address of this run.
	mark string
	// pace is submissions a second where that is given.
	pace int
	next atomic.Int64
	// killing is held until a process that was killed is back.
	killing sync.Mutex
}

func newSite(r run, db *pgxpool.Pool, pace int) (*site, error) {
	s := &site{run: r, db: db, pace: pace, mark: uuid.NewString()[:8],
		client: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	body, _ := json.Marshal(map[string]string{"login": r.Admin.Login, "password": r.Admin.Password})
	res, err := s.client.Post(r.Gateway+"/v1/auth/login", "application/json", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("sign in: %s", res.Status)
	}
	var key struct{ Password string }
	if err := s.call("POST", "/me/application-passwords", `{"name":"bench"}`, &key, res.Cookies()...); err != nil {
		return nil, err
	}
	s.key = key.Password
	var form struct{ ID int64 }
	err = s.call("POST", "/forms", `{"name":"Bench","status":"publish","definition":{"elements":[
		{"id":"first","type":"field","target":"contact.first_name"},
		{"id":"last","type":"field","target":"contact.last_name"},
		{"id":"email","type":"field","target":"contact.email","required":true},
		{"id":"message","type":"field","target":"submission.fields.message"}]}}`, &form)
	if err != nil {
		return nil, err
	}
	s.form = fmt.Sprint(form.ID)
	var token struct{ Token string }
	if err := s.call("GET", "/forms/"+s.form+"/token", "", &token); err != nil {
		return nil, err
	}
	s.token = token.Token
	time.Sleep(3200 * time.Millisecond) // a token is not valid before
	return s, nil
}

// call is one of the administrator's.
func (s *site) call(method, path, body string, out any, cookies ...*http.Cookie) error {
	req, err := http.NewRequest(method, s.Gateway+"/v1"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.key != "" {
		req.SetBasicAuth(s.Admin.Login, s.key)
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		text, _ := io.ReadAll(res.Body)
		return fmt.Errorf("%s %s: %s %s", method, path, res.Status, text)
	}
	return json.NewDecoder(res.Body).Decode(out)
}

const message = "Good morning, we would like to know what you can do for us in spring, and what it would cost."

func (s *site) address(n int64) string { return fmt.Sprintf("v%07d.%s@example.com", n, s.mark) }

// submit sends the form as visitor n to a base address; key may be empty. status is 0 when there was no answer.
func (s *site) submit(ctx context.Context, base string, n int64, key string) (status int, err error) {
	body, _ := json.Marshal(map[string]any{"token": s.token, "hp_url": "", "page": "https://example.com/contact",
		"values": map[string]string{"first": "Grace", "last": "Hopper", "email": s.address(n), "message": message}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/v1/forms/"+s.form+"/submit", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	if key != "" {
		req.Header.Set("Idempotency-Key", key)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	_ = res.Body.Close()
	return res.StatusCode, err
}

const clients = 16

// rates compares how many submissions the service takes a second with how many bare transactions the database
// does, both from the same number of clients: while the other services stand still, since they share
// the machine here, and while they take in what the submissions bring about.
func (s *site) rates(ctx context.Context, b *bare, length time.Duration, rounds int) error {
	var limit, alone, together []float64
	for range rounds {
		tps, err := b.rate(ctx, clients, length)
		if err != nil {
			return err
		}
		limit = append(limit, tps)
		for _, to := range []*[]float64{&alone, &together} {
			if to == &alone {
				s.signal(syscall.SIGSTOP)
			}
			rate, err := s.load(ctx, s.Processes["forms"].URL, length)
			s.signal(syscall.SIGCONT)
			if err != nil {
				return err
			}
			*to = append(*to, rate)
			if err := s.drained(ctx); err != nil {
				return err
			}
		}
	}
	fmt.Printf("bare transactions            %8.0f /s\n", at(.5, limit))
	fmt.Printf("submissions, forms alone     %8.0f /s, / bare %.2f  (at least 0.40)\n", at(.5, alone), at(.5, alone)/at(.5, limit))
	fmt.Printf("submissions, all at work     %8.0f /s, / bare %.2f\n", at(.5, together), at(.5, together)/at(.5, limit))
	return nil
}

// signal stops the other services, or lets them go on.
func (s *site) signal(sig syscall.Signal) {
	for _, name := range []string{"contacts", "booking", "settings", "webhooks"} {
		_ = syscall.Kill(s.Processes[name].PID, sig)
	}
}

func (s *site) load(ctx context.Context, base string, length time.Duration) (float64, error) {
	var done atomic.Int64
	var wrong atomic.Pointer[error]
	start := time.Now()
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for time.Since(start) < length {
				status, err := s.submit(ctx, base, s.next.Add(1), "")
				if err == nil && status != http.StatusOK {
					err = fmt.Errorf("submit: %d (run with SVC_RATE_FACTOR=0)", status)
				}
				if err != nil {
					wrong.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	if err := wrong.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}

// drained waits until every submission so far has its result, so that nothing of one measurement is left for
// the next.
func (s *site) drained(ctx context.Context) error {
	for until := time.Now().Add(5 * time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		var pending bool
		err := s.db.QueryRow(ctx, `select exists (select from forms.submission where form_id = $1 and result = 'pending')
			or exists (select from forms.outbox) or exists (select from contacts.outbox)`, s.form).Scan(&pending)
		if err != nil || !pending {
			return err
		}
	}
	return fmt.Errorf("submissions are still pending")
}

// times compares one client through the gateway with the bare transaction plus what the gateway adds.
func (s *site) times(ctx context.Context, b *bare, length time.Duration) error {
	bareTime, err := b.time(ctx, length)
	if err != nil {
		return err
	}
	one := func(f func() (int, error)) (time.Duration, error) {
		var took []time.Duration
		for start := time.Now(); time.Since(start) < length; {
			before := time.Now()
			status, err := f()
			if err != nil || status != http.StatusOK {
				return 0, fmt.Errorf("%d %w", status, err)
			}
			took = append(took, time.Since(before))
			time.Sleep(5 * time.Millisecond)
		}
		return at(.5, took), nil
	}
	get := func(base string) func() (int, error) {
		return func() (int, error) {
			res, err := s.client.Get(base + "/v1/forms/" + s.form + "/token")
			if err != nil {
				return 0, err
			}
			_, err = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
			return res.StatusCode, err
		}
	}
	direct, err := one(get(s.Processes["forms"].URL))
	if err != nil {
		return err
	}
	through, err := one(get(s.Gateway))
	if err != nil {
		return err
	}
	submit := func() (int, error) { return s.submit(ctx, s.Gateway, s.next.Add(1), "") }
	together, err := one(submit)
	if err != nil {
		return err
	}
	if err := s.drained(ctx); err != nil {
		return err
	}
	s.signal(syscall.SIGSTOP)
	alone, err := one(submit)
	s.signal(syscall.SIGCONT)
	if err != nil {
		return err
	}
	limit := 2*bareTime + through - direct
	fmt.Printf("bare transaction             %s\ngateway adds p50             %s\n", ms(bareTime), ms(through-direct))
	fmt.Printf("submission p50, forms alone  %s  (at most %s)\nsubmission p50, all at work  %s\n", ms(alone), ms(limit), ms(together))
	return s.drained(ctx)
}

// warmUp is how long submissions are sent before they count: connections, plans and caches of a system that has just
// started are made by then.
const warmUp = 3 * time.Second

// visible sends so many a second as the pace says and looks for the contact of each.
func (s *site) visible(ctx context.Context, length time.Duration) error {
	first := s.next.Load() + 1
	early, counted := int64(warmUp.Seconds()*float64(s.pace)), int64(length.Seconds()*float64(s.pace))
	total := early + counted
	sent := make([]time.Time, total)
	var failed atomic.Int64
	var wg sync.WaitGroup
	watch, stop := context.WithCancel(ctx)
	defer stop()
	seen := make(chan map[string]time.Time, 1)
	go func() { seen <- s.watch(watch, int(total)) }()
	start := time.Now()
	for i := range total {
		time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(s.pace))))
		s.next.Add(1)
		sent[i] = time.Now()
		wg.Go(func() {
			if status, err := s.submit(ctx, s.Gateway, first+i, ""); err != nil || status != http.StatusOK {
				failed.Add(1)
			}
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
	fmt.Printf("submit to contact visible at %d/s: p50 %s, p99 %s  (at most 250 ms); %d of %d there, %d refused\n",
		s.pace, ms(at(.5, took)), ms(at(.99, took)), len(took), counted, failed.Load())
	return nil
}

// watch tells when each new contact could be read first, to ten milliseconds. It asks for what was written by
// transactions that the look before did not see the end of: watching must not become what is measured.
func (s *site) watch(ctx context.Context, total int) map[string]time.Time {
	seen := map[string]time.Time{}
	var from string
	if err := s.db.QueryRow(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text`).Scan(&from); err != nil {
		return seen
	}
	for ctx.Err() == nil && len(seen) < total {
		rows, err := s.db.Query(ctx, `select pg_snapshot_xmin(pg_current_snapshot())::text, coalesce(c.email, '')
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
