package booking

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/fetch"
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
func localCalendars(c *app.Config) { c.Receivers, _ = fetch.ParseAllowed("127.0.0.1") }

// unlimited lets a test ask as often as it likes.
func unlimited(c *app.Config) { c.RateFactor = 0 }

// connect connects a calendar, which a worker or synced reads.
func (o *office) connect(user int64, url string, more ...object) string {
	o.t.Helper()
	body := object{"kind": "ics", "name": "Mine", "url": url}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	return o.AsSession("site_admin").Post(path("/staff/%d/calendars", user), body).Is(201).Text("id")
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
func (o *office) starts(day int) (all []string) {
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
	// The replica remembers the catalog of before.
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(4, "10:00"), "ann@example.com")).Is(201)
	id := o.connect(o.staff.UserID, server.URL+"/secret/basic.ics")
	shown := o.synced(o.staff.UserID, id)
	require.Equal(t, []any{"ok", "", "", 1.0, server.URL + "/…"}, []any{shown.Field("state"), shown.Field("last_error"), shown.Field("last_error_code"), shown.Field("events"), shown.Field("url")})

	require.Contains(t, o.starts(2), "09:00")
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

// failureNotices name the calendars of which the team was told that they cannot be read.
func (o *office) failureNotices() (names []string) {
	o.t.Helper()
	for _, n := range o.notices() {
		if c := n.GetCalendar(); c != nil {
			require.Equal(o.t, []any{o.staff.UserID, o.staff.UserID, "calendar_failing", "booking"}, []any{c.GetUserId(), n.GetTo()[0].GetUserId(), n.GetTo()[0].GetKind(), n.GetApp()})
			names = append(names, c.GetName())
		}
	}
	return names
}

// work runs the slices of a worker until there is nothing to do, for the service's own workers neither: a slice does not do what one of them has claimed.
func (o *office) work(name string) {
	o.t.Helper()
	i := slices.IndexFunc(o.Parts.Workers, func(w app.Worker) bool { return w.Name == name })
	require.GreaterOrEqual(o.t, i, 0, "no worker %s", name)
	o.Eventually(func() (idle bool) {
		for worked := true; worked; {
			var err error
			worked, err = o.Parts.Workers[i].Slice(db.WithActor(o.t.Context(), db.Actor{Channel: db.ChannelSystem}))
			require.NoError(o.t, err)
		}
		require.NoError(o.t, o.Kit.DB.Pool.QueryRow(o.t.Context(), `select not exists (select from outgoing_account where held_until > clock_timestamp())
			and not exists (select from external_calendar where held_until > clock_timestamp())`).Scan(&idle))
		return idle
	})
}

func TestACalendarThatFailsIsToldOnceAndSwitchedOffAfterAWeek(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t, vevent("a", o.at(2, "10:00"), 60))
	id := o.connect(o.staff.UserID, server.URL)
	o.synced(o.staff.UserID, id)
	server.answers(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) })
	failed := o.synced(o.staff.UserID, id)
	require.Equal(t, "failing", failed.Text("state"))
	require.Contains(t, failed.Text("last_error"), "401")
	require.Equal(t, []string{"Mine"}, o.failureNotices())
	require.NotContains(t, o.starts(2), "10:00", "the copy of before counts on")

	state := func() string {
		return o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Items()[0]["state"].(string)
	}
	var waits []time.Duration
	for state() == "failing" {
		var due time.Time
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select due_at from external_calendar where id = $1`, id).Scan(&due))
		waits = append(waits, due.Sub(o.Now()).Round(time.Minute))
		o.Travel(due.Sub(o.Now()) + time.Second)
		o.work("external-calendars")
	}
	require.Equal(t, "off", state())
	require.Equal(t, 5*time.Minute, waits[0])
	require.Equal(t, 6*time.Hour, waits[len(waits)-1])
	require.InDelta(t, 35, len(waits), 3)
	require.Len(t, o.failureNotices(), 1)
	o.Travel(7 * time.Hour)
	require.Equal(t, "failing", o.synced(o.staff.UserID, id).Text("state"), "whoever asks for it begins anew")
	require.Len(t, o.failureNotices(), 1)
	server.answers(nil)
	require.Equal(t, "ok", o.synced(o.staff.UserID, id).Text("state"))
	server.answers(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusNotFound) })
	o.synced(o.staff.UserID, id)
	require.Len(t, o.failureNotices(), 2)
}

func TestWhyACalendarCannotBeReadIsSaid(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t)
	id := o.connect(o.staff.UserID, server.URL)
	endless := func(w http.ResponseWriter, _ *http.Request) {
		line := []byte("X-FILLER:" + strings.Repeat("x", 1000) + "\r\n")
		fmt.Fprint(w, "BEGIN:VCALENDAR\r\n")
		for {
			if _, err := w.Write(line); err != nil {
				return
			}
		}
	}
	leads := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	codes := map[any]bool{}
	for why, serves := range map[string]http.HandlerFunc{
		"status 500":                 func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"(403)":                      func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"status 304":                 func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
		"more than 20 MB":            endless,
		"this is no calendar":        func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!doctype html><title>Sign in</title>") },
		"ends in the middle":         func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\n") },
		"more than 3 times":          leads("/again"),
		"SVC_FETCH_ALLOW":            leads("https://10.0.0.7/private.ics"),
		"ends the connection":        func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"is not on the public inter": leads("http://169.254.169.254/latest/meta-data"),
		"must not carry":             leads("http://user:secret@127.0.0.1/"),
	} {
		server.answers(serves)
		a := o.synced(o.staff.UserID, id)
		require.Equal(t, "failing", a.Text("state"), why)
		codes[a.Field("last_error_code")] = true
		if why != "must not carry" {
			require.Contains(t, a.Text("last_error"), why)
		}
	}

	require.Equal(t, map[any]bool{"broken": true, "sign_in": true, "too_large": true, "no_calendar": true, "private": true, "unreachable": true}, codes)

	// A server whose certificate has ended, and one that is gone.
	ended := httptest.NewUnstartedServer(http.NotFoundHandler())
	ended.TLS = &tls.Config{Certificates: []tls.Certificate{endedCertificate(t)}}
	ended.StartTLS()
	t.Cleanup(ended.Close)
	at := path("/staff/%d/calendars/%s", o.staff.UserID, id)
	o.admin.Patch(at, object{"url": ended.URL}).Is(200)
	require.Contains(t, o.synced(o.staff.UserID, id).Text("last_error"), "certificate")
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	o.admin.Patch(at, object{"url": gone.URL}).Is(200)
	require.Contains(t, o.synced(o.staff.UserID, id).Text("last_error"), "cannot be reached")

	// An event that is broken is left out, and the others count.
	server.answers(nil)
	server.has("BEGIN:VEVENT\r\nUID:broken\r\nDTSTART:tomorrow\r\nEND:VEVENT\r\n", vevent("a", o.at(2, "10:00"), 60))
	o.admin.Patch(at, object{"url": server.URL}).Is(200)
	read := o.synced(o.staff.UserID, id)
	require.Equal(t, []any{"ok", "left_out", "line 6: DTSTART is no date or time", 1.0}, []any{read.Field("state"), read.Field("last_error_code"), read.Field("last_error"), read.Field("events")})
	require.NotContains(t, o.starts(2), "10:00")
}

func endedCertificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	ended := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	made, err := x509.CreateCertificate(rand.Reader, &ended, &ended, &key.PublicKey, key)
	require.NoError(t, err)
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}

func TestASlowServerKeepsNobodyWaitingForLongerThanTenSeconds(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server, release := serveCalendar(t, vevent("a", o.at(2, "10:00"), 60)), make(chan struct{})
	file := server.file
	server.answers(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
			fmt.Fprint(w, file)
		case <-r.Context().Done():
		}
	})
	id := o.connect(o.staff.UserID, server.URL)
	at := path("/staff/%d/calendars/%s/sync", o.staff.UserID, id)
	require.Equal(t, "new", o.admin.Post(at, nil).Is(202).Text("state"))
	close(release)
	o.Eventually(func() bool { return !slices.Contains(o.starts(2), "10:00") })
}

func TestACalendarIsReadAgainOnlyIfItChanged(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t, vevent("a", o.at(2, "10:00"), 60))
	id := o.connect(o.staff.UserID, server.URL)
	first := o.synced(o.staff.UserID, id).Text("last_synced_at")
	row := func() (xmin string) {
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select xmin::text from external_time where calendar_id = $1`, id).Scan(&xmin))
		return xmin
	}
	written := row()
	o.Travel(6 * time.Minute)
	o.Eventually(func() bool {
		return o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Items()[0]["last_synced_at"] != first
	})
	require.NotEmpty(t, server.headers()[len(server.headers())-1].Get("If-None-Match"), "a worker asked again by itself")
	require.Equal(t, written, row(), "nothing was written anew")

	// The days move on: after a day it is read whole.
	o.Travel(24 * time.Hour)
	asked := len(server.headers())
	o.Eventually(func() bool { return len(server.headers()) > asked })
	require.Empty(t, server.headers()[asked].Get("If-None-Match"))

	// A server without validators sends the same file again and again.
	server.answers(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, server.file) })
	o.synced(o.staff.UserID, id)
	written = row()
	o.synced(o.staff.UserID, id)
	require.Equal(t, written, row())
}

func TestWhatMayBeSaidOfACalendar(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	list := path("/staff/%d/calendars", o.staff.UserID)
	good := func(more object) object {
		body := object{"kind": "ics", "name": "Mine", "url": "https://calendar.example/secret/basic.ics"}
		for k, v := range more {
			body[k] = v
		}
		return body
	}
	person := o.AsSession("site_admin")
	for field, wrong := range map[string]object{
		"kind": {"kind": "exchange"}, "name": {"name": "  "}, "writes": {"writes": true}, "calendar": {"calendar": "/home"}, "url": {"url": "ftp://calendar.example/a.ics"},
	} {
		params, _ := person.Post(list, good(wrong)).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Contains(t, params, field)
	}
	// A key would leave it behind.
	o.staff.Post(list, good(object{"kind": "caldav", "writes": true})).Fails(403, "svc_forbidden")
	for url, code := range map[string]string{"https://10.0.0.5/a.ics": "private", "https://localhost/a.ics": "private", "http://calendar.example/a.ics": "url", "https://me:pass@calendar.example/": "url", "webcal://192.168.0.1/a": "private"} {
		a := o.staff.Post(list, good(object{"url": url})).Fails(400, "svc_invalid_param")
		require.Equal(t, code, a.Field("data.details.url.code"), a.Body)
	}
	made := o.staff.Post(list, good(object{"url": "webcal://calendar.example/secret/basic.ics", "username": "dora", "password": "hunter2"})).Is(201)
	require.Equal(t, "https://calendar.example/…", made.Text("url"))
	require.NotContains(t, made.Body, "hunter2")
	at := list + "/" + made.Text("id")

	// The password does not go to another host without whoever knows it.
	refused, _ := o.admin.Patch(at, object{"url": "https://calendars.example/"}).Fails(400, "svc_invalid_param").Field("data.params").(object)
	require.Contains(t, refused, "password")
	o.admin.Patch(at, object{"url": "https://calendar.example/other.ics"}).Is(200)
	o.admin.Patch(at, object{"url": "https://calendars.example/", "password": ""}).Is(200)

	for range 19 {
		o.staff.Post(list, good(nil)).Is(201)
	}
	require.Equal(t, "too_many", o.staff.Post(list, good(nil)).Fails(409, "svc_conflict").Text("data.reason"))
	other := o.As("staff")
	other.Get(list).Fails(404, "svc_not_found")
	other.Post(list, good(nil)).Fails(404, "svc_not_found")
	o.admin.Patch(path("/staff/%d/calendars/%s", o.admin.UserID, made.Text("id")), object{"name": "x"}).Fails(404, "svc_not_found")
	o.staff.Delete(at, nil).Is(204)
	o.staff.Delete(at, nil).Fails(404, "svc_not_found")
	for _, said := range append(o.Changes("add-external-calendar"), o.Changes("update-external-calendar")...) {
		require.NotContains(t, said, "secret")
		require.NotContains(t, said, "hunter2")
	}
	require.Len(t, o.Audited("remove-external-calendar"), 1)
}

func TestABookingIsDecidedBeforeOrAfterACalendarIsRead(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited, apptest.Connections(4))
	server := serveCalendar(t)
	id := o.connect(o.staff.UserID, server.URL)
	o.synced(o.staff.UserID, id)
	// Somebody decides about a booking with the person, and holds their calendar.
	booking := o.Begin()
	_, err := booking.Exec(t.Context(), `select pg_advisory_xact_lock($1)`, db.LockKey("booking.calendar", o.staff.UserID))
	require.NoError(t, err)
	server.has(vevent("a", o.at(2, "10:00"), 60))
	read := apptest.Aside(t, func() *apptest.Answer {
		return o.admin.Post(path("/staff/%d/calendars/%s/sync", o.staff.UserID, id), nil)
	})
	o.Waiting(1)
	require.Contains(t, o.starts(2), "10:00", "until the booking is decided, the times are those of before")
	require.NoError(t, booking.Rollback(t.Context()))
	read().Is(200)
	require.NotContains(t, o.starts(2), "10:00")
}

func TestACalendarThatIsChangedOrRemovedWhileItIsReadKeepsNothingOfIt(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t, vevent("a", o.at(2, "10:00"), 60))
	file, asked, release := server.file, make(chan struct{}, 9), make(chan struct{})
	server.answers(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		<-release
		fmt.Fprint(w, file)
	})
	id := o.connect(o.staff.UserID, server.URL)
	<-asked // a worker reads it
	at := path("/staff/%d/calendars/%s", o.staff.UserID, id)
	o.admin.Post(at+"/sync", nil).Is(202)
	other := serveCalendar(t)
	o.admin.Patch(at, object{"url": other.URL}).Is(200)
	require.EqualValues(t, 0, o.synced(o.staff.UserID, id).Field("events"))
	close(release)
	o.Eventually(func() bool {
		return o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Items()[0]["state"] == "ok"
	})
	require.Contains(t, o.starts(2), "10:00", "what the old address had does not count")

	o.admin.Patch(at, object{"url": server.URL}).Is(200)
	o.Eventually(func() bool { return !slices.Contains(o.starts(2), "10:00") })
	o.admin.Patch(at, object{"blocks": false}).Is(200)
	require.Contains(t, o.starts(2), "10:00")
	require.EqualValues(t, 1, o.synced(o.staff.UserID, id).Field("events"))
	require.Contains(t, o.starts(2), "10:00")
	o.admin.Patch(at, object{"blocks": true}).Is(200)
	o.synced(o.staff.UserID, id)
	require.NotContains(t, o.starts(2), "10:00")
	o.admin.Delete(at, nil).Is(204)
	require.Contains(t, o.starts(2), "10:00")
}

func TestACalendarEndsWithItsPerson(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t, vevent("a", o.at(2, "10:00"), 60))
	count := func() (n int) {
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select (select count(*) from external_calendar) + (select count(*) from external_time)`).Scan(&n))
		return n
	}
	o.synced(o.staff.UserID, o.connect(o.staff.UserID, server.URL))
	o.synced(o.admin.UserID, o.connect(o.admin.UserID, server.URL))
	require.Equal(t, 4, count())
	booked := o.book(o.contact(0), o.at(2, "10:00"), object{"outside_hours": true}).Is(201).Text("id")

	// Nobody gets appointments at a time that their own calendar takes.
	leave := path("/staff/%d?successor=%d", o.staff.UserID, o.admin.UserID)
	refused := o.admin.Delete(leave, nil).Fails(409, "svc_conflict")
	require.Equal(t, "overlap", refused.Text("data.reason"))
	require.Contains(t, refused.Body, booked)
	server.has()
	o.synced(o.admin.UserID, o.admin.Get(path("/staff/%d/calendars", o.admin.UserID)).Is(200).Items()[0]["id"].(string))
	o.admin.Delete(leave, nil).Is(200)
	require.Equal(t, 1, count(), "the calendar of who stays")

	// An erased person is in no name, and their own calendars go.
	o.connect(o.admin.UserID, server.URL, object{"username": "jan@example.com", "password": "x"})
	o.connect(o.admin.UserID, server.URL, object{"name": "With jan@example.com and ann@example.com"})
	o.forget(nil, "jan@example.com")
	var names []any
	for _, c := range o.admin.Get(path("/staff/%d/calendars", o.admin.UserID)).Is(200).Items() {
		names = append(names, c["name"])
		require.Empty(t, c["username"])
	}
	require.Len(t, names, 2)
	require.NotContains(t, fmt.Sprint(names), "jan@")
	require.Contains(t, fmt.Sprint(names), "ann@")
}

func TestTheAddressAndPasswordOfACalendarAreSealed(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	server := serveCalendar(t, vevent("a", o.at(2, "10:00"), 60))
	id := o.connect(o.staff.UserID, server.URL+"/token-of-mine.ics", object{"username": "dora", "password": "hunter2"})
	o.synced(o.staff.UserID, id)
	user, password, _ := (&http.Request{Header: server.headers()[0]}).BasicAuth()
	require.Equal(t, "dora hunter2", user+" "+password)

	var row string
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select c::text || encode(c.url, 'escape') || encode(c.password, 'escape') || (select string_agg(t::text, '') from external_time t) from external_calendar c`).Scan(&row))
	for _, secret := range []string{"token-of-mine", "hunter2", "Dentist", server.URL} {
		require.NotContains(t, row, secret)
	}
	// rotate-key opens the values as they are declared.
	opened := map[string]string{}
	for _, s := range o.Parts.Sealed {
		if s.Table != "external_calendar" {
			continue
		}
		var value []byte
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select `+s.Column+` from `+s.Table+` where id = $1`, id).Scan(&value))
		secret, err := o.Kit.Keys.Open(s.Purpose(id), value)
		require.NoError(t, err)
		opened[s.Column] = string(secret)
	}
	require.Equal(t, map[string]string{"url": server.URL + "/token-of-mine.ics", "password": "hunter2"}, opened)

	o.exec(`update external_calendar set password = 'of a key that is lost', digest = null`)
	require.Contains(t, o.synced(o.staff.UserID, id).Text("last_error"), "set them again")

	// Another host gets no password.
	elsewhere := serveCalendar(t)
	server.answers(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) })
	o.admin.Patch(path("/staff/%d/calendars/%s", o.staff.UserID, id), object{"password": "hunter3"}).Is(200)
	require.Equal(t, "ok", o.synced(o.staff.UserID, id).Text("state"))
	require.NotEmpty(t, elsewhere.headers())
	for _, asked := range elsewhere.headers() {
		require.Empty(t, asked.Get("Authorization"))
	}
}

func TestTenThousandEventsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	var events []string
	first := o.at(1, "00:00")
	for i := range 10_000 {
		events = append(events, vevent(path("%d", i), first.Add(time.Duration(i)*40*time.Minute), 10))
	}
	events = append(events, vevent("long", o.at(5, "00:00"), 3*24*60))
	server := serveCalendar(t, events...)
	id := o.connect(o.staff.UserID, server.URL)
	read := o.synced(o.staff.UserID, id)
	require.Equal(t, []any{"ok", 10_001.0}, []any{read.Field("state"), read.Field("events")})
	require.Empty(t, o.starts(6), "it takes three days")
	server.has(events[1:]...)
	o.synced(o.staff.UserID, id)
	var n int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from external_time where starts_at = $1`, first).Scan(&n))
	require.Zero(t, n)
}

func TestTwoCalendarsTakeTimeTogether(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	late, early := serveCalendar(t, vevent("a", o.at(2, "15:00"), 60)), serveCalendar(t, vevent("b", o.at(2, "10:00"), 60), vevent("c", o.at(2, "15:00"), 120))
	for _, s := range []*calendarServer{late, early} {
		o.synced(o.staff.UserID, o.connect(o.staff.UserID, s.URL))
	}
	free := o.starts(2)
	for _, taken := range []string{"10:00", "15:00", "16:00"} {
		require.NotContains(t, free, taken)
	}
	require.Contains(t, free, "11:00")
}

func TestOurOwnAppointmentsTakeNoTimeInTheCalendarThatShowsThem(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
	server := serveCalendar(t, vevent(id+"@frontdesk", o.at(2, "10:00"), 60), vevent("00000000-0000-4000-8000-000000000000@frontdesk", o.at(2, "14:00"), 60),
		vevent("declined", o.at(2, "15:00"), 60, "ATTENDEE;PARTSTAT=DECLINED:mailto:"+o.email(o.staff.UserID)))
	require.EqualValues(t, 1, o.synced(o.staff.UserID, o.connect(o.staff.UserID, server.URL)).Field("events"), "that of another installation")
	require.Empty(t, o.admin.Get("/appointments?conflict=true").Is(200).Items())
	o.admin.Post("/appointments/"+id+"/cancel", object{}).Is(200)
	require.Contains(t, o.starts(2), "10:00")
	require.NotContains(t, o.starts(2), "14:00")
	require.Contains(t, o.starts(2), "15:00")
}

// email is the address of an account.
func (o *office) email(user int64) string {
	u, _ := o.Kit.Identity.User(user)
	return u.GetEmail()
}
