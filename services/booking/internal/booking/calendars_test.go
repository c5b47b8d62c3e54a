package booking

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// calendarServer is somebody else's server with one file, which answers as RFC 9110 says.
type calendarServer struct {
	*httptest.Server
	mu     sync.Mutex
	file   string
	serves http.HandlerFunc // in place of the file
	asked  []http.Header
}

func serveCalendar(t testing.TB, events ...string) *calendarServer {
	s := &calendarServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Header.Clone())
		file, serves := s.file, s.serves
		s.mu.Unlock()
		if serves != nil {
			serves(w, r)
			return
		}
		tag := fmt.Sprintf(`"%d-%d"`, len(file), strings.Count(file, "1"))
		w.Header().Set("ETag", tag)
		w.Header().Set("Content-Type", "text/calendar")
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, file)
	}))
	t.Cleanup(s.Close)
	s.has(events...)
	return s
}

func (s *calendarServer) has(events ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.file = "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n" + strings.Join(events, "") + "END:VCALENDAR\r\n"
}

func (s *calendarServer) answers(with http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.serves = with
}

func (s *calendarServer) headers() []http.Header {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// vevent is an event of some minutes, with more lines.
func vevent(uid string, start time.Time, minutes int, lines ...string) string {
	const form = "20060102T150405Z"
	return fmt.Sprintf("BEGIN:VEVENT\r\nUID:%s\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:%s\r\nDTEND:%s\r\nSUMMARY:Dentist, privately\r\n%sEND:VEVENT\r\n", uid,
		start.UTC().Format(form), start.Add(time.Duration(minutes)*time.Minute).UTC().Format(form), strings.Join(append(lines, ""), "\r\n"))
}

// localCalendars lets a service read calendars of this machine.
func localCalendars(c *app.Config) { c.WebhookLocal = true }

// connect connects a calendar and reads it.
func (o *office) connect(user int64, url string, more ...object) string {
	o.t.Helper()
	body := object{"kind": "ics", "name": "Mine", "url": url}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	id := o.admin.Post(path("/staff/%d/calendars", user), body).Is(201).Text("id")
	return id
}

// synced is a calendar that was read anew.
func (o *office) synced(user int64, id string) *apptest.Answer {
	o.t.Helper()
	var a *apptest.Answer
	o.Eventually(func() bool { // a worker may be reading it
		a = o.admin.Post(path("/staff/%d/calendars/%s/sync", user, id), nil)
		return a.Status != 202
	})
	return a.Is(200)
}

// starts are the free times of a day, on the clock of the business.
func (o *office) starts(day int, staff ...int64) (all []string) {
	o.t.Helper()
	at := o.at(day, "12:00").Format(time.DateOnly)
	for _, item := range o.Visitor().Get(path("/booking/slots?service=%s&from=%s&to=%[2]s", o.service, at)).Is(200).Items() {
		all = append(all, moment(o.t, item["starts_at"].(string)).In(o.Kit.Config.Zone).Format("15:04"))
	}
	return all
}

func TestAnEventOfSomebodysOwnCalendarTakesTheirTime(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars)
	server := serveCalendar(t, vevent("a@elsewhere", o.at(2, "10:00"), 90))
	id := o.connect(o.staff.UserID, server.URL+"/secret/basic.ics")
	shown := o.synced(o.staff.UserID, id)
	require.Equal(t, []any{"ok", "", 1.0, server.URL + "/…"}, []any{shown.Field("state"), shown.Field("last_error"), shown.Field("events"), shown.Field("url")})

	require.Equal(t, []string{"09:00", "11:30", "12:30", "13:30", "14:30", "15:30"}[:1], o.starts(2)[:1])
	require.NotContains(t, o.starts(2), "10:00")
	require.NotContains(t, o.starts(2), "11:00")
	require.Contains(t, o.starts(3), "10:00")
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "bea@example.com")).Fails(409, "svc_slot_taken")
	contact := o.contact(0)
	o.book(contact, o.at(2, "10:00")).Fails(409, "svc_slot_taken")
	booked := o.book(contact, o.at(3, "10:00")).Is(201).Text("id")
	move := path("/appointments/%s/reschedule", booked)
	o.admin.Post(move, object{"starts_at": stamp(o.at(2, "11:00"))}).Fails(409, "svc_slot_taken")
	o.admin.Post(move, object{"starts_at": stamp(o.at(2, "11:00")), "outside_hours": true}).Is(200)
	o.book(contact, o.at(2, "11:00"), object{"outside_hours": true}).Fails(409, "svc_slot_taken")

	// The event goes, and the time is free again.
	o.admin.Post("/appointments/"+booked+"/cancel", object{}).Is(200)
	server.has()
	require.EqualValues(t, 0, o.synced(o.staff.UserID, id).Field("events"))
	require.Contains(t, o.starts(2), "10:00")
	require.NotContains(t, o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Body, "secret")
}

func TestABusyTimeStandsInTheTeamsCalendarWithoutItsTitle(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars)
	contact := o.contact(0)
	over := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
	clear := o.book(contact, o.at(2, "14:00")).Is(201).Text("id")
	gone := o.book(contact, o.at(2, "11:00")).Is(201).Text("id")
	o.admin.Post("/appointments/"+gone+"/cancel", object{}).Is(200)
	server := serveCalendar(t, vevent("a", o.at(2, "10:30"), 30), vevent("b", o.at(2, "10:45"), 60), vevent("c", o.at(1, "20:00"), 24*60*3))
	o.synced(o.staff.UserID, o.connect(o.staff.UserID, serveCalendar(t, vevent("d", o.at(2, "08:00"), 30)).URL))
	id := o.connect(o.staff.UserID, server.URL)
	o.synced(o.staff.UserID, id)
	server.has(vevent("a", o.at(2, "10:30"), 30), vevent("b", o.at(2, "10:45"), 60))
	o.synced(o.staff.UserID, id)

	day := o.at(2, "12:00").Format(time.DateOnly)
	seen := func(as *apptest.Client) (busy []any, conflicts map[string]any) {
		answer := as.Get(path("/calendar?from=%s&to=%[1]s", day)).Is(200)
		require.NotContains(t, answer.Body, "Dentist")
		staff, _ := answer.Field("staff").([]any)
		for _, s := range staff {
			if m := s.(object); m["user_id"] == float64(o.staff.UserID) {
				busy, _ = m["busy"].([]any)
			} else {
				require.Empty(t, m["busy"])
			}
		}
		conflicts = map[string]any{}
		all, _ := answer.Field("appointments").([]any)
		for _, a := range all {
			conflicts[a.(object)["id"].(string)] = a.(object)["conflict"]
		}
		return busy, conflicts
	}
	spans := []any{object{"starts_at": stamp(o.at(2, "08:00")), "ends_at": stamp(o.at(2, "08:30"))}, object{"starts_at": stamp(o.at(2, "10:30")), "ends_at": stamp(o.at(2, "11:45"))}}
	for _, as := range []*apptest.Client{o.admin, o.staff, o.As("svc_admin")} {
		busy, conflicts := seen(as)
		require.Equal(t, spans, busy)
		require.Equal(t, map[string]any{over: true, clear: false}, conflicts)
	}
	list := o.admin.Get("/appointments?conflict=true").Is(200)
	require.EqualValues(t, 1, list.Field("total"))
	require.Equal(t, over, list.Items()[0]["id"])
	require.EqualValues(t, 3, o.admin.Get("/appointments").Is(200).Field("total"))
	o.admin.Post("/appointments/"+over+"/cancel", object{}).Is(200)
	require.EqualValues(t, 0, o.admin.Get("/appointments?conflict=true").Is(200).Field("total"))
}

func TestWhoConfirmsOverABusyTimeSaysSo(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars)
	id := o.book(o.contact(0), o.at(2, "10:00"), object{"status": "pending"}).Is(201).Text("id")
	o.synced(o.staff.UserID, o.connect(o.staff.UserID, serveCalendar(t, vevent("a", o.at(2, "10:30"), 15)).URL))
	o.admin.Post("/appointments/"+id+"/confirm", nil).Fails(409, "svc_slot_taken")
	require.Equal(t, "pending", o.appointment(id).Text("status"))
	require.Equal(t, "confirmed", o.admin.Post("/appointments/"+id+"/confirm", object{"outside_hours": true}).Is(200).Text("status"))
	require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentConfirmed}, o.kinds(id))
}
