package booking

import (
	"strings"
	"testing"
	"time"

	ical "github.com/emersion/go-ical"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// feed is an address as a calendar has it.
func (o *office) feed(user int64, more ...object) string {
	o.t.Helper()
	body := object{}
	if len(more) > 0 {
		body = more[0]
	}
	url := o.AsSession("site_admin").Post(path("/staff/%d/calendar-feed", user), body).Is(201).Text("url")
	_, at, ok := strings.Cut(url, "/v1")
	require.True(o.t, ok && strings.HasPrefix(url, o.Kit.Config.PublicURL) && strings.HasSuffix(url, ".ics"), url)
	return at
}

// events are those of a calendar by their UID, read by a library that has no part in writing them.
func (o *office) events(at string) map[string]ical.Event {
	o.t.Helper()
	answer := o.Visitor().With("Accept", "text/calendar").Get(at).Is(200)
	require.Equal(o.t, "text/calendar; charset=utf-8", answer.Header.Get("Content-Type"))
	return eventsOf(o.t, answer.Body)
}

func eventsOf(t testing.TB, file string) map[string]ical.Event {
	t.Helper()
	cal, err := ical.NewDecoder(strings.NewReader(file)).Decode()
	require.NoError(t, err, file)
	all := map[string]ical.Event{}
	for _, e := range cal.Events() {
		uid, err := e.Props.Text(ical.PropUID)
		require.NoError(t, err)
		require.NotContains(t, all, uid)
		all[uid] = e
	}
	return all
}

func textOf(t testing.TB, e ical.Event, name string) string {
	t.Helper()
	text, err := e.Props.Text(name)
	require.NoError(t, err)
	return text
}

func TestWhatAFeedSays(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("a person's own calendar reads their appointments", func(t *testing.T) {
		o := o.again(t, nil)
		at := o.feed(o.staff.UserID)
		require.Empty(t, o.events(at))

		email := "bea@example.com"
		id := o.book(o.contact(0, email), o.at(2, "10:00"), object{"notes": "Allergic to nuts", "location_type": "client", "location": "’s-Gravenweg 1, l'Écluse; 2nd floor, left"}).Is(201).Text("id")
		e := o.events(at)[id+"@frontdesk"]
		require.Equal(t, "CONFIRMED", textOf(t, e, "STATUS"))
		require.Equal(t, "Intake – An Peeters", textOf(t, e, "SUMMARY"))
		require.Equal(t, "’s-Gravenweg 1, l'Écluse; 2nd floor, left", textOf(t, e, "LOCATION"))
		start, err := e.DateTimeStart(nil)
		require.NoError(t, err)
		require.True(t, start.Equal(o.at(2, "10:00")), start)

		// The same event stands in the client's calendar, by the mail.
		mailed := eventsOf(t, string(o.lastMail(email).GetCalendar()))
		require.Contains(t, mailed, id+"@frontdesk")
		moved := o.at(3, "11:00")
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(moved)}).Is(200)
		e, inMail := o.events(at)[id+"@frontdesk"], eventsOf(t, string(o.lastMail(email).GetCalendar()))[id+"@frontdesk"]
		require.Equal(t, "1", e.Props.Get("SEQUENCE").Value)
		for _, same := range []string{"SEQUENCE", "DTSTART", "DTEND"} {
			require.Equal(t, inMail.Props.Get(same).Value, e.Props.Get(same).Value)
		}

		file := o.Visitor().Get(at).Is(200).Body
		for _, secret := range []string{email, "nuts", "+32470000000", "470", "ATTENDEE", "ORGANIZER", "http"} {
			require.NotContains(t, file, secret)
		}
		for _, line := range []string{"METHOD:PUBLISH\r\n", "X-WR-CALNAME:Praktijk Jansen\r\n", "REFRESH-INTERVAL;VALUE=DURATION:PT15M\r\n", "X-PUBLISHED-TTL:PT15M\r\n"} {
			require.Contains(t, file, line)
		}
	})
	t.Run("what it says of an appointment follows its status", func(t *testing.T) {
		o := o.again(t, nil)
		at, contact := o.feed(o.staff.UserID), o.contact(0)
		book := func(clock string, more ...object) string {
			return o.book(contact, o.at(2, clock), more...).Is(201).Text("id")
		}
		asked, declined, cancelled := book("09:00", object{"status": "pending"}), book("10:00", object{"status": "pending"}), book("11:00")
		online := book("12:00", object{"location_type": "online", "meeting_url": "https://meet.example/a"})
		called := book("13:00", object{"location_type": "phone"})
		o.admin.Post("/appointments/"+declined+"/decline", object{"reason": "no"}).Is(200)
		o.admin.Post("/appointments/"+cancelled+"/cancel", object{"reason": "ill"}).Is(200)
		status := func() map[string]string {
			all := map[string]string{}
			for uid, e := range o.events(at) {
				all[strings.TrimSuffix(uid, "@frontdesk")] = textOf(t, e, "STATUS")
			}
			return all
		}
		require.Equal(t, map[string]string{asked: "TENTATIVE", cancelled: "CANCELLED", online: "CONFIRMED", called: "CONFIRMED"}, status())
		require.Equal(t, "Online", textOf(t, o.events(at)[online+"@frontdesk"], "LOCATION"))
		require.Equal(t, "Telefonisch", textOf(t, o.events(at)[called+"@frontdesk"], "LOCATION"), "in the language of the business, and without the number")
		o.Travel(31 * 24 * time.Hour)
		require.NotContains(t, status(), cancelled)
		require.Contains(t, status(), online)
		o.Travel(62 * 24 * time.Hour)
		require.Empty(t, status(), "90 days are over")

		far := o.book(contact, o.at(399, "09:00"), object{"outside_hours": true}).Is(201).Text("id")
		farther := o.book(contact, o.at(402, "09:00"), object{"outside_hours": true}).Is(201).Text("id")
		require.Contains(t, status(), far)
		require.NotContains(t, status(), farther)
	})
	t.Run("one of the busy time alone says nothing else", func(t *testing.T) {
		o := o.again(t, nil)
		at := o.feed(o.staff.UserID, object{"details": "busy"})
		id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
		e := o.events(at)[id+"@frontdesk"]
		require.Equal(t, "Bezet", textOf(t, e, "SUMMARY"))
		require.Nil(t, e.Props.Get("LOCATION"))
		file := o.Visitor().Get(at).Is(200).Body
		for _, secret := range []string{"Peeters", "Intake", "Kerkstraat"} {
			require.NotContains(t, file, secret)
		}
	})
	t.Run("a calendar that has it is told that nothing changed", func(t *testing.T) {
		o := o.again(t, nil)
		at := o.feed(o.staff.UserID)
		o.book(o.contact(0), o.at(2, "10:00")).Is(201)
		tag := o.Visitor().Get(at).Is(200).Header.Get("ETag")
		require.NotEmpty(t, tag)
		o.Travel(time.Hour)
		for _, has := range []string{tag, "W/" + tag, `"other", ` + tag, "*"} {
			again := o.Visitor().With("If-None-Match", has).Get(at).Is(304)
			require.Empty(t, again.Body)
			require.Equal(t, tag, again.Header.Get("ETag"))
		}
		o.Visitor().With("If-None-Match", `"other"`).Get(at).Is(200)
		o.book(o.contact(0), o.at(2, "11:00")).Is(201)
		require.NotEqual(t, tag, o.Visitor().With("If-None-Match", tag).Get(at).Is(200).Header.Get("ETag"))
		require.Equal(t, stamp(o.Now()), o.admin.Get(path("/staff/%d/calendar-feed", o.staff.UserID)).Is(200).Text("last_read_at"))
	})
	t.Run("an erased client is gone from it", func(t *testing.T) {
		o := o.again(t, nil)
		at, contact := o.feed(o.staff.UserID), o.contact(0)
		o.book(contact, o.at(2, "10:00")).Is(201)
		require.Len(t, o.events(at), 1)
		o.forget([]string{contact})
		require.Empty(t, o.events(at))
	})
	t.Run("the token of a link is not kept", func(t *testing.T) {
		o := o.again(t, nil)
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "ann@example.com")).Is(201)
		link := linkIn(t, o.lastMail("ann@example.com"))
		o.Visitor().Post("/booking/manage", object{"token": link}).Is(200)
		require.Equal(t, []string{"outbox", proto.MailTopic}, o.Holding(link), "on its way by mail")
	})
	// Everybody's clock shows the appointment at its hour, on both sides of both changes of a year.
	t.Run("an appointment keeps its hour over both changes of clocks", func(t *testing.T) {
		o := o.again(t, nil)
		at, contact := o.feed(o.staff.UserID), o.contact(0)
		zone := o.Kit.Config.Zone
		booked, offsets := map[string]time.Time{}, map[string]bool{}
		for day := 1; day < 380; day += 7 {
			start := o.at(day, "09:30")
			booked[o.book(contact, start, object{"outside_hours": true}).Is(201).Text("id")+"@frontdesk"] = start
		}
		events := o.events(at)
		require.Len(t, events, len(booked))
		for uid, start := range booked {
			e := events[uid]
			shown, err := e.DateTimeStart(time.UTC)
			require.NoError(t, err)
			require.True(t, shown.Equal(start))
			require.Equal(t, "09:30", shown.In(zone).Format("15:04"))
			offsets[shown.In(zone).Format("-0700")] = true
		}
		require.Len(t, offsets, 2)
	})
}

func TestAnAddressEndsWithItsSuccessorItsEndAndItsPerson(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	user := path("/staff/%d/calendar-feed", o.staff.UserID)
	require.Equal(t, object{"details": nil, "created_at": nil, "last_read_at": nil}, o.admin.Get(user).Is(200).Map())
	first := o.feed(o.staff.UserID)
	second := o.feed(o.staff.UserID)
	gone := func(at string) { o.Visitor().Get(at).Fails(404, "svc_not_found") }
	gone(first)
	require.Equal(t, "full", o.admin.Get(user).Is(200).Text("details"))
	require.Nil(t, o.admin.Get(user).Is(200).Field("last_read_at"))
	o.Visitor().Get(second).Is(200)
	for _, other := range []string{strings.TrimSuffix(second, ".ics"), "/calendar-feeds/x.ics", "/calendar-feeds/.ics"} {
		gone(other)
	}
	o.SetApp("booking", false)
	o.Eventually(func() bool { return o.Visitor().Raw("GET "+second, nil).Status == 404 })
	o.SetApp("booking", true)
	o.Eventually(func() bool { return o.Visitor().Raw("GET "+second, nil).Status == 200 })
	o.admin.Delete(user, nil).Is(204)
	gone(second)
	o.admin.Delete(user, nil).Fails(404, "svc_not_found")

	third := o.feed(o.staff.UserID)
	o.admin.Delete(path("/staff/%d", o.staff.UserID), nil).Is(200)
	gone(third)
	var left int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from calendar_feed`).Scan(&left))
	require.Zero(t, left)
}

func TestTheAddressOfSomebodyWhoMayNoLongerSeeAppointmentsAnswersNothing(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	at := o.feed(o.staff.UserID)
	o.Visitor().Get(at).Is(200)
	o.SetRoles(o.staff)
	o.Eventually(func() bool { return o.Visitor().Raw("GET "+at, nil).Status == 404 })
}

func TestWhoMayHaveAnAddressForWhom(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.Role("viewer", "all", "svc_view_contacts")
	o.Role("booker", "all", "svc_view_contacts", "svc_manage_bookings")
	viewer, booker, colleague := o.AsSession("viewer"), o.AsSession("booker"), o.AsSession("staff")
	of := func(c *apptest.Client) string { return path("/staff/%d/calendar-feed", c.UserID) }
	made := viewer.With("Idempotency-Key", "one").Post(of(viewer), object{}).Is(201)
	require.Empty(t, viewer.With("Idempotency-Key", "one").Post(of(viewer), object{}).Is(201).Text("url"), "a secret is shown once")
	require.NotEmpty(t, made.Text("url"))
	viewer.Post(of(o.staff), object{}).Fails(403, "svc_forbidden")
	viewer.Get(of(booker)).Fails(403, "svc_forbidden")
	booker.Post(of(o.staff), object{}).Is(201)
	booker.Post("/staff/9999/calendar-feed", object{}).Fails(404, "svc_not_found")
	colleague.Post(of(colleague), object{}).Is(201)
	colleague.Post(of(booker), object{}).Fails(404, "svc_not_found")
	for name, key := range map[string]*apptest.Client{"one's own": o.staff, "an administrator's": o.admin} {
		require.Equal(t, "person_only", key.Post(of(o.staff), object{}).Fails(403, "svc_forbidden").Text("data.reason"), "the address would outlive the key: %s", name)
	}
	booker.Post(of(o.staff), object{"details": "all"}).Fails(400, "svc_invalid_param")
	o.Visitor().Post(of(o.staff), object{}).Fails(401, "svc_unauthorized")
	_, token, _ := strings.Cut(strings.TrimSuffix(made.Text("url"), ".ics"), "/calendar-feeds/")
	require.Len(t, token, 43)
	require.Empty(t, o.Holding(token), "its hash is kept")
}

func TestAnAddressIsReadSixtyTimesAnHour(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.Kit.Config.RateFactor = 1
	at, other := o.feed(o.staff.UserID), o.feed(o.admin.UserID)
	for range 60 {
		o.Visitor().Get(at).Is(200)
	}
	o.Visitor().Get(at).Fails(429, "svc_rate_limited")
	o.Visitor().Get(other).Is(200)
}

func TestFiveThousandAppointments(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	at := o.feed(o.staff.UserID)
	id := o.book(o.contact(0), o.at(1, "10:00")).Is(201).Text("id")
	// Half of what a person could have in these days. One of a thousand came through another channel.
	o.exec(`insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location, meeting_url,
		notes, source, cancel_reason, sequence, timed_at, created_at, updated_at)
		select gen_random_uuid(), status, service_id, terms, user_id, contact_id, starts_at + n * interval '100 minutes', ends_at + n * interval '100 minutes', 0, 0, location_type, location, meeting_url,
		notes, case when n % 1000 = 0 then 'booking' else source end, cancel_reason, sequence, timed_at, created_at, updated_at from appointment, generate_series(1, 4999) n where id = $1`, id)
	t.Run("a feed has them all", func(t *testing.T) {
		require.Equal(t, 5000, strings.Count(o.Visitor().Get(at).Is(200).Body, "BEGIN:VEVENT"))
	})
	t.Run("the few of one channel are counted and listed by its index", func(t *testing.T) {
		o.exec(`analyze appointment`)
		require.EqualValues(t, 4, o.admin.Get("/appointments?source=booking").Is(200).Field("total"))
		planned := 0
		o.OnEach(func(conn *pgxpool.Conn) {
			names, err := db.Column[string](t.Context(), conn, `select name from pg_prepared_statements where statement like $1`, "%a.source = $1%")
			require.NoError(t, err)
			for _, name := range names {
				plan, err := db.Column[string](t.Context(), conn, `explain execute `+pgx.Identifier{name}.Sanitize()+`('booking')`, pgx.QueryExecModeSimpleProtocol)
				require.NoError(t, err)
				require.Contains(t, strings.Join(plan, "\n"), "appointment_source")
				planned++
			}
		})
		require.Equal(t, 2, planned)
	})
}
