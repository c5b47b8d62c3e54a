package booking

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestEachChangeIsRehearsedAsItHappens(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	admin := o.admin
	does := admin.Rehearsing()
	staff := fmt.Sprint("/staff/", o.staff.UserID)
	client := o.contact(o.staff.UserID)

	service := "/services/" + does.Post("/services", object{"name": "Talk", "duration_min": 30, "staff": []int64{o.staff.UserID}}).Is(201).Text("id")
	does.Patch(service, object{"name": "Long talk"}).Is(200)
	does.Patch("/settings/booking", object{"terms_text": "Be on time."}).Is(200)
	does.Put(staff+"/hours", object{"hours": everyDay}).Is(200)
	does.Patch(staff, object{"name": "Dora", "meeting_url": "https://meet.example.com/dora"}).Is(200)

	book := func(day int, clock string) string {
		return "/appointments/" + does.Post("/appointments", object{"service": o.service, "staff": o.staff.UserID, "contact": client, "starts_at": stamp(o.at(day, clock))}).Is(201).Text("id")
	}
	first := book(3, "09:00")
	does.Patch(first, object{"notes": "rings twice"}).Is(200)
	does.Post(first+"/reschedule", object{"starts_at": stamp(o.at(3, "11:00"))}).Is(200)
	does.Post(first+"/place", object{"location_type": "online", "meeting_url": "https://meet.example.com/x"}).Is(200)
	mailed := admin.With("Prefer", "dry-run").Post(first+"/cancel", object{"reason": "ill"}).Is(200)
	require.NotEmpty(t, mailed.Field("effects.mails"), "the client hears of it")
	require.NotContains(t, mailed.Text("effects.mails.0.text"), "http")
	require.Equal(t, proto.KindAppointmentCancelled, mailed.Text("effects.events.0.event"))
	does.Post(first+"/cancel", object{"reason": "ill"}).Is(200)

	fourth := o.at(4, "09:00")
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), fourth, "victim@example.com")).Is(201)
	does.Post("/appointments/"+admin.Get("/appointments?from="+fourth.Format(time.DateOnly)).Is(200).Text("items.0.id")+"/spam", nil).Is(200)

	request := func(clock string) string {
		return "/appointments/" + admin.Post("/appointments", object{"service": o.service, "staff": o.staff.UserID, "contact": client, "starts_at": stamp(o.at(2, clock)), "status": "pending"}).Is(201).Text("id")
	}
	does.Post(request("10:00")+"/decline", object{"reason": "no"}).Is(200)
	confirmed := request("12:00")
	does.Post(confirmed+"/confirm", nil).Is(200)
	o.Travel(o.at(2, "13:30").Sub(o.Now()))
	does.Post(confirmed+"/complete", nil).Is(200)
	does.Post(confirmed+"/reopen", nil).Is(200)
	does.Post(confirmed+"/no-show", nil).Is(200)

	does.Post("/closures/holidays", object{"year": o.Now().Year() + 1}).Is(200)
	does.Put("/services/order", object{"services": []string{service[len("/services/"):], o.service}}).Is(200)
	day := o.at(20, "12:00").Format(time.DateOnly)
	off := does.Post("/closures", object{"date_from": day}).Is(201).Field("id")
	does.Delete(fmt.Sprint("/exceptions/", off), nil).Is(204)
	does.Post(staff+"/exceptions", object{"date_from": day, "start": "10:30", "end": "12:00", "label": "Dentist"}).Is(201)
	person := o.AsSession("site_admin").Rehearsing()
	person.Post(staff+"/calendar-feed", object{"details": "busy"}).Is(201)
	person.Delete(staff+"/calendar-feed", nil).Is(204)
	calendar := staff + "/calendars/" + does.Post(staff+"/calendars", object{"kind": "ics", "name": "Mine", "url": "https://calendar.example/a.ics"}).Is(201).Text("id")
	does.Patch(calendar, object{"name": "Mine at home"}).Is(200)
	does.Delete(calendar, nil).Is(204)

	does.Delete(service, nil).Is(200)
	does.Delete(fmt.Sprintf("%s?successor=%d", staff, admin.UserID), nil).Is(200)
	require.NotEmpty(t, o.Events(proto.StaffTopic))
	o.CheckRehearsals()
}
