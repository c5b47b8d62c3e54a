package chaos

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/until"
)

// reportCounts adds a row for effects that have to be there once each, and requires that they are.
func reportCounts(t *testing.T, fault, load string, took time.Duration, counts map[string]int) {
	t.Helper()
	f := &findings{}
	for what, n := range counts {
		f.once("effect", what, n)
	}
	row(fault, load, len(f.lost), len(f.doubled), took.Round(100*time.Millisecond).String())
	require.Equal(t, &findings{}, f)
}

// The holder of a job's lease stops in the middle of a transaction. Another replica takes the job over, and does all that is left.
func TestTheHolderOfAJobsLeaseIsFrozen(t *testing.T) {
	w := start(t)
	w.Admin.Call(t, "PATCH", "/settings/booking", map[string]any{"reminder_enabled": false, "reminder_hours": 168}).Is(200)
	starts, token := w.Slots(t)
	system.Wait()
	clients := map[string]int{}
	require.Greater(t, len(starts), 24)
	for _, at := range starts[4:24] { // the first ones may begin before the reminders go out
		email := system.Address("reminded")
		w.System.Visitor().Post(t, "/booking/book", w.Booking(at, token, email)).Is(201)
		clients[email] = 0
	}
	w.Settled(t)
	reminded := func() int {
		return w.number(t, `select count(*) from booking.appointment where reminded_at is not null`)
	}
	require.Zero(t, reminded(), "they were booked too late for a reminder")

	_, err := w.DB.Exec(t.Context(), `update booking.appointment set timed_at = now() - interval '30 days'`)
	require.NoError(t, err)
	// The job waits for the lock of one in the middle.
	held, err := w.DB.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = held.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = held.Exec(t.Context(), `select from booking.appointment where id = (select id from booking.appointment order by starts_at, id offset 10 limit 1) for update`)
	require.NoError(t, err)
	w.Admin.Call(t, "PATCH", "/settings/booking", map[string]any{"reminder_enabled": true}).Is(200)
	thaw := w.frozenInAJob(t, reminded)
	require.NoError(t, held.Rollback(t.Context()))

	began := time.Now()
	w.Replica(t, "booking")
	until.Holds(t, func() bool { return reminded() == len(clients) }, time.Minute, 100*time.Millisecond)
	took := time.Since(began)
	thaw()
	time.Sleep(lasts(25*time.Second, 2*time.Second)) // the job is due again
	w.Settled(t)
	for email := range clients {
		clients[email] = w.Mails.count(email) - 1 // one is the confirmation
	}
	reportCounts(t, "booking frozen in the middle of its reminders", fmt.Sprint(len(clients), " reminders"), took, clients)
}

// frozenInAJob freezes booking when it waits for a lock with some reminders sent, and not all.
func (w *world) frozenInAJob(t *testing.T, reminded func() int) (thaw func()) {
	t.Helper()
	until.Holds(t, func() bool {
		return reminded() > 0 && w.number(t, `select count(*) from pg_stat_activity where application_name = 'booking' and wait_event_type = 'Lock'`) > 0
	}, time.Minute, 20*time.Millisecond, "the job does not wait")
	return w.freeze(t, "booking")
}

// A mail that its frozen sender had begun is sent by another replica; one that the server has all of is not.
func TestTheSenderOfMailsIsFrozen(t *testing.T) {
	w := start(t)
	w.Settled(t)
	begun, whole := system.Address("begun"), system.Address("whole")
	reached, release := make(chan string, 2), make(chan struct{})
	w.Mails.meets(func(at stage, l letter) error {
		if at == addressed && l.To == begun || at == complete && l.To == whole {
			select {
			case reached <- l.To:
				<-release
			default: // the second time
			}
		}
		return nil
	})
	starts, token := w.Slots(t)
	system.Wait()
	book := func(slot int, email string) {
		t.Helper()
		w.System.Visitor().Post(t, "/booking/book", w.Booking(starts[slot], token, email)).Is(201)
	}
	book(0, begun)
	book(1, whole)
	both := []string{<-reached, <-reached}
	slices.Sort(both)
	require.Equal(t, []string{begun, whole}, both)
	status := func(email string) (s string) {
		t.Helper()
		require.NoError(t, w.DB.QueryRow(t.Context(), `select status from settings.mail where recipient = $1`, email).Scan(&s))
		return s
	}
	require.Equal(t, "sending", status(whole))

	thaw := w.freeze(t, "settings")
	close(release)
	w.Replica(t, "settings")
	began := time.Now()
	others := map[string]int{begun: 0, whole: 0}
	for slot := range 5 {
		email := system.Address("other")
		book(2+slot, email)
		others[email] = 0
	}
	if !*full { // the leases end in two minutes by themselves
		_, err := w.DB.Exec(t.Context(), `update settings.mail set leased_until = '-infinity' where status in ('queued', 'retrying', 'sending')`)
		require.NoError(t, err)
	}
	until.Holds(t, func() bool {
		for email := range others {
			if w.Mails.count(email) == 0 {
				return false
			}
		}
		return status(whole) == "unknown"
	}, 4*time.Minute, 200*time.Millisecond)
	took := time.Since(began)
	require.Equal(t, "sent", status(begun))
	thaw()
	until.Holds(t, func() bool { return status(whole) == "sent" || time.Since(began) > took+10*time.Second }, time.Minute, 200*time.Millisecond)
	w.Settled(t)
	for email := range others {
		others[email] = w.Mails.count(email)
	}
	require.Contains(t, []string{"sent", "unknown"}, status(whole))
	reportCounts(t, "settings frozen while it sends mails", fmt.Sprint(len(others), " mails"), took, others)
}
