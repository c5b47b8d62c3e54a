package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/caldavtest"
)

// bookable is a new person, and the service of the desk is one that they alone do, at any day.
func bookable(t *testing.T, d *system.Desk, name string) (me system.Client, email string, id int64) {
	t.Helper()
	me, email, _ = member(t, d.Admin, name, "staff")
	id = userIDOf(t, me)
	d.Service = d.Admin.Post(t, "/services", map[string]any{"name": "Intake", "duration_min": 30, "bookable_online": true, "staff": []int64{id}}).Is(201).Text("id")
	week := map[string]any{}
	for day := range 7 {
		week[fmt.Sprint(day+1)] = [][2]string{{"09:00", "17:00"}}
	}
	system.Eventually(t, func() bool {
		return d.Admin.Call(t, "PUT", fmt.Sprintf("/staff/%d/hours", id), map[string]any{"hours": week}).Status == 200
	}, "booking does not know the person")
	return me, email, id
}

func TestWhatStandsInAPersonsOwnCalendarCannotBeBooked(t *testing.T) {
	t.Parallel()
	d := sys.SetUp(t)
	me, email, id := bookable(t, &d, "Lieve")
	starts, token := d.Slots(t)
	wanted := starts[5]

	var file atomic.Value
	events := func(of ...string) {
		file.Store("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//Test//EN\r\n" + strings.Join(of, "") + "END:VCALENDAR\r\n")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if text := file.Load().(string); text != "" {
			fmt.Fprint(w, text)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	at, err := time.Parse(time.RFC3339, wanted)
	require.NoError(t, err)
	events("BEGIN:VEVENT\r\nUID:one\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:" + at.UTC().Format("20060102T150405Z") + "\r\nDURATION:PT30M\r\nSUMMARY:Dentist\r\nEND:VEVENT\r\n")
	calendars := fmt.Sprintf("/staff/%d/calendars", id)
	calendar := me.Post(t, calendars, map[string]any{"kind": "ics", "name": "At home", "url": server.URL + "/basic.ics"}).Is(201).Text("id")

	// It is read by itself.
	system.Eventually(t, func() bool { now, _ := d.Slots(t); return len(now) > 0 && !slices.Contains(now, wanted) }, "the time is offered though the calendar takes it")
	system.Wait()
	visitor.Post(t, "/booking/book", d.Booking(wanted, token, system.Address("ada"))).Fails(409, "svc_slot_taken")

	// It is read anew when somebody asks, at most once a minute.
	events()
	require.Equal(t, "ok", me.Post(t, calendars+"/"+calendar+"/sync", nil).Is(200).Text("state"))
	now, _ := d.Slots(t)
	require.Contains(t, now, wanted)
	visitor.Post(t, "/booking/book", d.Booking(wanted, token, system.Address("ada"))).Is(201)

	// A calendar that cannot be read any more is mailed to its person.
	file.Store("")
	me.Call(t, "PATCH", "/me/notifications", map[string]any{"language": "de"}).Is(200)
	require.Equal(t, "new", me.Call(t, "PATCH", calendars+"/"+calendar, map[string]any{"url": server.URL + "/other.ics"}).Is(200).Text("state"))
	system.Eventually(t, func() bool {
		return slices.ContainsFunc(sys.Mails(t, email), func(m system.Mail) bool { // with the news of the booking, or alone
			said := m.Subject + m.Text
			return strings.Contains(said, "Ihr Kalender kann nicht gelesen werden") && strings.Contains(said, "At home") && !strings.Contains(said, server.URL)
		})
	}, "no mail to the person")
}

func TestWhatAVisitorBooksStandsInTheCalendarsOfBothServers(t *testing.T) {
	t.Parallel()
	for _, server := range caldavtest.Servers(t) {
		t.Run(server.Name, func(t *testing.T) {
			d := sys.SetUp(t)
			me, _, id := bookable(t, &d, server.Name)
			calendars := fmt.Sprintf("/staff/%d/calendars", id)
			calendar := me.Post(t, calendars, map[string]any{"kind": "caldav", "name": "Own", "url": server.URL, "username": server.Username, "password": caldavtest.Password}).Is(201).Text("id")
			choices := me.Get(t, calendars+"/"+calendar+"/choices").Is(200).Items()
			require.Equal(t, server.Calendar, choices[0]["href"])
			me.Call(t, "PATCH", calendars+"/"+calendar, map[string]any{"calendar": choices[0]["href"], "writes": true}).Is(200)

			starts, token := d.Slots(t)
			system.Wait()
			ada := system.Address("ada")
			visitor.Post(t, "/booking/book", d.Booking(starts[5], token, ada)).Is(201)
			// has waits until the calendar has the only appointment, at that time; empty for none.
			has := func(start string) {
				t.Helper()
				system.Eventually(t, func() bool {
					files := server.Files(t)
					if start == "" || len(files) != 1 {
						return start == "" && len(files) == 0
					}
					at, err := time.Parse(time.RFC3339, start)
					require.NoError(t, err)
					return strings.Contains(server.Get(t, files[0]), "DTSTART:"+at.UTC().Format("20060102T150405Z"))
				}, "the calendar does not have it")
			}
			has(starts[5])
			appointment := d.Admin.Get(t, "/appointments?search="+url.QueryEscape(ada)).Is(200).Items()[0]["id"].(string)
			d.Admin.Post(t, "/appointments/"+appointment+"/reschedule", map[string]any{"starts_at": starts[9]}).Is(200)
			has(starts[9])
			d.Admin.Post(t, "/appointments/"+appointment+"/cancel", map[string]any{}).Is(200)
			has("")
		})
	}
}
