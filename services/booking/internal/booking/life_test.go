package booking

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	ical "github.com/emersion/go-ical"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
)

// triggers are the operations that change a status, with what they need and what comes of it.
var triggers = map[string]struct {
	from  []string
	to    string
	after bool // only once the appointment has started
}{
	"confirm":  {[]string{appointments.StatusPending}, appointments.StatusConfirmed, false},
	"decline":  {[]string{appointments.StatusPending}, appointments.StatusDeclined, false},
	"cancel":   {[]string{appointments.StatusPending, appointments.StatusConfirmed}, appointments.StatusCancelled, false},
	"complete": {[]string{appointments.StatusConfirmed}, appointments.StatusCompleted, true},
	"no-show":  {[]string{appointments.StatusConfirmed}, appointments.StatusNoShow, true},
	"spam":     {[]string{}, "", false}, // of what the team has booked
	"reopen":   {[]string{appointments.StatusCompleted, appointments.StatusNoShow, appointments.StatusCancelled}, appointments.StatusConfirmed, false},
}

func TestHowAnAppointmentLives(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("every transition is that of the interface and no other", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		for i, status := range []string{appointments.StatusPending, appointments.StatusConfirmed, appointments.StatusDeclined, appointments.StatusCancelled, appointments.StatusCompleted, appointments.StatusNoShow, "pending_payment"} {
			for trigger, rule := range triggers {
				for _, started := range []bool{false, true} {
					id := o.book(contact, o.at(1+i, "09:00"), object{"outside_hours": true}).Is(201).Text("id")
					o.exec(`update appointment set status = $2 where id = $1`, id, status)
					if started {
						o.exec(`update appointment set starts_at = $2, ends_at = $3 where id = $1`, id, o.at(-1, "10:00"), o.at(-1, "11:00"))
					}
					allowed := false
					for _, from := range rule.from {
						allowed = allowed || from == status
					}
					answer := o.admin.Post("/appointments/"+id+"/"+trigger, nil)
					if trigger == "spam" {
						require.Equal(t, "not_by_visitor", answer.Fails(409, "svc_conflict").Text("data.reason"))
						o.exec(`delete from appointment where id = $1`, id)
						continue
					}
					if trigger == "reopen" && status == appointments.StatusCancelled && started {
						require.Equal(t, "too_late", answer.Fails(409, "svc_conflict").Text("data.reason"))
						o.exec(`delete from appointment where id = $1`, id)
						continue
					}
					if allowed && (started || !rule.after) {
						require.Equal(t, rule.to, answer.Is(200).Text("status"), "%s of %s", trigger, status)
					} else {
						require.Equal(t, status, answer.Fails(409, "svc_invalid_status").Text("data.current"), "%s of %s", trigger, status)
					}
					o.exec(`delete from appointment where id = $1`, id)
				}
			}
			id := o.book(contact, o.at(1+i, "09:00")).Is(201).Text("id")
			o.exec(`update appointment set status = $2 where id = $1`, id, status)
			for route, body := range map[string]object{"reschedule": {"starts_at": stamp(o.at(1+i, "12:00"))}, "place": {"location": "Elsewhere 2"}} {
				answer := o.admin.Post("/appointments/"+id+"/"+route, body)
				if status == appointments.StatusPending || status == appointments.StatusConfirmed {
					require.Equal(t, status, answer.Is(200).Text("status"), "a %s keeps the status", route)
				} else {
					require.Equal(t, status, answer.Fails(409, "svc_invalid_status").Text("data.current"))
				}
			}
			o.exec(`delete from appointment where id = $1`, id)
		}
	})
	t.Run("what is over is taken back for a day, without a mail, unless somebody else has its time", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0, "ann@example.com")
		id := o.book(contact, o.at(-1, "10:00"), object{"outside_hours": true}).Is(201).Text("id")
		mailed := len(o.mails(""))
		path := "/appointments/" + id
		o.admin.Post(path+"/no-show", nil).Is(200)
		o.Travel(23 * time.Hour)
		require.Equal(t, "confirmed", o.admin.Post(path+"/reopen", nil).Is(200).Text("status"))
		o.admin.Post(path+"/complete", nil).Is(200)
		o.Travel(23 * time.Hour)
		o.admin.Patch(path, object{"notes": "A note is no change of the status."}).Is(200)
		o.Travel(2 * time.Hour)
		require.Equal(t, "too_late", o.admin.Post(path+"/reopen", nil).Fails(409, "svc_conflict").Text("data.reason"))
		require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentNoShow, proto.KindAppointmentReopened, proto.KindAppointmentCompleted, proto.KindAppointmentUpdated}, o.kinds(id))
		require.Len(t, o.mails(""), mailed)

		other := o.book(contact, o.at(-1, "14:00"), object{"outside_hours": true}).Is(201).Text("id")
		o.admin.Post("/appointments/"+other+"/no-show", nil).Is(200)
		o.book(contact, o.at(-1, "14:00"), object{"outside_hours": true}).Is(201)
		o.admin.Post("/appointments/"+other+"/reopen", nil).Fails(409, "svc_slot_taken")
	})
	t.Run("what a visitor booked as spam frees its time, and its address gets no mail", func(t *testing.T) {
		o := o.again(t, nil)
		token := o.token(o.service)
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "victim@example.com")).Is(201)
		id := o.admin.Get("/appointments").Is(200).Text("items.0.id")
		mailed := len(o.mails("victim@example.com"))
		marked := o.admin.Post("/appointments/"+id+"/spam", nil).Is(200)
		require.Equal(t, []string{"cancelled", "spam"}, []string{marked.Text("status"), marked.Text("cancel_reason")})
		require.Len(t, o.mails("victim@example.com"), mailed)
		require.Contains(t, o.kinds(id), proto.KindAppointmentCancelled)
		require.Equal(t, "cancelled", o.admin.Post("/appointments/"+id+"/spam", nil).Fails(409, "svc_invalid_status").Text("data.current"))
		o.book(o.contact(0), o.at(2, "10:00")).Is(201)

		o.admin.Patch("/services/"+o.service, object{"confirmation": "review"}).Is(200)
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(3, "10:00"), "victim@example.com")).Is(201)
		request := o.admin.Get("/appointments?status=pending").Is(200).Text("items.0.id")
		require.Equal(t, "declined", o.admin.Post("/appointments/"+request+"/spam", nil).Is(200).Text("status"))
	})
	t.Run("an appointment is as long as the team says, and never over another one", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		one := o.book(contact, o.at(2, "10:00"), object{"duration_min": 90}).Is(201)
		require.Equal(t, stamp(o.at(2, "11:30")), one.Text("ends_at"))
		o.book(contact, o.at(2, "13:00")).Is(201)
		path := "/appointments/" + one.Text("id") + "/reschedule"
		longer := o.admin.Post(path, object{"starts_at": stamp(o.at(2, "10:00")), "duration_min": 180}).Is(200)
		require.Equal(t, []string{stamp(o.at(2, "10:00")), stamp(o.at(2, "13:00"))}, []string{longer.Text("starts_at"), longer.Text("ends_at")})
		o.admin.Post(path, object{"starts_at": stamp(o.at(2, "10:00")), "duration_min": 181, "outside_hours": true}).Fails(409, "svc_slot_taken")
		moved := o.admin.Post(path, object{"starts_at": stamp(o.at(3, "09:00"))}).Is(200)
		require.Equal(t, stamp(o.at(3, "12:00")), moved.Text("ends_at"), "a move keeps the length")
		require.Len(t, o.kinds(one.Text("id")), 3)
	})
	t.Run("of two who decide at once one is told the status", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		for round := range 5 {
			id := o.book(contact, o.at(1+round, "10:00"), object{"status": "pending"}).Is(201).Text("id")
			answers := together(t, 6, func(i int) *apptest.Answer {
				return o.admin.Post("/appointments/"+id+"/"+[]string{"confirm", "decline"}[i%2], nil)
			})
			won := 0
			for i, a := range answers {
				if a.Status == 200 {
					won++
					continue
				}
				require.NotEqual(t, appointments.StatusPending, a.Fails(409, "svc_invalid_status").Text("data.current"), i)
			}
			require.Equal(t, 1, won)
			require.Len(t, o.kinds(id), 2)
		}
	})
	t.Run("a mail that cannot be sent holds nothing up", func(t *testing.T) {
		o := o.again(t, nil)
		none := o.contact(0, "")
		o.book(none, o.at(2, "10:00")).Is(201)
		odd := o.contact(0, "not an address")
		o.book(odd, o.at(2, "11:00")).Is(201)
		require.Empty(t, o.mails(""))
	})
	t.Run("an appointment keeps the service as it was", func(t *testing.T) {
		o := o.again(t, object{"buffer_after": 30})
		contact := o.contact(0)
		id := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		o.admin.Patch("/services/"+o.service, object{"name": "Renamed", "duration_min": 15, "buffer_after": 0, "location_details": "Moved 9"}).Is(200)
		one := o.admin.Get("/appointments/" + id).Is(200)
		require.Equal(t, "Intake", one.Text("service.name"))
		require.Equal(t, "Kerkstraat 1, Gent", one.Text("location"))
		moved := o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(3, "10:00"))}).Is(200)
		require.Equal(t, stamp(o.at(3, "11:00")), moved.Text("ends_at"))
		o.book(contact, o.at(3, "11:15")).Fails(409, "svc_slot_taken")
		o.book(contact, o.at(3, "11:30")).Is(201)
		o.admin.Delete("/services/"+o.service, nil).Is(200)
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(4, "10:00"))}).Is(200)
	})
	t.Run("the team books what is free", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		start := o.at(2, "10:00")
		body := o.book(contact, start, object{"notes": "bring the file"}).Is(201)
		require.Equal(t, "confirmed", body.Text("status"))
		require.Equal(t, "An Peeters", body.Text("contact.name"))
		require.Equal(t, "+32470000000", body.Text("contact.phone"))
		require.EqualValues(t, o.staff.UserID, body.Field("staff.user_id"))
		require.Nil(t, body.Field("submission"))
		taken := o.book(contact, start).Fails(409, "svc_slot_taken")
		alternatives, _ := taken.Field("data.alternatives").([]any)
		require.Len(t, alternatives, 5)
		for _, a := range alternatives {
			at, err := time.Parse(time.RFC3339, a.(object)["starts_at"].(string))
			require.NoError(t, err)
			o.book(contact, at).Is(201)
		}
		o.book(contact, o.at(2, "08:00")).Fails(409, "svc_slot_taken")
		o.book(contact, o.at(2, "08:00"), object{"outside_hours": true}).Is(201)
		o.book(contact, o.at(2, "08:30"), object{"outside_hours": true}).Fails(409, "svc_slot_taken")
		o.book(contact, o.at(-3, "10:00")).Fails(409, "svc_slot_taken")
		o.book(contact, o.at(-3, "10:00"), object{"outside_hours": true}).Is(201)

		o.book(uuid.NewString(), o.at(5, "10:00")).Fails(404, "svc_not_found")
		o.book(contact, o.at(5, "10:00"), object{"service": uuid.NewString()}).Fails(404, "svc_not_found")
		o.book(contact, o.at(5, "10:00"), object{"staff": o.admin.UserID}).Fails(400, "svc_invalid_param")
		o.book(contact, o.at(5, "10:00"), object{"staff": nil}).Is(201)
		o.book(contact, o.at(5, "10:00"), object{"starts_at": "2026-12-01T10:00:00"}).Fails(400, "svc_invalid_param")
		o.book(contact, o.at(5, "10:00"), object{"starts_at": "9999-12-31T23:59:59Z", "outside_hours": true}).Fails(400, "svc_invalid_param")
		o.book(contact, o.at(5, "10:00"), object{"starts_at": "2027-01-05T10:00:00.5Z"}).Fails(400, "svc_invalid_param")
		o.book(contact, o.at(5, "12:00"), object{"location_type": "client"}).Fails(400, "svc_invalid_param")
		o.book(contact, o.at(5, "12:00"), object{"location_type": "online", "meeting_url": "ftp://x"}).Fails(400, "svc_invalid_param")
		o.admin.Patch(fmt.Sprintf("/staff/%d", o.staff.UserID), object{"meeting_url": "https://meet.example.com/fixed"}).Is(200)
		require.Equal(t, "https://meet.example.com/fixed", o.book(contact, o.at(5, "12:00"), object{"location_type": "online"}).Is(201).Text("meeting_url"))
		require.Equal(t, "+32470000000", o.book(contact, o.at(5, "13:00"), object{"location_type": "phone"}).Is(201).Text("location"))
	})
	t.Run("a contact that is on its way is waited for", func(t *testing.T) {
		o := o.again(t, nil)
		id := uuid.NewString()
		// The call has to look before the contact is here.
		held := o.Begin()
		_, err := held.Exec(t.Context(), `lock table contact in access exclusive mode`)
		require.NoError(t, err)
		answer := apptest.Aside(t, func() *apptest.Answer { return o.book(id, o.at(2, "10:00")) })
		o.Waiting(1)
		require.NoError(t, held.Rollback(t.Context()))
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactCreated, Key: id, Version: 1, Data: object{"id": id, "first_name": "Late", "email": ""}})
		require.Equal(t, "Late", answer().Is(201).Text("contact.name"))
	})
	t.Run("a note is for the team and changes no calendar", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0, "c@example.com")
		id := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		require.Equal(t, "allergic to cats", o.admin.Patch("/appointments/"+id, object{"notes": "allergic to cats"}).Is(200).Text("notes"))
		require.Equal(t, "", o.admin.Patch("/appointments/"+id, object{"notes": ""}).Is(200).Text("notes"))
		o.admin.Patch("/appointments/"+id, object{}).Fails(400, "svc_invalid_param")
		o.admin.Patch("/appointments/"+id, object{"notes": strings.Repeat("x", 2001)}).Fails(400, "svc_invalid_param")
		require.Subset(t, o.Changes("update-appointment-note"), []string{`{"notes":{"old":"","new":"…"}}`, `{"notes":{"old":"…","new":""}}`}, "the audit log does not quote it")
		require.Len(t, o.mails("c@example.com"), 1)
		o.admin.Post("/appointments/"+id+"/cancel", nil).Is(200)
		require.Contains(t, string(o.lastMail("c@example.com").GetCalendar()), "SEQUENCE:1")
	})
	t.Run("a place fits its kind", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
		place := func(body object) *apptest.Answer { return o.admin.Post("/appointments/"+id+"/place", body) }
		place(object{"location_type": "client"}).Fails(400, "svc_invalid_param")
		require.Equal(t, "Dorpsplein 3", place(object{"location_type": "client", "location": " Dorpsplein 3 "}).Is(200).Text("location"))
		place(object{"location_type": "online", "meeting_url": "javascript:alert(1)"}).Fails(400, "svc_invalid_param")
		online := place(object{"location_type": "online", "meeting_url": "https://meet.example.com/1"}).Is(200)
		require.Equal(t, "", online.Text("location"))
		require.Equal(t, "https://meet.example.com/1", online.Text("meeting_url"))
		require.Equal(t, "+32470000000", place(object{"location_type": "phone"}).Is(200).Text("location"))
		require.Equal(t, "Kerkstraat 1, Gent", place(object{"location_type": "in_person"}).Is(200).Text("location"))
	})
}

func TestTheClientIsToldOfEachChangeWithOneCalendarEntry(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	contact := o.contact(0, "Client@Example.com")
	start := o.at(2, "10:00")
	id := o.book(contact, start, object{"status": "pending", "notes": "secret note"}).Is(201).Text("id")
	post := func(what string, body object) { o.admin.Post("/appointments/"+id+"/"+what, body).Is(200) }
	post("confirm", object{})
	post("reschedule", object{"starts_at": stamp(o.at(3, "11:00"))})
	post("place", object{"location_type": "online", "meeting_url": "https://meet.example.com/abc"})
	post("cancel", object{"reason": "secret reason"})

	all := o.mails("client@example.com")
	require.Len(t, all, 5)
	methods := []string{"", "REQUEST", "REQUEST", "REQUEST", "CANCEL"}
	uids, sequence := map[string]bool{}, -1
	links := map[string]bool{}
	for i, m := range all {
		require.Equal(t, methods[i], m.GetCalendarMethod(), m.GetSubject())
		require.NotContains(t, m.GetText()+m.GetHtml()+string(m.GetCalendar()), "secret")
		if i < 4 {
			links[linkIn(t, m)] = true
		} else {
			require.NotContains(t, m.GetText(), "/manage")
		}
		if methods[i] == "" {
			require.Empty(t, m.GetCalendar())
			continue
		}
		// Not the library that writes them.
		cal, err := ical.NewDecoder(bytes.NewReader(m.GetCalendar())).Decode()
		require.NoError(t, err)
		require.Equal(t, methods[i], cal.Props.Get(ical.PropMethod).Value)
		require.Len(t, cal.Events(), 1)
		e := cal.Events()[0]
		uids[e.Props.Get(ical.PropUID).Value] = true
		n, err := e.Props.Get(ical.PropSequence).Int()
		require.NoError(t, err)
		require.Greater(t, n, sequence)
		sequence = n
		require.Equal(t, "mailto:office@example.com", e.Props.Get(ical.PropOrganizer).Value)
		require.Equal(t, "mailto:client@example.com", e.Props.Get(ical.PropAttendee).Value)
	}
	require.Len(t, uids, 1)
	require.Len(t, links, 4, "each link is a new one")
	for link := range links {
		if link == linkIn(t, all[3]) {
			require.Equal(t, "cancelled", o.Visitor().Post("/booking/manage", object{"token": link}).Is(200).Text("status"))
		} else {
			o.Visitor().Post("/booking/manage", object{"token": link}).Fails(410, "svc_token_expired")
		}
	}
	o.Travel(40 * 24 * time.Hour)
	o.Visitor().Post("/booking/manage", object{"token": linkIn(t, all[3])}).Fails(410, "svc_token_expired")
	require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentConfirmed, proto.KindAppointmentRescheduled, proto.KindAppointmentPlaceChanged, proto.KindAppointmentCancelled}, o.kinds(id))
	for _, e := range o.Events(proto.AppointmentTopic) {
		require.NotContains(t, string(e.GetData()), "secret")
		require.NotContains(t, string(e.GetData()), "meet.example.com")
	}
}

func TestTheAuditLogShowsOldAndNewValuesOfAnAppointment(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
	o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": o.at(2, "11:00")}).Is(200)
	at := func(clock string) string { return o.at(2, clock).Format(time.RFC3339) }
	require.JSONEq(t, fmt.Sprintf(`{"starts_at":{"old":%q,"new":%q},"ends_at":{"old":%q,"new":%q}}`,
		at("10:00"), at("11:00"), at("11:00"), at("12:00")), o.Changes("reschedule-appointment")[0])
	o.admin.Post("/appointments/"+id+"/place", object{"location_type": "client", "location": "Dorpsplein 3"}).Is(200)
	require.JSONEq(t, `{"location_type":{"old":"in_person","new":"client"},"location":{"old":"","new":"…"}}`, o.Changes("change-appointment-place")[0], "a client may live there")
	o.admin.Post("/appointments/"+id+"/cancel", object{"reason": "ill"}).Is(200)
	require.JSONEq(t, `{"status":{"old":"confirmed","new":"cancelled"},"cancel_reason":{"old":"","new":"…"}}`, o.Changes("cancel-appointment")[0])
}

func TestTheAuditLogShowsOldAndNewWorkingHoursAndNames(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.staff.Put(fmt.Sprintf("/staff/%d/hours", o.staff.UserID), object{"hours": object{"1": [][]string{{"10:00", "12:00"}}}}).Is(200)
	require.Contains(t, strings.Join(o.Changes("update-staff"), " "), `"hours.1":{"old":[["09:00","17:00"]],"new":[["10:00","12:00"]]}`)
	o.staff.Patch(fmt.Sprintf("/staff/%d", o.staff.UserID), object{"name": "Doctor An"}).Is(200)
	require.Contains(t, strings.Join(o.Changes("update-staff"), " "), `"new":"Doctor An"`)
}
