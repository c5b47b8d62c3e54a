package booking

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestWhatAVisitorSendsIsChecked(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("programs do not get past the form's guards", func(t *testing.T) {
		o := o.again(t, nil)
		v := o.Visitor()
		fresh := v.Get("/booking/slots?service=" + o.service).Is(200).Text("token")
		start := o.at(2, "10:00")
		v.Post("/booking/book", o.visit(o.service, fresh, start, "a@example.com")).Fails(400, "svc_invalid_token")
		o.Travel(4 * time.Second)
		trapped := o.visit(o.service, fresh, start, "a@example.com")
		trapped["hp_url"] = "http://spam.example"
		v.Post("/booking/book", trapped).Fails(400, "svc_invalid_token")
		v.Post("/booking/book", o.visit(o.service, "", start, "a@example.com")).Fails(400, "svc_invalid_token")
		v.Post("/booking/book", o.visit(o.service, fresh[:len(fresh)-2]+"AA", start, "a@example.com")).Fails(400, "svc_invalid_token")
		v.Post("/booking/book", o.visit(uuid.NewString(), fresh, start, "a@example.com")).Fails(400, "svc_invalid_token")
		other := o.admin.Post("/services", object{"name": "Other", "duration_min": 30, "staff": []int64{o.staff.UserID}}).Is(201).Text("id")
		v.Post("/booking/book", o.visit(other, fresh, start, "a@example.com")).Fails(400, "svc_invalid_token")
		o.Travel(13 * time.Hour)
		v.Post("/booking/book", o.visit(o.service, fresh, start, "a@example.com")).Fails(400, "svc_invalid_token")
		require.Empty(t, o.admin.Get("/appointments").Is(200).Items())
		require.Empty(t, o.Events(proto.ContactsCommandTopic))
	})
	t.Run("the details of the visitor are checked", func(t *testing.T) {
		o := o.again(t, nil)
		token := o.token(o.service)
		for name, values := range map[string]object{
			"contact.email": {"first_name": "A"},
			"values.x":      {"email": "a@example.com", "x": "y"},
			"phone":         {"email": "a@example.com", "phone": strings.Repeat("1", 51)},
			"first_name":    {"email": "a@example.com", "first_name": 7},
			"last_name":     {"email": "a@example.com", "last_name": object{"a": 1}},
			"message":       {"email": "a@example.com", "message": []string{"a"}},
		} {
			visit := o.visit(o.service, token, o.at(2, "10:00"), "")
			visit["values"] = values
			params, _ := o.Visitor().Post("/booking/book", visit).Fails(400, "svc_invalid_param").Field("data.params").(object)
			require.Contains(t, params, "values."+strings.TrimPrefix(name, "values."), "%v", values)
		}
		for _, email := range []string{"x", "a@b", "a b@example.com", "a@example.com\nBcc: b@example.com", "<a@example.com>"} {
			o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), email)).Fails(400, "svc_invalid_param")
		}
		visit := o.visit(o.service, token, o.at(2, "10:00"), "a@example.com")
		visit["values"].(object)["message"] = "See you\nsoon"
		o.Visitor().Post("/booking/book", visit).Is(201)
		require.Equal(t, "See you\nsoon", o.admin.Get("/appointments").Is(200).Text("items.0.notes"))
	})
	t.Run("a details form is asked and its answers go to forms", func(t *testing.T) {
		o := o.again(t, nil)
		o.SendSample("contacts.field/field.created", func(e *apptest.Event) {
			data := e.Data.(object)
			data["entity"], data["key"], data["type"] = "contact", "size", "number"
		})
		o.SendSample("forms.form/form.created", func(e *apptest.Event) {
			e.Key = "7"
			data := e.Data.(object)
			data["id"] = 7
			data["status"] = "publish"
			data["definition"].(object)["elements"] = []object{
				{"id": "mail", "type": "field", "target": "contact.email", "required": true},
				{"id": "name", "type": "field", "target": "contact.last_name", "required": true},
				{"id": "why", "type": "field", "target": "submission.fields.reason", "options": []string{"pain", "check"}},
				{"id": "size", "type": "field", "target": "contact.fields.size"},
				{"id": "ok", "type": "consent", "text": "I agree.", "purpose": "privacy", "required": true},
			}
			data["definition"].(object)["notify"] = object{"emails": []string{"boss@example.com"}, "owner": false}
		})
		o.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "8", Version: 1, Data: object{"id": 8, "status": "publish", "definition": object{"elements": []object{}}}})
		o.admin.Patch("/services/"+o.service, object{"form_id": 99}).Fails(404, "svc_not_found")
		o.admin.Patch("/services/"+o.service, object{"form_id": 8}).Fails(400, "svc_invalid_param")
		o.admin.Patch("/settings/booking", object{"form_id": 8}).Fails(400, "svc_invalid_param")
		require.EqualValues(t, 7, o.admin.Patch("/settings/booking", object{"form_id": 7}).Is(200).Field("form_id"))
		list := o.Visitor().Get("/booking/services").Is(200)
		require.EqualValues(t, 7, list.Field("items.0.form.id"))
		require.NotContains(t, list.Body, "boss@example.com")

		token := o.token(o.service)
		visit := o.visit(o.service, token, o.at(2, "10:00"), "")
		visit["values"] = object{"mail": "a@example.com", "contact.last_name": "Claes", "why": "fun", "ok": false}
		params, _ := o.Visitor().Post("/booking/book", visit).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Len(t, params, 2)
		require.Contains(t, params, "values.why")
		require.Contains(t, params, "values.ok")
		visit["values"] = object{"mail": "a@example.com", "contact.last_name": "Claes", "why": "pain", "size": 42, "ok": true}
		o.Visitor().Post("/booking/book", visit).Is(201)

		a := o.admin.Get("/appointments").Is(200)
		submission := a.Text("items.0.submission.id")
		require.NotEmpty(t, submission)
		var record proto.RecordSubmission
		commands := o.Events(proto.FormsCommandTopic)
		require.Len(t, commands, 1)
		require.NoError(t, protobuf.Unmarshal(commands[0].GetData(), &record))
		require.Equal(t, submission, record.GetSubmissionId())
		require.EqualValues(t, 7, record.GetFormId())
		require.Equal(t, a.Text("items.0.contact.id"), record.GetContactId())
		require.Equal(t, a.Text("items.0.id"), record.GetAppointmentId())
		var values object
		require.NoError(t, json.Unmarshal(record.GetValues(), &values))
		require.Equal(t, "pain", values["why"])
		require.Empty(t, o.Events(proto.ContactsCommandTopic), "forms asks for the contact, with the consents")
		real := o.contact(0, "a@example.com")
		answer := object{"origin": "submission", "origin_id": submission, "requested_id": record.GetContactId(), "contact_id": real, "result": "unchanged"}
		o.SendSample("contacts.contact/contact.ensured", func(e *apptest.Event) {
			e.Key, e.Version, e.Data.(object)["id"], e.Extra = real, 2, real, answer
		})
		o.Settle()
		require.Equal(t, real, o.appointment(record.GetAppointmentId()).Text("contact.id"))
		// The address that was typed is another contact's by now: only what was booked with it moves.
		other, stays := o.contact(0), o.book(real, o.at(4, "10:00")).Is(201).Text("id")
		answer["requested_id"], answer["contact_id"] = real, other
		o.SendSample("contacts.contact/contact.ensured", func(e *apptest.Event) {
			e.Key, e.Version, e.Data.(object)["id"], e.Extra = other, 2, other, answer
		})
		o.Settle()
		require.Equal(t, other, o.appointment(record.GetAppointmentId()).Text("contact.id"))
		require.Equal(t, real, o.appointment(stays).Text("contact.id"))

		o.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormDeleted, Key: "7", Version: 9, Data: object{"id": 7, "status": "publish", "definition": object{"elements": []object{}}}})
		o.Settle()
		require.Nil(t, o.Visitor().Get("/booking/services").Is(200).Field("items.0.form"))
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "11:00"), "b@example.com")).Is(201)
		o.SendSample("forms.form/form.restored", func(e *apptest.Event) { e.Key, e.Version, e.Data.(object)["id"] = "7", 10, 7 })
		o.Settle()
		require.EqualValues(t, 7, o.Visitor().Get("/booking/services").Is(200).Field("items.0.form.id"), "it comes back with the form")
	})
	t.Run("who is called gives a number", func(t *testing.T) {
		o := o.again(t, object{"location_type": "phone"})
		token := o.token(o.service)
		visit := o.visit(o.service, token, o.at(2, "10:00"), "a@example.com")
		delete(visit["values"].(object), "phone")
		params, _ := o.Visitor().Post("/booking/book", visit).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Contains(t, params, "values.contact.phone")
		visit["values"].(object)["phone"] = "0470 11 22 33"
		o.Visitor().Post("/booking/book", visit).Is(201)

		o.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "7", Version: 1, Data: object{"id": 7, "status": "publish",
			"definition": object{"elements": []object{{"id": "email", "type": "field", "target": "contact.email", "required": true}}}}})
		o.Settle()
		o.admin.Patch("/settings/booking", object{"form_id": 7}).Is(200)
		visit = o.visit(o.service, token, o.at(2, "11:00"), "")
		visit["values"] = object{"email": "a@example.com"}
		params, _ = o.Visitor().Post("/booking/book", visit).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Contains(t, params, "location")
		visit["location"] = " 0470 44 55 66 "
		require.Equal(t, "0470 44 55 66", o.Visitor().Post("/booking/book", visit).Is(201).Text("location"))
	})
	t.Run("answers that no submission can hold are refused before the booking", func(t *testing.T) {
		o := o.again(t, nil)
		elements := []object{{"id": "email", "type": "field", "target": "contact.email", "required": true}}
		for i := range 12 {
			elements = append(elements, object{"id": path("q%d", i), "type": "field", "target": path("submission.fields.q%d", i), "multiline": true})
		}
		o.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "7", Version: 1, Data: object{"id": 7, "status": "publish", "definition": object{"elements": elements}}})
		o.Settle()
		o.admin.Patch("/settings/booking", object{"form_id": 7}).Is(200)
		book := func(at, letter string, fields int) *apptest.Answer {
			values := object{"email": "a@example.com"}
			for i := range fields {
				values[path("q%d", i)] = strings.Repeat(letter, 9000)
			}
			visit := o.visit(o.service, o.token(o.service), o.at(2, at), "")
			visit["values"] = values
			return o.Visitor().Post("/booking/book", visit)
		}
		kept := func() (n int) {
			for _, c := range o.Events(proto.FormsCommandTopic) {
				var record proto.RecordSubmission
				require.NoError(t, protobuf.Unmarshal(c.GetData(), &record))
				require.LessOrEqual(t, len(record.GetValues()), 128<<10)
				n++
			}
			return n
		}
		book("10:00", "<", 12).Is(201)
		book("11:00", "<", 15).Fails(400, "svc_invalid_param")
		book("11:00", "😀", 4).Fails(413, "svc_too_large")
		book("11:00", "\u2028", 5).Fails(413, "svc_too_large")
		require.Equal(t, 1, kept())
		require.Len(t, o.admin.Get("/appointments").Is(200).Items(), 1)
	})
	t.Run("consent is given to the words that the client saw", func(t *testing.T) {
		o := o.again(t, nil)
		version := int64(0)
		form := func(label, words string) {
			version++
			o.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormUpdated, Key: "7", Version: version, Data: object{"id": 7, "status": "publish",
				"definition": object{"elements": []object{
					{"id": "email", "type": "field", "target": "contact.email", "required": true, "label": label},
					{"id": "ok", "type": "consent", "text": words, "required": true, "purpose": "privacy"}}}}})
			o.Settle()
		}
		form("Email", "You may call me.")
		o.admin.Patch("/settings/booking", object{"form_id": 7}).Is(200)
		book := func(token, at string) *apptest.Answer {
			visit := o.visit(o.service, token, o.at(2, at), "")
			visit["values"] = object{"email": "a@example.com", "ok": true}
			return o.Visitor().Post("/booking/book", visit)
		}
		token := o.token(o.service)
		book(token, "10:00").Is(201)
		form("Your address", "You may call me.")
		book(token, "11:00").Is(201) // other words may change
		form("Your address", "You may call me day and night.")
		book(token, "12:00").Fails(400, "svc_invalid_token")
		book(o.token(o.service), "12:00").Is(201)
	})
}

func TestVisitorsAreLimitedByTheirAddress(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, func(c *app.Config) { c.RateFactor = 1 })
	v := o.Visitor().With("X-Forwarded-For", "192.0.2.1")
	for range 5 {
		v.Post("/booking/book", o.visit(o.service, "x", o.at(2, "10:00"), "a@example.com")).Fails(400, "svc_invalid_token")
	}
	limited := v.Post("/booking/book", o.visit(o.service, "x", o.at(2, "10:00"), "a@example.com")).Fails(429, "svc_rate_limited")
	require.NotEmpty(t, limited.Header.Get("Retry-After"))
	o.Visitor().With("X-Forwarded-For", "192.0.2.2").Post("/booking/book", o.visit(o.service, "x", o.at(2, "10:00"), "a@example.com")).Fails(400, "svc_invalid_token")
	for range 10 {
		v.Post("/booking/manage", object{"token": "x"}).Fails(400, "svc_invalid_token")
	}
	v.Post("/booking/manage/cancel", object{"token": "x"}).Fails(429, "svc_rate_limited")
}

func TestWhatVisitorsMayDo(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("visitors see only what is theirs", func(t *testing.T) {
		o := o.again(t, object{"price": "45.50", "description": "First talk", "buffer_before": 15})
		o.admin.Post("/services", object{"name": "Internal", "duration_min": 30, "bookable_online": false}).Is(201)
		archived := o.admin.Post("/services", object{"name": "Old", "duration_min": 30}).Is(201).Text("id")
		o.admin.Delete("/services/"+archived, nil).Is(200)
		list := o.Visitor().Get("/booking/services").Is(200)
		require.Len(t, list.Items(), 1)
		require.Equal(t, "Praktijk Jansen", list.Text("business"))
		require.Equal(t, "45.50", list.Text("items.0.price"))
		require.Equal(t, fmt.Sprintf("User %d", o.staff.UserID), list.Text("items.0.staff.0.name"))
		require.NotContains(t, list.Body, "buffer")
		o.Visitor().Get("/booking/slots?service="+archived).Fails(404, "svc_not_found")
		o.Visitor().Get("/booking/slots").Fails(400, "svc_invalid_param")
		o.Visitor().Get("/appointments").Fails(401, "svc_unauthorized")
		o.Visitor().With("Cookie", "svc_session=stale").Get("/booking/services").Is(200)
	})
	t.Run("reviewed bookings wait for the team", func(t *testing.T) {
		o := o.again(t, object{"confirmation": "review"})
		token := o.token(o.service)
		booked := o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "a@example.com")).Is(201)
		require.Equal(t, "pending", booked.Text("status"))
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "b@example.com")).Fails(409, "svc_slot_taken")
		m := o.lastMail("a@example.com")
		require.Empty(t, m.GetCalendar())
		link := linkIn(t, m)
		require.Equal(t, "pending", o.Visitor().Post("/booking/manage/reschedule", object{"token": link, "starts_at": stamp(o.at(2, "11:00"))}).Is(200).Text("status"))
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "b@example.com")).Is(201)
	})
	t.Run("visitors keep notice and horizon which the team does not", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"min_notice_min": 3 * 24 * 60, "max_advance_days": 10}).Is(200)
		token := o.token(o.service)
		contact := o.contact(0)
		for day, ok := range map[int]bool{2: false, 5: true, 12: false} {
			path := fmt.Sprintf("slots?service=%s&from=%s&to=%[2]s", o.service, o.at(day, "10:00").In(o.Kit.Config.Zone).Format(time.DateOnly))
			require.Equal(t, ok, len(o.Visitor().Get("/booking/"+path).Is(200).Items()) > 0, day)
			require.NotEmpty(t, o.admin.Get("/"+path).Is(200).Items(), day)
			answer := o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(day, "10:00"), "a@example.com"))
			if ok {
				answer.Is(201)
			} else {
				answer.Fails(409, "svc_slot_taken")
			}
			o.book(contact, o.at(day, "11:00")).Is(201)
		}
		o.admin.Patch("/services/"+o.service, object{"min_notice_min": 0, "max_advance_days": 20}).Is(200)
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(12, "10:00"), "b@example.com")).Is(201)
	})
	t.Run("one client holds at most so many bookings", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"max_open_bookings": 2}).Is(200)
		token := o.token(o.service)
		book := func(hour, email string) *apptest.Answer {
			return o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, hour), email))
		}
		book("09:00", "a@example.com").Is(201)
		book("10:00", "A@EXAMPLE.com").Is(201)
		require.Equal(t, "max_open_bookings", book("11:00", "a@example.com").Fails(409, "svc_conflict").Text("data.reason"))
		for _, hour := range []string{"03:00", "09:00"} {
			near := func(email string) any {
				return book(hour, email).Fails(409, "svc_slot_taken").Field("data.alternatives")
			}
			require.Equal(t, near("nobody@example.com"), near("a@example.com"), "a time that nobody can have says nothing of an address")
		}
		book("11:00", "b@example.com").Is(201)
		o.Visitor().Post("/booking/manage/cancel", object{"token": linkIn(t, o.lastMail("a@example.com"))}).Is(200)
		book("12:00", "a@example.com").Is(201)
		require.Len(t, o.admin.Get("/appointments").Is(200).Items(), 4)
		contact := o.admin.Get("/appointments?status=cancelled").Is(200).Text("items.0.contact.id")
		o.book(contact, o.at(2, "13:00")).Is(201)
	})
	t.Run("clients change in time and only if they may", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"cancel_notice_hours": 48, "late_cancel_text": "Ring us."}).Is(200)
		token := o.token(o.service)
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(4, "10:00"), "a@example.com")).Is(201)
		link := linkIn(t, o.lastMail("a@example.com"))
		o.admin.Patch("/settings/booking", object{"client_changes": false}).Is(200)
		require.Equal(t, "changes_off", o.Visitor().Post("/booking/manage/cancel", object{"token": link}).Fails(409, "svc_conflict").Text("data.reason"))
		o.admin.Patch("/settings/booking", object{"client_changes": true}).Is(200)
		o.Visitor().Post("/booking/manage/reschedule", object{"token": link, "starts_at": stamp(o.at(4, "08:00"))}).Fails(409, "svc_slot_taken")
		o.Travel(3 * 24 * time.Hour)
		late := o.Visitor().Post("/booking/manage/cancel", object{"token": link}).Fails(409, "svc_conflict")
		require.Equal(t, "too_late", late.Text("data.reason"))
		require.Equal(t, "Ring us.", late.Text("message"))
		o.Visitor().Post("/booking/manage", object{"token": link}).Is(200)
	})
	t.Run("a service at the client's needs the address", func(t *testing.T) {
		o := o.again(t, object{"location_type": "client"})
		visit := o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "a@example.com")
		params, _ := o.Visitor().Post("/booking/book", visit).Fails(400, "svc_invalid_param").Field("data.params").(object)
		require.Contains(t, params, "location")
		visit["location"] = "Veldstraat 5"
		require.Equal(t, "Veldstraat 5", o.Visitor().Post("/booking/book", visit).Is(201).Text("location"))
	})
	t.Run("a repeated booking with its key is made once", func(t *testing.T) {
		o := o.again(t, nil)
		visit := o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "a@example.com")
		v := o.Visitor().With("Idempotency-Key", "one-click")
		first := v.Post("/booking/book", visit).Is(201)
		require.Equal(t, first.Body, v.Post("/booking/book", visit).Is(201).Body)
		require.Len(t, o.admin.Get("/appointments").Is(200).Items(), 1)
		require.Len(t, o.mails("a@example.com"), 1)
	})
	t.Run("a known address is the known contact", func(t *testing.T) {
		o := o.again(t, nil)
		known := o.contact(0, "Known@example.com")
		token := o.token(o.service)
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "known@EXAMPLE.com")).Is(201)
		require.Equal(t, known, o.admin.Get("/appointments").Is(200).Text("items.0.contact.id"))
		require.Equal(t, "An Peeters", o.admin.Get("/appointments").Is(200).Text("items.0.contact.name"))
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "11:00"), "new@example.com")).Is(201)
		o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "12:00"), "new@example.com")).Is(201)
		items := o.admin.Get("/appointments").Is(200).Items()
		require.Equal(t, items[1]["contact"], items[2]["contact"])
		require.NotEqual(t, items[0]["contact"], items[1]["contact"])
	})
}
