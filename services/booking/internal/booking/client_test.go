package booking

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/mails"
)

// What visitors and clients may expect of a booking: their own words, their own language, their own links.

func (o *office) appointment(id string) *apptest.Answer {
	o.t.Helper()
	return o.admin.Get("/appointments/" + id).Is(200)
}

// correct says that contacts has another address for a contact.
func (o *office) correct(contact, email string, version int64) {
	o.t.Helper()
	o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: contact, Version: version,
		Data: object{"id": contact, "first_name": "An", "last_name": "Peeters", "email": email, "phone": "+32470000000"}})
	o.Settle()
}

// unfolded is a calendar file with its long lines joined.
func unfolded(m *proto.Mail) string {
	return strings.ReplaceAll(strings.ReplaceAll(string(m.GetCalendar()), "\r\n ", ""), `\n`, "\n")
}

func TestWhatClientsMayExpectOfABooking(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("a visitor's answer holds nothing of the contact", func(t *testing.T) {
		o := o.again(t, object{"location_type": "phone"})
		contact := o.contact(0, "an@example.com")
		token := o.token(o.service)
		visit := o.visit(o.service, token, o.at(2, "10:00"), "an@example.com")
		visit["values"].(object)["phone"] = "0499 88 77 66"
		booked := o.Visitor().Post("/booking/book", visit).Is(201)
		require.Equal(t, "0499 88 77 66", booked.Text("location"))
		one := o.admin.Get("/appointments?contact=" + contact).Is(200)
		require.Equal(t, "0499 88 77 66", one.Text("items.0.location"), "the number that was typed is the one to call")

		o.book(contact, o.at(2, "11:00")).Is(201)
		for _, secret := range []string{"+32470000000", "Peeters"} {
			require.NotContains(t, booked.Body, secret)
		}
		link := linkIn(t, o.lastMail("an@example.com"))
		require.NotContains(t, o.Visitor().Post("/booking/manage", object{"token": link}).Is(200).Body, "+32470000000")
		require.Equal(t, "+32470000000", o.admin.Get("/appointments?contact="+contact).Is(200).Text("items.1.location"), "the team calls the number it knows")
	})
	t.Run("an appointment that was completed keeps its time", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		id := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		o.Travel(o.at(2, "10:10").Sub(o.Now()))
		o.admin.Post("/appointments/"+id+"/complete", nil).Is(200)
		o.book(contact, o.at(0, "10:30"), object{"outside_hours": true}).Fails(409, "svc_slot_taken")
		o.admin.Patch("/settings/booking", object{"slot_step": 15}).Is(200)
		for _, slot := range o.admin.Get("/slots?service=" + o.service).Is(200).Items() {
			require.NotContains(t, []string{stamp(o.at(0, "10:15")), stamp(o.at(0, "10:30")), stamp(o.at(0, "10:45"))}, slot["starts_at"])
		}
		token := o.token(o.service)
		visit := o.visit(o.service, token, o.at(0, "10:30"), "v@example.com")
		o.Visitor().Post("/booking/book", visit).Fails(409, "svc_slot_taken")
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(0, "11:00"), "v@example.com")).Is(201)
		heir := o.As("staff")
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
		o.Travel(50 * time.Minute)
		o.book(contact, o.at(0, "10:00"), object{"outside_hours": true, "staff": o.staff.UserID}).Fails(409, "svc_slot_taken")
		later := o.book(contact, o.at(0, "12:00"), object{"outside_hours": true, "staff": o.staff.UserID}).Is(201).Text("id")
		over := object{"starts_at": stamp(o.at(0, "10:30")), "outside_hours": true}
		require.EqualValues(t, heir.UserID, o.admin.Post("/appointments/"+later+"/reschedule", over).Is(200).Field("staff.user_id"), "whose time is free")
		over["staff"] = o.staff.UserID
		o.admin.Post("/appointments/"+later+"/reschedule", over).Fails(409, "svc_slot_taken")
	})
	t.Run("nobody is mailed about what is over or did not change", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0, "c@example.com")
		past := o.book(contact, o.at(-3, "10:00"), object{"outside_hours": true}).Is(201).Text("id")
		o.admin.Post("/appointments/"+past+"/place", object{"location": "Elsewhere 4"}).Is(200)
		o.admin.Post("/appointments/"+past+"/reschedule", object{"starts_at": stamp(o.at(-3, "11:00")), "outside_hours": true}).Is(200)
		o.admin.Post("/appointments/"+past+"/cancel", nil).Is(200)
		require.Empty(t, o.mails("c@example.com"), "a visit that is recorded afterwards")

		id := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		before := o.appointment(id)
		for name, c := range map[string]struct {
			route string
			body  object
		}{
			"no place":         {"/place", object{}},
			"the same place":   {"/place", object{"location_type": "in_person", "location": ""}},
			"the same time":    {"/reschedule", object{"starts_at": stamp(o.at(2, "10:00"))}},
			"and person":       {"/reschedule", object{"starts_at": stamp(o.at(2, "10:00")), "staff": o.staff.UserID}},
			"in another zone":  {"/reschedule", object{"starts_at": o.at(2, "10:00").In(time.FixedZone("", 3600)).Format(time.RFC3339)}},
			"the time it left": {"/reschedule", object{"starts_at": stamp(o.at(2, "10:00")), "outside_hours": true}},
		} {
			t.Run(name, func(*testing.T) {
				o.admin.Post("/appointments/"+id+c.route, c.body).Is(200)
			})
		}
		link := linkIn(t, o.lastMail("c@example.com"))
		o.Visitor().Post("/booking/manage/reschedule", object{"token": link, "starts_at": stamp(o.at(2, "10:00"))}).Is(200)
		o.admin.Patch("/appointments/"+id, object{"notes": ""}).Is(200)
		require.Len(t, o.mails("c@example.com"), 1)
		require.Equal(t, before.Body, o.appointment(id).Body)
		require.Equal(t, []string{proto.KindAppointmentBooked}, o.kinds(id))
		o.Visitor().Post("/booking/manage", object{"token": link}).Is(200)
	})
	t.Run("an appointment online needs a link", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		online := object{"location_type": "online"}
		reason := func(a *apptest.Answer) string { t.Helper(); return a.Fails(409, "svc_conflict").Text("data.reason") }
		require.Equal(t, "no_meeting_link", reason(o.book(contact, o.at(2, "10:00"), online)))
		id := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		require.Equal(t, "no_meeting_link", reason(o.admin.Post("/appointments/"+id+"/place", online)))
		require.Equal(t, "in_person", o.appointment(id).Text("location_type"))
		o.admin.Patch(path("/staff/%d", o.staff.UserID), object{"meeting_url": "https://meet.example.com/w"}).Is(200)
		o.admin.Post("/appointments/"+id+"/place", online).Is(200)
		heir := o.As("staff")
		o.admin.Put(path("/staff/%d/hours", heir.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
		require.Equal(t, "no_meeting_link", reason(o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00")), "staff": heir.UserID})))
	})
	t.Run("a link dies with every change whoever has the address by then", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0, "c@example.com")
		id := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		link := linkIn(t, o.lastMail("c@example.com"))
		opens := func() bool { return o.Visitor().Post("/booking/manage", object{"token": link}).Status == 200 }
		require.True(t, opens())

		o.correct(contact, "", 2)
		require.False(t, opens(), "the address turned out to be somebody else's")
		o.correct(contact, "right@example.com", 3)
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00"))}).Is(200)
		link = linkIn(t, o.lastMail("right@example.com"))
		o.correct(contact, "Right@Example.com", 4)
		require.True(t, opens(), "the same address in another spelling")
		o.correct(contact, "stale@example.com", 3)
		require.True(t, opens(), "an event that was overtaken")
		o.exec(`update contact set email = '', email_key = ''`)
		o.admin.Post("/appointments/"+id+"/place", object{"location": "Elsewhere 4"}).Is(200)
		require.False(t, opens(), "a change that nobody could be mailed about")
	})
	// Before the news arrives that a contact has another address by now, somebody else books with the one that it had.
	t.Run("a link outlives a change that happened before its booking", func(t *testing.T) {
		o := o.again(t, nil)
		had := o.contact(0, "c@example.com")
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "c@example.com")).Is(201)
		before := linkIn(t, o.lastMail("c@example.com"))
		o.Travel(time.Minute)
		changed := o.Now()
		o.Travel(time.Second)
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "11:00"), "c@example.com")).Is(201)
		booked := o.admin.Get("/appointments?contact=" + had).Is(200).Text("items.1.id")
		visitors := linkIn(t, o.lastMail("c@example.com"))
		o.book(had, o.at(2, "12:00")).Is(201)
		teams := linkIn(t, o.lastMail("c@example.com"))

		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: had, Version: 2, At: changed,
			Data: object{"id": had, "first_name": "An", "last_name": "Peeters", "email": "now@example.com", "phone": ""}})
		o.Settle()
		o.Visitor().Post("/booking/manage", object{"token": before}).Fails(410, "svc_token_expired")
		o.Visitor().Post("/booking/manage", object{"token": teams}).Fails(410, "svc_token_expired")
		o.Visitor().Post("/booking/manage", object{"token": visitors}).Is(200)

		has := o.contact(0, "c@example.com")
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactEnsured, Key: has, Version: 2,
			Data:  object{"id": has, "first_name": "Bea", "last_name": "Maes", "email": "c@example.com", "phone": ""},
			Extra: object{"origin": "appointment", "origin_id": booked, "requested_id": had, "contact_id": has, "result": "created"}})
		o.Settle()
		require.Equal(t, has, o.appointment(booked).Text("contact.id"))
		o.Visitor().Post("/booking/manage/cancel", object{"token": visitors}).Is(200)
		require.Equal(t, proto.KindAppointmentCancelled, o.lastMail("c@example.com").GetKind())
	})
	t.Run("a link ends with a change in the second of its booking", func(t *testing.T) {
		o := o.again(t, nil)
		had := o.contact(0, "c@example.com")
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "c@example.com")).Is(201)
		second, err := time.Parse(time.RFC3339, o.admin.Get("/appointments?contact="+had).Is(200).Text("items.0.created_at"))
		require.NoError(t, err)
		o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactUpdated, Key: had, Version: 2, At: second,
			Data: object{"id": had, "first_name": "An", "last_name": "Peeters", "email": "now@example.com", "phone": ""}})
		o.Settle()
		o.Visitor().Post("/booking/manage", object{"token": linkIn(t, o.lastMail("c@example.com"))}).Fails(410, "svc_token_expired")
	})
	t.Run("clients are told when their appointment is handed over", func(t *testing.T) {
		o := o.again(t, nil)
		heir := o.As("staff")
		o.admin.Put(path("/staff/%d/hours", heir.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch(path("/staff/%d", heir.UserID), object{"name": "Dr. Heir"}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
		coming, moved, past := o.contact(0, "coming@example.com"), o.contact(0, "moved@example.com"), o.contact(0, "past@example.com")
		o.book(coming, o.at(2, "10:00"), object{"staff": o.staff.UserID}).Is(201)
		o.book(past, o.at(-2, "10:00"), object{"staff": o.staff.UserID, "outside_hours": true}).Is(201)
		first := linkIn(t, o.lastMail("coming@example.com"))
		id := o.book(moved, o.at(2, "11:00"), object{"staff": o.staff.UserID}).Is(201).Text("id")
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00")), "staff": heir.UserID}).Is(200)
		o.admin.Delete(path("/staff/%d?successor=%d", o.staff.UserID, heir.UserID), nil).Is(200)
		for _, email := range []string{"coming@example.com", "moved@example.com"} {
			m := o.lastMail(email)
			require.Equal(t, mails.HandedOver, m.GetKind())
			require.Contains(t, m.GetText(), "Dr. Heir")
			require.Contains(t, unfolded(m), "SEQUENCE:1")
			require.Equal(t, "REQUEST", m.GetCalendarMethod())
		}
		o.Visitor().Post("/booking/manage", object{"token": first}).Fails(410, "svc_token_expired")
		require.Empty(t, o.mails("past@example.com"))
		require.JSONEq(t, path(`{"staff":{"old":%d,"new":%d}}`, o.staff.UserID, heir.UserID), o.Changes("remove-staff")[0], "the audit log says who has them now")
	})
	t.Run("an appointment online is handed over with a link and says that it is another", func(t *testing.T) {
		o := o.again(t, object{"location_type": "online"})
		leaver, heir := o.As("staff"), o.As("staff")
		for person, link := range map[*apptest.Client]string{leaver: "https://meet.example.com/leaver", heir: ""} {
			o.admin.Put(path("/staff/%d/hours", person.UserID), object{"hours": everyDay}).Is(200)
			o.admin.Patch(path("/staff/%d", person.UserID), object{"meeting_url": link, "services": []string{o.service}}).Is(200)
		}
		o.book(o.contact(0, "own@example.com"), o.at(2, "10:00"), object{"staff": leaver.UserID, "meeting_url": "https://meet.example.com/own"}).Is(201)
		theirs := o.book(o.contact(0, "theirs@example.com"), o.at(2, "11:00"), object{"staff": leaver.UserID}).Is(201).Text("id")
		remove := func() *apptest.Answer {
			return o.admin.Delete(path("/staff/%d?successor=%d", leaver.UserID, heir.UserID), nil)
		}
		refused := remove().Fails(409, "svc_conflict")
		require.Equal(t, "no_meeting_link", refused.Text("data.reason"))
		require.Equal(t, []any{object{"id": theirs, "starts_at": stamp(o.at(2, "11:00"))}}, refused.Field("data.appointments"))
		o.admin.Patch(path("/staff/%d", heir.UserID), object{"meeting_url": "https://meet.example.com/heir"}).Is(200)
		remove().Is(200)
		require.Contains(t, o.lastMail("theirs@example.com").GetText(), "de link is een andere")
		require.Contains(t, o.lastMail("theirs@example.com").GetText(), "https://meet.example.com/heir")
		require.Contains(t, o.lastMail("own@example.com").GetText(), "Tijdstip en plaats blijven zoals ze zijn.")
	})
	t.Run("null for what cannot be null is refused by name", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
		for route, names := range map[string][]string{
			"PATCH /settings/booking": {"slot_step", "min_notice_min", "max_advance_days", "cancel_notice_hours", "reminder_enabled",
				"reminder_hours", "default_confirmation", "client_changes", "max_open_bookings", "request_expires_hours"},
			"PATCH /services/" + o.service: {"name", "duration_min", "buffer_before", "buffer_after", "location_type", "confirmation", "bookable_online",
				"sort_order", "staff", "archived"},
			path("PATCH /staff/%d", o.staff.UserID): {"name", "services"},
			"PATCH /appointments/" + id:             {"notes"},
		} {
			for _, name := range names {
				t.Run(route[:12]+" "+name, func(t *testing.T) {
					params, _ := o.admin.Raw(route, object{name: nil}).Fails(400, "svc_invalid_param").Field("data.params").(object)
					require.Contains(t, params, name)
				})
			}
		}
	})
}

func TestWhatTheMailsOfABookingSay(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("a request confirmed inside the reminder window is not reminded at once", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.book(o.contact(0, "c@example.com"), o.at(3, "10:00"), object{"status": "pending"}).Is(201).Text("id")
		o.Travel(o.at(2, "12:00").Sub(o.Now()))
		o.admin.Post("/appointments/"+id+"/confirm", nil).Is(200)
		o.run("reminders")
		require.Equal(t, proto.KindAppointmentConfirmed, o.lastMail("c@example.com").GetKind())
	})
	t.Run("mails about one appointment are in order, and a change takes the place of what waits", func(t *testing.T) {
		o := o.again(t, nil)
		id := o.book(o.contact(0, "c@example.com"), o.at(3, "10:00")).Is(201).Text("id")
		o.Travel(o.at(2, "12:00").Sub(o.Now()))
		o.run("reminders")
		o.admin.Post("/appointments/"+id+"/cancel", object{}).Is(200)
		var sent [][2]any
		for _, m := range o.mails("c@example.com") {
			require.Equal(t, "appointment/"+id, m.GetAbout())
			sent = append(sent, [2]any{m.GetKind(), m.GetReplaces()})
		}
		require.Equal(t, [][2]any{{proto.KindAppointmentBooked, true}, {mails.Reminder, false}, {proto.KindAppointmentCancelled, true}}, sent)
	})
	t.Run("mails are in the language of the page that the client booked on", func(t *testing.T) {
		o := o.again(t, nil)
		token := o.token(o.service)
		for i, c := range []struct{ language, subject, hello, button, reminder string }{
			{"en", "Your appointment is confirmed: Intake", "Hello Bea Maes,", "Change or cancel", "Reminder of your appointment"},
			{"nl", "Uw afspraak is bevestigd: Intake", "Dag Bea Maes,", "Wijzigen of annuleren", "Herinnering aan uw afspraak"},
			{"fr", "Votre rendez-vous est confirmé : Intake", "Bonjour Bea Maes,", "Modifier ou annuler", "Rappel de votre rendez-vous"},
			{"de", "Ihr Termin ist bestätigt: Intake", "Guten Tag Bea Maes,", "Ändern oder absagen", "Erinnerung an Ihren Termin"},
			{"", "Uw afspraak is bevestigd: Intake", "Dag Bea Maes,", "Wijzigen of annuleren", "Herinnering aan uw afspraak"}, // the business is Belgian
		} {
			t.Run("language "+c.language, func(t *testing.T) {
				email := c.language + "x@example.com"
				visit := o.visit(o.service, token, o.at(3, path("%02d:00", 9+i)), email)
				if c.language != "" {
					visit["language"] = c.language
				}
				o.Visitor().Post("/booking/book", visit).Is(201)
				m := o.lastMail(email)
				require.Equal(t, c.subject, m.GetSubject())
				require.Contains(t, m.GetText(), c.hello)
				require.Contains(t, m.GetText(), c.button)
			})
			defer func() {
				require.Contains(t, o.lastMail(c.language+"x@example.com").GetSubject(), c.reminder)
			}()
		}
		visit := o.visit(o.service, token, o.at(3, "15:00"), "x@example.com")
		visit["language"] = "it"
		o.Visitor().Post("/booking/book", visit).Fails(400, "svc_invalid_param")
		o.Travel(o.at(2, "16:30").Sub(o.Now()))
		o.run("reminders")
	})
	t.Run("the calendar file says where to meet and where to change", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0, "c@example.com")
		id := o.book(contact, o.at(2, "10:00"), object{"location_type": "online", "meeting_url": "https://meet.example.com/abc"}).Is(201).Text("id")
		m := o.lastMail("c@example.com")
		file := unfolded(m)
		require.Contains(t, file, "LOCATION:https://meet.example.com/abc")
		require.Contains(t, file, "URL:https://meet.example.com/abc")
		require.Contains(t, file, "/manage#token="+linkIn(t, m))
		o.admin.Post("/appointments/"+id+"/cancel", nil).Is(200)
		require.NotContains(t, unfolded(o.lastMail("c@example.com")), "/manage")
	})
	t.Run("a name carries no link into a mail", func(t *testing.T) {
		o := o.again(t, object{"location_type": "client"})
		visit := o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "victim@example.com")
		visit["values"].(object)["first_name"] = "You won: https://evil.example/now"
		visit["values"].(object)["last_name"] = "www.evil.example"
		visit["location"] = "See http://evil.example"
		o.Visitor().Post("/booking/book", visit).Is(201)
		m := o.lastMail("victim@example.com")
		for _, part := range []string{m.GetText(), m.GetHtml(), m.GetToName(), unfolded(m)} {
			require.NotContains(t, part, "evil.example")
			require.NotContains(t, part, "//evil")
		}
		require.Contains(t, m.GetText(), "You won")
	})
	t.Run("the logo heads the mails of a business that has one", func(t *testing.T) {
		o := o.again(t, nil)
		head := func(email string, hour int) string {
			o.book(o.contact(0, email), o.at(2, path("%02d:00", hour))).Is(201)
			return o.lastMail(email).GetHtml()
		}
		require.NotContains(t, head("a@example.com", 9), "<img")
		o.SetSite("portal", object{"path": "team", "logo_url": "https://jansen.example/_ui/settings/media/1-abc.png"})
		require.Contains(t, head("b@example.com", 10), `<img src="https://jansen.example/_ui/settings/media/1-abc.png" alt="Praktijk Jansen"`)
		o.SetSite("portal", object{"path": "team", "logo_url": nil})
		require.NotContains(t, head("c@example.com", 11), "<img")
	})
	t.Run("the mail offers a change only while clients may make one", func(t *testing.T) {
		o := o.again(t, nil)
		says := func(email string, hour int) string {
			o.book(o.contact(0, email), o.at(2, path("%02d:00", hour))).Is(201)
			return o.lastMail(email).GetText()
		}
		require.Contains(t, says("a@example.com", 9), "Wijzigen of annuleren")
		o.admin.Patch("/settings/booking", object{"cancel_notice_hours": 720}).Is(200)
		late := says("b@example.com", 10)
		require.NotContains(t, late, "Wijzigen")
		require.Contains(t, late, "/manage#token=", "there still is something to see")
		o.admin.Patch("/settings/booking", object{"cancel_notice_hours": 0, "client_changes": false}).Is(200)
		require.NotContains(t, says("c@example.com", 11), "Wijzigen")
	})
}

func TestAReminderHasItsLinkBesideTheOneBeforeAndComesAgainAfterALongMove(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	id := o.book(o.contact(0, "c@example.com"), o.at(5, "10:00")).Is(201).Text("id")
	first := linkIn(t, o.lastMail("c@example.com"))
	reminders := func() (n int) {
		o.run("reminders")
		for _, m := range o.mails("c@example.com") {
			if m.GetKind() == mails.Reminder {
				n++
			}
		}
		return n
	}
	o.Travel(o.at(4, "12:00").Sub(o.Now()))
	require.Equal(t, 1, reminders())
	second := linkIn(t, o.lastMail("c@example.com"))
	for _, link := range []string{first, second} {
		o.Visitor().Post("/booking/manage", object{"token": link}).Is(200)
	}
	move := func(days int, clock string) {
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(days, clock))}).Is(200)
	}
	move(2, "09:00") // by 23 hours, which is less than the 24 of the reminder
	o.Travel(o.at(1, "10:00").Sub(o.Now()))
	require.Equal(t, 1, reminders())
	move(5, "09:00")
	o.Travel(o.at(4, "10:00").Sub(o.Now()))
	require.Equal(t, 2, reminders())
	require.Equal(t, 2, reminders())
}

func TestRequestsThatNobodyAnswersExpire(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	request := object{"status": "pending"}
	old := o.book(o.contact(0, "old@example.com"), o.at(5, "10:00"), request).Is(201).Text("id")
	confirmed := o.book(o.contact(0), o.at(5, "11:00")).Is(201).Text("id")
	o.Travel(3 * time.Hour)
	o.run("requests")
	require.Equal(t, "pending", o.appointment(old).Text("status"), "off unless it is set")
	require.EqualValues(t, 0, o.admin.Get("/settings/booking").Is(200).Field("request_expires_hours"))
	for _, wrong := range []any{-1, 721, nil, "x"} {
		o.admin.Patch("/settings/booking", object{"request_expires_hours": wrong}).Fails(400, "svc_invalid_param")
	}
	o.admin.Patch("/settings/booking", object{"request_expires_hours": 2}).Is(200)
	o.run("requests")
	require.Equal(t, "pending", o.appointment(old).Text("status"), "the team has the hours that it was given")
	o.Travel(time.Hour)
	young := o.book(o.contact(0), o.at(5, "12:00"), request).Is(201).Text("id")
	o.admin.Patch("/settings/booking", object{"request_expires_hours": 2, "slot_step": 15}).Is(200)
	o.Travel(time.Hour)
	o.SetApp("booking", false)
	o.run("requests")
	o.SetApp("booking", true)
	require.Equal(t, "pending", o.appointment(old).Text("status"), "not while the app is off")
	o.run("requests")
	require.Equal(t, "declined", o.appointment(old).Text("status"))
	require.Equal(t, "pending", o.appointment(young).Text("status"))
	require.Equal(t, "confirmed", o.appointment(confirmed).Text("status"))
	require.Equal(t, proto.KindAppointmentDeclined, o.lastMail("old@example.com").GetKind())
	o.book(o.contact(0), o.at(5, "10:00")).Is(201)
	o.Travel(30 * time.Minute)
	o.run("requests")
	require.Equal(t, "pending", o.appointment(young).Text("status"))
	o.Travel(time.Hour)
	o.run("requests")
	require.Equal(t, "declined", o.appointment(young).Text("status"))
}

func TestTwoPeopleBehindOneAddressAreToldApart(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	contact := o.contact(0, "an@example.com") // An Peeters
	token := o.token(o.service)
	book := func(at, first, last, email string) object {
		visit := o.visit(o.service, token, o.at(2, at), email)
		visit["values"] = object{"first_name": first, "last_name": last, "email": email}
		answer := o.Visitor().Post("/booking/book", visit).Is(201)
		require.NotContains(t, answer.Body, "booked_for", "it would say whose address it is")
		items := o.admin.Get("/appointments").Is(200).Items()
		return items[slices.IndexFunc(items, func(a object) bool { return a["starts_at"] == stamp(o.at(2, at)) })]
	}
	own := book("10:00", "AN", "Péeters", "an@example.com")
	require.Nil(t, own["booked_for"], "case and accents do not count")
	child := book("11:00", "Lou", "Peeters https://evil.example", "an@example.com")
	require.Equal(t, "Lou Peeters https://evil.example", child["booked_for"])
	require.Equal(t, "An Peeters", child["contact"].(object)["name"])
	m := o.lastMail("an@example.com")
	require.Contains(t, m.GetText(), "Lou Peeters")
	require.NotContains(t, m.GetHtml(), "evil.example")
	require.Contains(t, unfolded(m), "Lou Peeters")

	fresh := book("12:00", "Zoë", "Claes", "new@example.com")
	require.Nil(t, fresh["booked_for"])
	requested := fresh["contact"].(object)["id"]
	real := o.contact(0, "other@example.com")
	o.SendSample("contacts.contact/contact.ensured", func(e *apptest.Event) {
		e.Key, e.Version = real, 2
		data := e.Data.(object)
		data["id"], data["first_name"], data["last_name"], data["email"] = real, "Tom", "Claes", "new@example.com"
		e.Extra = object{"origin": "appointment", "origin_id": fresh["id"], "requested_id": requested, "contact_id": real, "result": "unchanged"}
	})
	o.Settle()
	late := o.appointment(fresh["id"].(string))
	require.Equal(t, []any{real, "Zoë Claes"}, []any{late.Text("contact.id"), late.Text("booked_for")}, "contacts says later whose the address is")

	found := func(search string) (ids []any) {
		list := o.admin.Get("/appointments?search=" + url.QueryEscape(search)).Is(200)
		for _, a := range list.Items() {
			ids = append(ids, a["id"])
		}
		require.EqualValues(t, len(ids), list.Field("total"))
		return ids
	}
	require.Equal(t, []any{child["id"]}, found("lou PEETERS"))
	require.Equal(t, []any{own["id"], child["id"]}, found("an pee"))
	require.Equal(t, []any{fresh["id"]}, found("zoe"))
	require.Equal(t, []any{fresh["id"]}, found("tom claes"))
	require.Empty(t, found("nobody"))
	require.Equal(t, contact, child["contact"].(object)["id"])
}
