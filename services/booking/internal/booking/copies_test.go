package booking

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

func TestAppointmentsFollowTheirContact(t *testing.T) {
	o := open9to5(t, nil)
	token := o.token(o.service)
	o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "a@example.com")).Is(201)
	a := o.admin.Get("/appointments").Is(200)
	id, provisional := a.Text("items.0.id"), a.Text("items.0.contact.id")

	// Somebody else was first with the address: contacts says who it really is.
	real := uuid.NewString()
	as := func(id, name string, version int64, extra object) func(e *apptest.Event) {
		return func(e *apptest.Event) {
			e.Key, e.Version = id, version
			data := e.Data.(object)
			data["id"], data["first_name"], data["last_name"], data["email"] = id, name, "", "a@example.com"
			if extra != nil {
				e.Extra = extra
			}
		}
	}
	o.SendSample("contacts.contact/contact.created", as(real, "Real", 1, nil))
	o.SendSample("contacts.contact/contact.ensured", as(real, "Real", 1,
		object{"origin": "appointment", "origin_id": id, "requested_id": provisional, "contact_id": real, "result": "unchanged"}))
	o.Settle()
	require.Equal(t, real, o.admin.Get("/appointments/"+id).Is(200).Text("contact.id"))
	require.Equal(t, "Real", o.admin.Get("/appointments/"+id).Is(200).Text("contact.name"))

	winner := o.contact(0)
	o.SendSample("contacts.contact/contact.merged", as(winner, "Winner", 2, object{"merged_id": real}))
	o.Settle()
	require.Equal(t, "Winner", o.admin.Get("/appointments/"+id).Is(200).Text("contact.name"))
	require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentUpdated, proto.KindAppointmentUpdated}, o.kinds(id))

	o.SendSample("contacts.contact/contact.updated", as(winner, "Stale", 1, nil))
	o.Settle()
	require.Equal(t, "Winner", o.admin.Get("/appointments/"+id).Is(200).Text("contact.name"))

	o.SendSample("contacts.contact/contact.erased", func(e *apptest.Event) { e.Key, e.Data.(object)["id"] = winner, winner })
	o.Settle()
	o.admin.Get("/appointments/"+id).Fails(404, "svc_not_found")
	kinds := o.kinds(id)
	require.Equal(t, "tombstone", kinds[len(kinds)-1])
	o.Visitor().Post("/booking/manage", object{"token": linkIn(t, o.lastMail("a@example.com"))}).Fails(400, "svc_invalid_token")
	o.Visitor().Post("/booking/book", o.visit(o.service, token, o.at(2, "10:00"), "b@example.com")).Is(201)
}

func TestATrashedContactIsNotBookedFor(t *testing.T) {
	o := open9to5(t, nil)
	id := o.contact(0, "t@example.com")
	o.Send(apptest.Event{Topic: proto.ContactTopic, Kind: proto.KindContactDeleted, Key: id, Version: 2, Data: object{"id": id, "first_name": "T",
		"email": "t@example.com", "deleted_at": stamp(o.Now())}})
	o.Settle()
	o.book(id, o.at(2, "10:00")).Fails(404, "svc_not_found")
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(2, "10:00"), "t@example.com")).Is(201)
	require.NotEqual(t, id, o.admin.Get("/appointments").Is(200).Text("items.0.contact.id"))
}

func TestAnErasedContactLeavesNothingInTheOutbox(t *testing.T) {
	o := open9to5(t, nil)
	id := o.contact(0)
	o.book(id, o.at(2, "10:00")).Is(201)
	require.NoError(t, o.Kit.Bus.Send(t.Context(), []db.Message{{Topic: proto.ContactTopic, Key: id}}))
	o.Settle()
	require.Empty(t, o.admin.Get("/appointments").Is(200).Items())
	var left int
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select (select count(*) from contact) + (select count(*) from manage_token)`).Scan(&left))
	require.Zero(t, left)
}

func TestEverythingSentLooksAsItsSampleSays(t *testing.T) {
	o := open9to5(t, nil)
	contact := o.contact(0)
	done := func(start string, triggers ...string) {
		id := o.book(contact, o.at(2, start), object{"status": "pending"}).Is(201).Text("id")
		for _, trigger := range triggers {
			if trigger == "complete" || trigger == "no-show" {
				o.exec(`update appointment set starts_at = starts_at - interval '7 days', ends_at = ends_at - interval '7 days' where id = $1`, id)
			}
			body := object{}
			switch trigger {
			case "reschedule":
				body["starts_at"] = stamp(o.at(3, start))
			case "place":
				body["location"] = "Elsewhere 4"
			}
			o.admin.Post("/appointments/"+id+"/"+trigger, body).Is(200)
		}
		o.admin.Patch("/appointments/"+id, object{"notes": "seen"}).Is(200)
	}
	done("09:00", "confirm", "reschedule", "place", "cancel")
	done("10:00", "decline")
	done("11:00", "confirm", "complete")
	done("12:00", "confirm", "no-show")
	o.Sample(proto.AppointmentTopic)

	o.admin.Patch("/services/"+o.service, object{"name": "Renamed"}).Is(200)
	o.admin.Delete("/services/"+o.service, nil).Is(200)
	o.admin.Patch("/settings/booking", object{"slot_step": 30}).Is(200)
	o.Sample(proto.ServiceTopic)

	o.admin.Patch(path("/staff/%d", o.staff.UserID), object{"name": "Dr. Wouters", "meeting_url": "https://meet.example.com/w"}).Is(200)
	o.admin.Delete(path("/staff/%d", o.staff.UserID), object{"successor": o.admin.UserID}).Is(200)
	o.Sample(proto.StaffTopic)
}

func TestWhoAsksOnWithTheNewestTimeSeesWhatWasCommittedLate(t *testing.T) {
	o := open9to5(t, nil)
	contact := o.contact(0)
	late := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
	soon := o.book(contact, o.at(2, "11:00")).Is(201).Text("id")
	seen := func(since string) (ids []any, newest string) {
		for _, a := range o.admin.Get("/appointments?updated_since=" + since).Is(200).Items() {
			ids, newest = append(ids, a["id"]), a["updated_at"].(string)
		}
		return ids, newest
	}
	tx, err := o.Kit.DB.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `update appointment set notes = 'late', updated_at = null where id = $1`, late)
	require.NoError(t, err)
	time.Sleep(1100 * time.Millisecond)
	o.admin.Patch("/appointments/"+soon, object{"notes": "soon"}).Is(200)
	_, newest := seen(stamp(time.Now().Add(-time.Hour)))
	require.NoError(t, tx.Commit(t.Context()))
	ids, _ := seen(newest)
	require.Subset(t, ids, []any{late, soon})
}
