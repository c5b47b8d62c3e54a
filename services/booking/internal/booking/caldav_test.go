package booking

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/caldavtest"
)

// onServers runs a test with each of the calendar servers.
func onServers(t *testing.T, test func(*testing.T, caldavtest.Server)) {
	t.Parallel()
	for _, s := range caldavtest.Servers(t) {
		t.Run(s.Name, func(t *testing.T) { test(t, s) })
	}
}

// account is the body of a calendar on a server.
func account(s caldavtest.Server, more ...object) object {
	body := object{"kind": "caldav", "username": s.Username, "password": caldavtest.Password}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	return body
}

// file is a calendar with these events.
func file(events ...string) string {
	return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n" + strings.Join(events, "") + "END:VCALENDAR\r\n"
}

func TestACalendarOfAServerIsChosenAndTakesTime(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		o := open9to5(t, nil, localCalendars, unlimited)
		s.Make(t, s.Home+"private/", "VEVENT")
		s.Make(t, s.Home+"chores/", "VTODO")
		s.Put(t, s.Calendar+"a.ics", file(vevent("a", o.at(2, "10:00"), 60)))
		s.Put(t, s.Calendar+"b.ics", file(vevent("b", o.at(2, "13:00"), 60)))
		id := o.connect(o.staff.UserID, s.URL, account(s))
		at := path("/staff/%d/calendars/%s", o.staff.UserID, id)
		waits := o.admin.Post(at+"/sync", nil).Is(200)
		require.Equal(t, []any{"new", nil, ""}, []any{waits.Field("state"), waits.Field("last_synced_at"), waits.Field("last_error")}, "nobody has chosen yet")

		var hrefs []string
		for _, c := range o.admin.Get(at + "/choices").Is(200).Items() {
			require.Equal(t, true, c["writable"])
			hrefs = append(hrefs, c["href"].(string))
		}
		require.ElementsMatch(t, []string{s.Calendar, s.Home + "private/"}, hrefs)
		o.admin.Patch(at, object{"calendar": s.Calendar}).Is(200)
		first := o.synced(o.staff.UserID, id)
		require.Equal(t, []any{"ok", "", 2.0}, []any{first.Field("state"), first.Field("last_error"), first.Field("events")})
		require.NotContains(t, o.starts(2), "10:00")
		require.NotContains(t, o.starts(2), "13:00")

		s.Put(t, s.Calendar+"a.ics", file(vevent("a", o.at(2, "15:00"), 60)))
		s.Delete(t, s.Calendar+"b.ics")
		s.Put(t, s.Calendar+"d.ics", file(vevent("d", o.at(3, "12:00"), 60)))
		again := o.synced(o.staff.UserID, id)
		require.Equal(t, "ok", again.Field("state"), again.Body)
		require.Contains(t, o.starts(2), "10:00")
		require.Contains(t, o.starts(2), "13:00")
		require.NotContains(t, o.starts(2), "15:00")
		require.NotContains(t, o.starts(3), "12:00")
		require.Equal(t, again.Field("events"), o.synced(o.staff.UserID, id).Field("events"), "nothing has changed")
		require.NotContains(t, o.admin.Get(path("/staff/%d/calendars", o.staff.UserID)).Is(200).Body, caldavtest.Password)
	})
}

func TestAServerThatRefusesFailsAndItsPersonIsToldOnce(t *testing.T) {
	onServers(t, func(t *testing.T, s caldavtest.Server) {
		o := open9to5(t, nil, localCalendars, unlimited)
		id := o.connect(o.staff.UserID, s.URL, account(s, object{"calendar": s.Calendar}))
		s.Put(t, s.Calendar+"a.ics", file(vevent("a", o.at(2, "10:00"), 60)))
		require.Equal(t, "ok", o.synced(o.staff.UserID, id).Field("state"))
		at := path("/staff/%d/calendars/%s", o.staff.UserID, id)
		o.admin.Patch(at, object{"password": "another"}).Is(200)
		refused := o.synced(o.staff.UserID, id)
		require.Equal(t, "failing", refused.Field("state"))
		require.Contains(t, refused.Text("last_error"), "does not accept the user name and password")
		require.Equal(t, "failing", o.synced(o.staff.UserID, id).Field("state"))
		require.NotContains(t, o.starts(2), "10:00", "what was read counts on")
		o.admin.Get(at+"/choices").Fails(409, "svc_conflict")
		o.admin.Patch(at, object{"password": caldavtest.Password}).Is(200)
		require.Equal(t, "ok", o.synced(o.staff.UserID, id).Field("state"))
	})
}

// A server in trouble is one that answers as a test wants it, in front of a real one.
func TestAServerInTroubleIsToldApart(t *testing.T) {
	t.Parallel()
	s := caldavtest.Radicale(t)
	behind, err := url.Parse(s.URL)
	require.NoError(t, err)
	var status atomic.Int32
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind) }}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if code := int(status.Load()); code != 0 {
			w.Header().Set("Retry-After", "7200")
			w.WriteHeader(code)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	o := open9to5(t, nil, localCalendars, unlimited)
	id := o.connect(o.staff.UserID, front.URL, account(s, object{"calendar": front.URL + strings.TrimPrefix(s.Calendar, s.URL)}))
	require.Equal(t, "ok", o.synced(o.staff.UserID, id).Field("state"))
	for code, says := range map[int][2]string{403: {"forbidden", "does not allow"}, 404: {"missing", "has nothing at this address"}, 429: {"busy", "busy"}, 500: {"broken", "failed"}} {
		status.Store(int32(code))
		failing := o.synced(o.staff.UserID, id)
		require.Equal(t, []any{"failing", says[0]}, []any{failing.Field("state"), failing.Field("last_error_code")})
		require.Contains(t, failing.Text("last_error"), says[1], fmt.Sprint(code))
		var wait int
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select round(extract(epoch from due_at - $2))::int from external_calendar where id = $1`, id, o.Now()).Scan(&wait))
		require.InDelta(t, map[int]int{403: 300, 404: 300, 429: 7200, 500: 300}[code], wait, 30, "a server that is busy says when to come again")
		status.Store(0)
		require.Equal(t, "ok", o.synced(o.staff.UserID, id).Field("state"))
	}
}

// A server is busy from the third answer with events on: what came before is kept, and not asked for again.
func TestACalendarIsReadInTurns(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, localCalendars, unlimited)
	var asked atomic.Int32
	var busy atomic.Bool
	busy.Store(true)
	first := o.at(1, "00:00")
	s, given := caldavtest.Own(t, 450, first, func(w http.ResponseWriter, _ *http.Request, q caldavtest.Question) bool {
		refuses := q.Events > 0 && asked.Add(1) > 2 && busy.Load()
		if refuses {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		return refuses
	})
	id := o.connect(o.staff.UserID, s.URL, object{"kind": "caldav"})
	o.exec(`insert into external_object (calendar_id, key, etag, events, problem, spans, seen_at) select id, 'of before', '1', 1, '', array[extract(epoch from $1::timestamptz)::bigint + 600, extract(epoch from $1::timestamptz)::bigint + 1200], now() - interval '1 day'
		from external_calendar`, first)
	o.admin.Patch(path("/staff/%d/calendars/%s", o.staff.UserID, id), object{"calendar": s.Calendar}).Is(200)
	part := o.synced(o.staff.UserID, id)
	require.Equal(t, []any{"failing", "busy", 401.0}, []any{part.Field("state"), part.Field("last_error_code"), part.Field("events")}, "with one of before, which counts on")
	times := func() (n int) {
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from external_time`).Scan(&n))
		return n
	}
	require.NotZero(t, times())
	busy.Store(false)
	whole := o.synced(o.staff.UserID, id)
	require.Equal(t, []any{"ok", "", 450.0}, []any{whole.Field("state"), whole.Field("last_error"), whole.Field("events")})
	require.Len(t, given(), 450)
	for i, times := range given() {
		require.Equal(t, 1, times, "event %d", i)
	}
	require.Equal(t, 450, times())
}
