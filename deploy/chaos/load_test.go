package chaos

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// load is a number of writers that create contacts, edit them, book, submit and read, from every service, each call with an
// Idempotency-Key of its own, through the gateway. A call that is not acknowledged is repeated under the same key until it is.
type load struct {
	w     *world
	mark  string // in every address
	about string // for the table

	stop    context.CancelFunc
	running sync.WaitGroup
	days    []time.Time
	tokens  [2]string // of the booking page and of the form

	mu       sync.Mutex
	tries    []try
	contacts map[string]contact // by id
	booked   map[string]string  // address by id of the appointment
	sent     []string           // addresses of submissions
	refused  []string           // what no repetition can change, and what was never acknowledged
}

// contact is one as its last acknowledged change left it.
type contact struct {
	email, last string
	version     int64
}

// try is one call as its caller saw it.
type try struct {
	service string
	at      time.Time
	took    time.Duration
	failed  string // empty when it was answered as it has to be
}

// patience is how long a writer repeats a call that is not acknowledged.
const patience = 3 * time.Minute

// Load starts writers, each with so many calls a second at most, until Stop.
func (w *world) Load(t *testing.T, writers int, perSecond float64) *load {
	t.Helper()
	_, booking := w.Slots(t)
	l := &load{w: w, mark: uuid.NewString()[:8], about: fmt.Sprintf("%d writers, %g/s each", writers, perSecond), days: openDays(t),
		tokens: [2]string{booking, w.FormToken(t)}, contacts: map[string]contact{}, booked: map[string]string{}}
	system.Wait()
	ctx, stop := context.WithCancel(t.Context())
	l.stop = stop
	t.Cleanup(func() { stop(); l.running.Wait() })
	// Each service has callers of its own, so that none waits for another service.
	calls := context.WithoutCancel(ctx)
	pace := func(share float64) time.Duration { return time.Duration(float64(time.Second) / (perSecond * share)) }
	for range writers {
		var mine string
		l.running.Go(func() {
			l.repeat(ctx, pace(3./5), func() { mine = l.create(calls) }, func() { l.edit(calls, mine) }, func() { l.read(calls, mine) })
		})
		l.running.Go(func() { l.repeat(ctx, pace(1./5), func() { l.book(calls) }) })
		l.running.Go(func() { l.repeat(ctx, pace(1./5), func() { l.submit(calls) }) })
		for service, path := range map[string]string{"settings": "/me", "webhooks": "/webhooks"} {
			l.running.Go(func() {
				l.repeat(ctx, pace(1./5), func() { l.call(calls, service, w.Admin, http.MethodGet, path, nil, http.StatusOK) })
			})
		}
	}
	return l
}

// opens and closes are the hours of the business. Clocks are changed before it opens.
const opens, closes = 4, 24

// openDays are days of the next year on which the business is open.
func openDays(t *testing.T) (days []time.Time) {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Brussels")
	require.NoError(t, err)
	y, m, d := time.Now().In(zone).Date()
	for n := 2; n < 360; n++ {
		days = append(days, time.Date(y, m, d+n, opens, 0, 0, 0, zone))
	}
	return days
}

// Stop ends the load once every call is acknowledged, and requires that each was.
func (l *load) Stop(t *testing.T) {
	t.Helper()
	l.stop()
	l.running.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	require.Empty(t, l.refused)
	require.NotEmpty(t, l.contacts, "the load wrote nothing")
	require.NotEmpty(t, l.booked, "the load booked nothing")
	require.NotEmpty(t, l.sent, "the load submitted nothing")
}

// repeat makes the calls in turn until ctx ends. It waits for the one under way.
func (l *load) repeat(ctx context.Context, every time.Duration, calls ...func()) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		calls[n%len(calls)]()
	}
}

func (l *load) address() string {
	return fmt.Sprintf("p%s.%s@example.com", uuid.NewString()[:13], l.mark)
}

func (l *load) create(ctx context.Context) string {
	email := l.address()
	a := l.call(ctx, "contacts", l.w.Admin, http.MethodPost, "/contacts", map[string]any{"first_name": "Ada", "last_name": "New", "email": email}, http.StatusCreated)
	if a == nil {
		return ""
	}
	id, _ := a.Value("id").(string)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.contacts[id] = contact{email, "New", 1}
	return id
}

func (l *load) edit(ctx context.Context, id string) {
	if id == "" {
		return
	}
	last := "Edit " + uuid.NewString()[:8]
	if l.call(ctx, "contacts", l.w.Admin, http.MethodPatch, "/contacts/"+id, map[string]any{"mode": "overwrite", "last_name": last}, http.StatusOK) == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	c := l.contacts[id]
	l.contacts[id] = contact{c.email, last, c.version + 1}
}

func (l *load) book(ctx context.Context) {
	n := int(l.w.slot.Add(1)) - 1
	const perDay = 2 * (closes - opens)
	starts := l.days[n/perDay%len(l.days)].Add(time.Duration(n%perDay) * 30 * time.Minute)
	email := l.address()
	a := l.call(ctx, "booking", l.w.System.Visitor(), http.MethodPost, "/booking/book", l.w.Booking(starts.Format(time.RFC3339), l.tokens[0], email), http.StatusCreated)
	if a == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.booked[email] = starts.UTC().Format(time.RFC3339)
}

func (l *load) submit(ctx context.Context) {
	email := l.address()
	if l.call(ctx, "forms", l.w.System.Visitor(), http.MethodPost, "/forms/"+l.w.Form+"/submit", l.w.Submission(l.tokens[1], email), http.StatusOK) == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, email)
}

// read requires that a contact is as its last acknowledged change left it.
func (l *load) read(ctx context.Context, id string) {
	if id == "" {
		return
	}
	a := l.call(ctx, "contacts", l.w.Admin, http.MethodGet, "/contacts/"+id, nil, http.StatusOK)
	if a == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if want := l.contacts[id].last; a.Value("last_name") != want {
		l.refused = append(l.refused, fmt.Sprintf("contact %s was read as %v after %q was acknowledged", id, a.Value("last_name"), want))
	}
}

// call repeats a call until it is answered with the status, and gives the answer; nil when that never happens.
func (l *load) call(ctx context.Context, service string, c system.Client, method, path string, body any, status int) *system.Answer {
	c = c.With("Idempotency-Key", uuid.NewString())
	for until := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		began := time.Now()
		a, err := c.Try(ctx, method, path, body)
		t := try{service: service, at: began, took: time.Since(began)}
		switch {
		case err != nil:
			t.failed = err.Error()
		case a.Status != status:
			t.failed = fmt.Sprint(a.Status, " ", a.Body)
		}
		final := t.failed != "" && (time.Now().After(until) || err == nil && (a.Status < 500 && a.Status != http.StatusTooManyRequests || a.Status == 500))
		l.mu.Lock()
		l.tries = append(l.tries, t)
		if final {
			l.refused = append(l.refused, fmt.Sprintf("%s %s: %s", method, path, t.failed))
		}
		l.mu.Unlock()
		if t.failed == "" {
			return a
		}
		if final {
			return nil
		}
	}
}

// Failed are the calls between two times that were not answered as they have to be.
func (l *load) Failed(from, to time.Time) (failed []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tries {
		if t.failed != "" && !t.at.Before(from) && t.at.Before(to) {
			failed = append(failed, t.at.Format("15:04:05.000 ")+t.service+": "+t.failed)
		}
	}
	return failed
}

// Acknowledged is how many changes were acknowledged so far.
func (l *load) Acknowledged() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.contacts) + len(l.booked) + len(l.sent)
	for _, c := range l.contacts {
		n += int(c.version) - 1
	}
	return n
}

// P99 is the duration that 99 of 100 calls to services other than one, begun between two times, stayed below.
func (l *load) P99(but string, from, to time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []time.Duration
	for _, t := range l.tries {
		if t.service != but && !t.at.Before(from) && t.at.Before(to) {
			all = append(all, t.took)
		}
	}
	if len(all) == 0 {
		return 0
	}
	slices.SortFunc(all, cmp.Compare)
	return all[len(all)*99/100]
}

// Answered is how many calls between two times were answered as they have to be.
func (l *load) Answered(from, to time.Time) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range l.tries {
		if t.failed == "" && !t.at.Before(from) && t.at.Before(to) {
			n++
		}
	}
	return n
}
