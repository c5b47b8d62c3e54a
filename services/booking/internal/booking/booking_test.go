package booking

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

func TestTheOperationsAreThoseOfTheInterface(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service)
	apptest.CheckOperations(t, s.Parts.Ops)
	apptest.CheckExamples(t, s.Parts.Ops, "get-undo-steps-of-booking")
}

func TestAVisitorBooksMovesAndCancels(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	start := o.at(2, "10:00")
	booked := o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), start, "Bea@Example.com")).Is(201)
	require.Equal(t, "confirmed", booked.Text("status"))
	require.Equal(t, stamp(start), booked.Text("starts_at"))
	require.Equal(t, "Kerkstraat 1, Gent", booked.Text("location"))
	require.NotContains(t, booked.Body, "oken")

	list := o.admin.Get("/appointments").Is(200).Items()
	require.Len(t, list, 1)
	id, _ := list[0]["id"].(string)
	one := o.admin.Get("/appointments/" + id).Is(200)
	require.Equal(t, "Bea Maes", one.Text("contact.name"))
	require.Equal(t, "booking", one.Text("source"))
	require.EqualValues(t, 1, o.admin.Get("/appointments?source=booking").Is(200).Field("total"))
	require.EqualValues(t, 0, o.admin.Get("/appointments?source=app").Is(200).Field("total"))
	ensure := o.Events(proto.ContactsCommandTopic)
	require.Len(t, ensure, 1)
	require.Equal(t, "Bea Maes", ensure[0].GetActor().GetLabel())
	require.Equal(t, "booking", ensure[0].GetActor().GetChannel())

	first := o.lastMail("bea@example.com")
	require.Equal(t, "REQUEST", first.GetCalendarMethod())
	require.Contains(t, string(first.GetCalendar()), "SEQUENCE:0")
	link := linkIn(t, first)
	require.Equal(t, stamp(start), o.Visitor().Post("/booking/manage", object{"token": link}).Is(200).Text("starts_at"))

	moved := o.at(3, "11:00")
	o.Visitor().Post("/booking/manage/reschedule", object{"token": link, "starts_at": stamp(moved)}).Is(200)
	o.Visitor().Post("/booking/manage", object{"token": link}).Fails(410, "svc_token_expired")
	o.Visitor().Post("/booking/manage/cancel", object{"token": link}).Fails(410, "svc_token_expired")
	o.Visitor().Post("/booking/manage", object{"token": "nonsense"}).Fails(400, "svc_invalid_token")
	second := o.lastMail("bea@example.com")
	require.Contains(t, string(second.GetCalendar()), "SEQUENCE:1")
	link = linkIn(t, second)
	require.Equal(t, "cancelled", o.Visitor().Post("/booking/manage/cancel", object{"token": link, "reason": "ill"}).Is(200).Text("status"))
	require.Equal(t, "cancelled", o.Visitor().Post("/booking/manage/cancel", object{"token": link}).Fails(409, "svc_invalid_status").Text("data.current"))
	last := o.lastMail("bea@example.com")
	require.Equal(t, "CANCEL", last.GetCalendarMethod())
	require.NotContains(t, last.GetText(), "ill")
	require.Equal(t, "ill", o.admin.Get("/appointments/"+id).Is(200).Text("cancel_reason"))
	require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentRescheduled, proto.KindAppointmentCancelled}, o.kinds(id))
	for _, e := range o.Events(proto.AppointmentTopic) {
		require.NotContains(t, string(e.GetData()), "ill")
	}
}

func TestOfManyVisitorsOnOneSlotExactlyOneWins(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	token := o.token(o.service)
	start := o.at(2, "10:00")
	answers := together(t, 64, func(i int) *apptest.Answer {
		return o.Visitor().Post("/booking/book", o.visit(o.service, token, start, string(rune('a'+i%26))+stamp(time.Unix(int64(i), 0))[11:13]+"@example.com"))
	})
	won := 0
	for _, a := range answers {
		if a.Status == 201 {
			won++
			continue
		}
		alternatives, _ := a.Fails(409, "svc_slot_taken").Field("data.alternatives").([]any)
		require.Len(t, alternatives, 5)
	}
	require.Equal(t, 1, won)
}
