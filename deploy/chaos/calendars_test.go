package chaos

import (
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"frontdesk/deploy/system"
	"frontdesk/libs/caldavtest"
	"frontdesk/libs/until"
)

// Appointments are booked, moved and cancelled while booking, which writes them into a calendar of another server, is killed again and again.
func TestBookingIsKilledWhileItWritesCalendars(t *testing.T) {
	w := start(t, "SVC_FETCH_ALLOW=127.0.0.1")
	server := caldavtest.Radicale(t)
	w.System.SignIn(t).Post(t, fmt.Sprintf("/staff/%d/calendars", w.User), map[string]any{"kind": "caldav", "name": "Own", "url": server.URL, "username": server.Username,
		"password": caldavtest.Password, "calendar": server.Calendar, "writes": true}).Is(201)
	contact := w.Admin.Post(t, "/contacts", map[string]any{"first_name": "Ada", "email": system.Address("written")}).Is(201).Text("id")
	starts, _ := w.Slots(t)
	// again calls until an answer comes: booking may be gone just then. What was done by a call without an answer is answered the same.
	again := func(to string, body map[string]any) (a *system.Answer) {
		caller := w.Admin.With("Idempotency-Key", uuid.NewString())
		until.Holds(t, func() bool {
			a = caller.Call(t, "POST", to, body)
			return a.Status < 500 && a.Status != http.StatusNotFound // the contact may be on its way
		}, time.Minute, 200*time.Millisecond, "no answer of booking")
		return a
	}
	ids := map[string]int{}
	kills := min(int(lasts(40, 6)), len(starts)/2)
	for n := range kills {
		id := again("/appointments", map[string]any{"contact": contact, "service": w.Service, "starts_at": starts[2*n]}).Is(http.StatusCreated).Text("id")
		ids[id] = 0
		w.System.Kill(t, "booking")
		switch n % 3 {
		case 1:
			again("/appointments/"+id+"/reschedule", map[string]any{"starts_at": starts[2*n+1]}).Is(200)
		case 2:
			again("/appointments/"+id+"/cancel", map[string]any{}).Is(200)
			delete(ids, id)
		}
		time.Sleep(time.Duration(n%7) * 300 * time.Millisecond)
	}
	began := time.Now()
	until.Holds(t, func() bool {
		return w.number(t, `select count(*) from booking.outgoing where queued_at is not null`) == 0
	}, 3*time.Minute, time.Second, "the queue does not drain")
	took := time.Since(began)
	counts := map[string]int{}
	for id := range ids {
		counts[id] = 0
	}
	for _, at := range server.Files(t) {
		id := strings.TrimSuffix(strings.ReplaceAll(path.Base(at), "%40", "@"), "@frontdesk.ics")
		counts[id]++
		if w.number(t, `select count(*) from booking.appointment where id::text = $1 and status = 'confirmed' and $2 like '%DTSTART:' || to_char(starts_at at time zone 'UTC', 'YYYYMMDD"T"HH24MISS"Z"') || '%'`,
			id, server.Get(t, at)) == 0 {
			counts[id]++ // as it was before
		}
	}
	reportCounts(t, "booking killed while it writes appointments into a calendar", fmt.Sprintf("%d kills, %d events", kills, len(ids)), took, counts)
}
