package runbook

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/caldavtest"
)

// watched is a calendar server behind a proxy that counts what is asked of it.
type watched struct {
	caldavtest.Server
	front string

	mu sync.Mutex
	// listed and written are how often each calendar was listed, and each event written.
	listed, written map[string]int
	// reading are the calendars that are read just now, and twice those that were read by two at once.
	reading map[string]int
	twice   []string
}

func watch(t *testing.T) *watched {
	w := &watched{Server: caldavtest.Radicale(t), listed: map[string]int{}, written: map[string]int{}, reading: map[string]int{}}
	behind, err := url.Parse(w.URL)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind); r.Out.Host = r.In.Host }, ModifyResponse: func(res *http.Response) error {
		switch {
		case res.Request.Method == "REPORT":
			w.reads(res.Request.URL.Path, -1, false) // before the answer arrives, after which the next request may come
		case res.Request.Method == http.MethodPut && res.StatusCode/100 == 2:
			w.mu.Lock()
			defer w.mu.Unlock()
			w.written[path.Base(res.Request.URL.Path)]++
		}
		return nil
	}}
	front := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == "REPORT" {
			raw, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body = io.NopCloser(strings.NewReader(string(raw)))
			w.reads(r.URL.Path, 1, strings.Contains(string(raw), "calendar-query"))
		}
		proxy.ServeHTTP(rw, r)
	}))
	t.Cleanup(front.Close)
	w.front = front.URL
	return w
}

// reads notes that a request about a calendar begins or ends.
func (w *watched) reads(calendar string, by int, lists bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.reading[calendar] += by; w.reading[calendar] > 1 {
		w.twice = append(w.twice, calendar)
	}
	if lists {
		w.listed[calendar]++
	}
}

// of is the address of a calendar behind the proxy.
func (w *watched) of(calendar string) string { return w.front + strings.TrimPrefix(calendar, w.URL) }

func TestTwoReplicasShareTheCalendarsOfPeople(t *testing.T) {
	sys.Healthy(t)
	days := []int{1}
	zone, err := time.LoadLocation("Europe/Brussels") // the business's, unless it is set
	require.NoError(t, err)
	began := time.Now().In(zone).YearDay()
	d, w := sys.SetUp(t), watch(t)
	person, calendars := sys.SignIn(t), fmt.Sprintf("/staff/%d/calendars", d.User)
	add := func(calendar string, writes bool) string {
		return person.Post(t, calendars, map[string]any{"kind": "caldav", "name": path.Base(calendar), "url": w.front, "username": w.Username, "password": caldavtest.Password,
			"calendar": w.of(calendar), "writes": writes}).Is(201).Text("id")
	}
	const others, booked = 6, 8
	ids := []string{add(w.Calendar, true)}
	for i := range others {
		calendar := fmt.Sprintf("%sother%d/", w.Home, i)
		w.Make(t, calendar, "VEVENT")
		ids = append(ids, add(calendar, false))
	}
	contact := person.Post(t, "/contacts", map[string]any{"first_name": "Ada", "email": system.Address("ada")}).Is(201).Text("id")
	starts, _ := d.Slots(t)
	var appointments []string
	for n := range booked {
		system.Eventually(t, func() bool {
			a := d.Admin.Call(t, "POST", "/appointments", map[string]any{"contact": contact, "service": d.Service, "starts_at": starts[2*n]})
			if a.Status == 404 {
				return false // the contact is on its way
			}
			appointments = append(appointments, a.Is(201).Text("id"))
			return true
		}, "booking does not know the contact")
	}
	times := func(n int) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, id := range appointments {
			if w.written[id+"@frontdesk.ics"] < n {
				return false
			}
		}
		return true
	}
	system.Eventually(t, func() bool { return times(1) }, "an appointment is not in the calendar")
	for n, id := range appointments {
		d.Admin.Post(t, "/appointments/"+id+"/reschedule", map[string]any{"starts_at": starts[2*n+1]}).Is(200)
	}
	system.Eventually(t, func() bool { return times(2) }, "an appointment was not moved in the calendar")
	system.Eventually(t, func() bool {
		read := 0
		for _, c := range person.Get(t, calendars).Is(200).Items() {
			if c["state"] == "ok" {
				read++
			}
		}
		return read == len(ids)
	}, "a calendar was not read")

	func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if time.Now().In(zone).YearDay() != began {
			days = append(days, 2)
		}
		require.Empty(t, w.twice, "no calendar is read by both at once")
		require.Len(t, w.listed, len(ids))
		for calendar, n := range w.listed {
			require.Contains(t, days, n, "%s is read anew once a day", calendar)
		}
		require.Len(t, w.written, booked)
		for event, n := range w.written {
			require.Equal(t, 2, n, "%s is written when it is booked and when it is moved", event)
		}
	}()
	files := w.Files(t)
	require.Len(t, files, booked, "no event is missing, and none is there twice")
	for _, id := range ids {
		person.Call(t, "DELETE", calendars+"/"+id, nil).Is(204)
	}
	conn, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.Background()) }()
	system.Eventually(t, func() bool {
		var left int
		require.NoError(t, conn.QueryRow(t.Context(), `select count(*) from booking.outgoing_account`).Scan(&left))
		return left == 0
	}, "what was written stays in the calendar")
	require.Empty(t, w.Files(t))
}
