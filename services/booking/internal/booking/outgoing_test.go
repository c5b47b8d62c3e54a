package booking

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/caldavtest"
)

// writesTo connects a calendar of a server into which appointments are written.
func (o *office) writesTo(user int64, s caldavtest.Server) string {
	o.t.Helper()
	return o.connect(user, s.URL, account(s, object{"calendar": s.Calendar, "writes": true}))
}

// written is what the calendar has, without line breaks inside of lines, once all is written that waits.
func (o *office) written(s caldavtest.Server) (files []string) {
	o.t.Helper()
	o.drained()
	for _, at := range s.Files(o.t) {
		files = append(files, strings.ReplaceAll(s.Get(o.t, at), "\r\n ", ""))
	}
	return files
}

// drained lets the queue run until nothing waits, as if the time of waiting were over.
func (o *office) drained() {
	o.t.Helper()
	o.Eventually(func() bool {
		o.exec(`update outgoing set due_at = clock_timestamp() where queued_at is not null`)
		o.work("outgoing")
		return o.gauge("booking.outgoing_events") == 0
	})
}

const utc = "20060102T150405Z"

func TestAnAppointmentIsAnEventInTheCalendarOfItsPerson(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		o := open9to5(t, nil, localCalendars, unlimited)
		contact := o.contact(0)
		before := o.book(contact, o.at(2, "09:00")).Is(201).Text("id")
		o.book(contact, o.at(4, "09:00"), object{"status": "pending"}).Is(201)
		past := o.book(contact, o.at(-3, "10:00"), object{"outside_hours": true}).Is(201).Text("id")
		calendar := o.writesTo(o.staff.UserID, s)
		files := o.written(s)
		require.Len(t, files, 1, "what is coming and certain")
		require.Contains(t, files[0], "UID:"+before+"@frontdesk")
		for _, part := range []string{"ATTENDEE", "ORGANIZER", "METHOD", past} {
			require.NotContains(t, files[0], part)
		}
		require.Contains(t, files[0], "Intake – ")

		start := o.at(3, "10:00")
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), start, "bea@example.com")).Is(201)
		require.EqualValues(t, 1, o.gauge("booking.outgoing_events"))
		require.Len(t, o.written(s), 2)
		id := o.admin.Get("/appointments?search=Bea").Is(200).Items()[0]["id"].(string)
		file := s.Calendar + id + "%40frontdesk.ics"
		require.Contains(t, s.Get(t, file), "DTSTART:"+start.UTC().Format(utc))
		o.synced(o.staff.UserID, calendar)
		require.NotContains(t, o.starts(3), "10:00")
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(3, "11:00"))}).Is(200)
		require.Contains(t, o.starts(3), "10:00", "our own event takes no time of its own")
		require.Len(t, o.written(s), 2)
		require.Contains(t, s.Get(t, file), "DTSTART:"+o.at(3, "11:00").UTC().Format(utc))

		// Its person edits it, and then deletes it: nothing becomes of the appointment, and the next change puts it back.
		s.Put(t, file, strings.ReplaceAll(s.Get(t, file), "Intake", "Mine"))
		o.synced(o.staff.UserID, calendar)
		require.Contains(t, o.starts(3), "10:00")
		o.admin.Post("/appointments/"+id+"/place", object{"location": "Room 4"}).Is(200)
		require.Len(t, o.written(s), 2)
		require.Contains(t, s.Get(t, file), "SUMMARY:Intake")
		require.Empty(t, o.synced(o.staff.UserID, calendar).Field("deleted_appointments"))
		s.Delete(t, file)
		require.Equal(t, []any{map[string]any{"id": id, "starts_at": stamp(o.at(3, "11:00"))}}, o.synced(o.staff.UserID, calendar).Field("deleted_appointments"))
		require.Equal(t, "confirmed", o.appointment(id).Text("status"))
		o.admin.Post("/appointments/"+id+"/place", object{"location": "Room 5"}).Is(200)
		require.Len(t, o.written(s), 2)
		require.Contains(t, s.Get(t, file), "LOCATION:Room 5")
		require.Empty(t, o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Items()[0]["deleted_appointments"])

		o.admin.Post("/appointments/"+id+"/cancel", object{}).Is(200)
		require.Len(t, o.written(s), 1)
		o.forget([]string{contact})
		require.Empty(t, o.written(s), "an erased client is gone there too")
		require.NotContains(t, o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Body, caldavtest.Password)
	})
}

func TestEventsGoWhereTheAppointmentsGoAndEndWithTheCalendar(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		o := open9to5(t, nil, localCalendars, unlimited)
		heir := o.As("staff")
		o.admin.Put(path("/staff/%d/hours", heir.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
		other := s
		other.Calendar = s.Home + "other/"
		s.Make(t, other.Calendar, "VEVENT")
		contact := o.contact(0)
		o.book(contact, o.at(2, "09:00"), object{"staff": o.staff.UserID}).Is(201)
		past := o.book(contact, o.at(-3, "10:00"), object{"outside_hours": true, "staff": o.staff.UserID}).Is(201).Text("id")
		first := o.writesTo(o.staff.UserID, s)
		second := o.writesTo(o.staff.UserID, other)
		require.Len(t, o.written(s), 1)
		require.Empty(t, o.written(other), "the first one counts")
		// What has taken place stays.
		o.exec(`insert into outgoing (appointment_id, account_id, collection) values ($1, $2, $3)`, past, first, s.Calendar)
		require.Len(t, o.written(s), 2)
		at, person := path("/staff/%d/calendars/", o.staff.UserID), o.AsSession("site_admin")
		person.Patch(at+first, object{"writes": false}).Is(200)
		require.Len(t, o.written(s), 1)
		require.Len(t, o.written(other), 1)
		person.Patch(at+first, object{"writes": true}).Is(200)
		require.Len(t, o.written(s), 2)
		require.Empty(t, o.written(other))
		o.admin.Delete(at+first, nil).Is(204)
		require.Len(t, o.written(s), 1)
		require.Len(t, o.written(other), 1)

		// The heir has appointments in the same calendar of the server.
		o.writesTo(heir.UserID, other)
		o.book(contact, o.at(2, "11:00"), object{"staff": o.staff.UserID}).Is(201)
		require.Len(t, o.written(other), 2)
		o.admin.Delete(path("/staff/%d?successor=%d", o.staff.UserID, heir.UserID), nil).Is(200)
		require.Len(t, o.written(other), 2)
		var accounts int
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from outgoing_account where id = any($1)`, []string{first, second}).Scan(&accounts))
		require.Zero(t, accounts, "nothing is kept of an account that is not written to")
	})
}

// A writer that is stopped before or after its request, at each of its steps, is one whose connection ends then.
func TestAWriterThatIsStoppedAtAnyStepLeavesEachEventOnce(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		behind, err := url.Parse(s.URL)
		require.NoError(t, err)
		var left atomic.Int32
		var after atomic.Bool
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if left.Add(-1) != 0 {
				proxy.ServeHTTP(w, r)
				return
			}
			if after.Load() {
				proxy.ServeHTTP(httptest.NewRecorder(), r)
			}
			panic(http.ErrAbortHandler)
		}))
		t.Cleanup(front.Close)
		o := open9to5(t, nil, localCalendars, unlimited)
		through := s
		through.URL, through.Calendar = front.URL, front.URL+strings.TrimPrefix(s.Calendar, s.URL)
		o.writesTo(o.staff.UserID, through)
		contact := o.contact(0)
		// stopped does something and stops the writer at its nth request, and lets the queue run.
		stopped := func(n int, afterwards bool, does func()) {
			does()
			left.Store(int32(n))
			after.Store(afterwards)
			o.work("outgoing")
			left.Store(0)
			o.exec(`update outgoing_account set holder = null, held_until = null`)
		}
		for _, afterwards := range []bool{false, true} {
			for n := 1; n <= 3; n++ {
				var id string
				stopped(n, afterwards, func() { id = o.book(contact, o.at(1+n, "09:00")).Is(201).Text("id") })
				require.Len(t, o.written(s), 1, "booked, stopped at %d", n)
				stopped(n, afterwards, func() {
					o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(1+n, "11:00"))}).Is(200)
				})
				files := o.written(s)
				require.Len(t, files, 1, "moved, stopped at %d", n)
				require.Contains(t, files[0], "DTSTART:"+o.at(1+n, "11:00").UTC().Format(utc))
				stopped(n, afterwards, func() { o.admin.Post("/appointments/"+id+"/cancel", object{}).Is(200) })
				require.Empty(t, o.written(s), "cancelled, stopped at %d", n)
			}
		}
		// Booked and cancelled before anybody wrote it, and written by a writer that was taken for dead.
		id := o.book(contact, o.at(2, "09:00")).Is(201).Text("id")
		stopped(2, true, func() {})
		o.admin.Post("/appointments/"+id+"/cancel", object{}).Is(200)
		require.Empty(t, o.written(s))
	})
}

// Two replicas are two writers. One that was taken for dead goes on when the other has written.
func TestTwoWritersPutNoEventTwice(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		behind, err := url.Parse(s.URL)
		require.NoError(t, err)
		var held atomic.Bool
		var mu sync.Mutex
		made := map[string]int{}
		began, goOn := make(chan struct{}), make(chan struct{})
		proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }, ModifyResponse: func(res *http.Response) error {
			if res.Request.Method == http.MethodPut && res.StatusCode < 300 {
				mu.Lock()
				defer mu.Unlock()
				made[res.Request.URL.Path]++
			}
			return nil
		}}
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPut && held.CompareAndSwap(false, true) {
				close(began)
				<-goOn
			}
			proxy.ServeHTTP(w, r)
		}))
		t.Cleanup(front.Close)
		release := sync.OnceFunc(func() { close(goOn) })
		t.Cleanup(release)
		o := open9to5(t, nil, localCalendars, unlimited)
		through := s
		through.URL, through.Calendar = front.URL, front.URL+strings.TrimPrefix(s.Calendar, s.URL)
		o.writesTo(o.staff.UserID, through)
		contact := o.contact(0)
		for _, at := range []string{"09:00", "11:00"} {
			o.book(contact, o.at(2, at)).Is(201)
		}
		dead := make(chan struct{})
		go func() { // its first request waits, unless the service's own writer was faster
			defer close(dead)
			o.work("outgoing")
		}()
		<-began
		o.exec(`update outgoing_account set held_until = clock_timestamp() - interval '1 second'`)
		o.Eventually(func() bool { // the service's own writers may be the ones
			o.work("outgoing")
			return len(s.Files(t)) == 2
		})
		release()
		<-dead
		require.Len(t, o.written(s), 2)
		mu.Lock()
		defer mu.Unlock()
		require.Len(t, made, 2)
		for at, times := range made {
			require.Equal(t, 1, times, at)
		}
	})
}

// After a restore the service knows older versions of events than stand in the calendar, and of some that they wait though they stand there.
func TestAfterARestoreEachEventStandsOnceAsItsAppointmentIs(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		o := open9to5(t, nil, localCalendars, unlimited)
		o.writesTo(o.staff.UserID, s)
		contact := o.contact(0)
		moved := o.book(contact, o.at(2, "09:00")).Is(201).Text("id")
		require.Len(t, o.written(s), 1)
		o.exec(`create table backup as select * from outgoing`)
		o.admin.Post("/appointments/"+moved+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00"))}).Is(200)
		waiting := o.book(contact, o.at(3, "09:00")).Is(201).Text("id")
		o.exec(`insert into backup select * from outgoing where appointment_id = $1`, waiting)
		require.Len(t, o.written(s), 2)
		o.exec(`update appointment set starts_at = starts_at - interval '2 hours', ends_at = ends_at - interval '2 hours' where id = $1`, moved)
		o.exec(`delete from outgoing`)
		o.exec(`insert into outgoing select * from backup`)
		_, err := o.Parts.Restored(t.Context())
		require.NoError(t, err)
		files := o.written(s)
		require.Len(t, files, 2)
		require.Contains(t, strings.Join(files, ""), "DTSTART:"+o.at(2, "09:00").UTC().Format(utc))
		require.Contains(t, strings.Join(files, ""), "DTSTART:"+o.at(3, "09:00").UTC().Format(utc))
	})
}

func TestWhatCannotBeWrittenWaits(t *testing.T) {
	t.Parallel()
	s := caldavtest.Radicale(t)
	o := open9to5(t, nil, localCalendars, unlimited)
	calendar := o.connect(o.staff.UserID, s.URL, account(s, object{"calendar": s.Calendar, "writes": true, "password": "another"}))
	o.book(o.contact(0), o.at(2, "09:00")).Is(201)
	o.work("outgoing")
	require.EqualValues(t, 1, o.gauge("booking.outgoing_events"))
	require.Empty(t, s.Files(t))
	o.work("outgoing") // it is not due
	var tries int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select tries from outgoing`).Scan(&tries))
	require.Equal(t, 1, tries)
	// A password that is set again is tried at once.
	o.admin.Patch(path("/staff/%d/calendars/%s", o.staff.UserID, calendar), object{"password": caldavtest.Password}).Is(200)
	o.work("outgoing")
	require.Len(t, s.Files(t), 1)
	require.Zero(t, o.gauge("booking.outgoing_events"))
}
