package booking

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/mails"
)

func (o *office) member(c *apptest.Client, user int64) object {
	o.t.Helper()
	for _, m := range c.Get("/staff").Is(200).Items() {
		if m["user_id"] == float64(user) {
			return m
		}
	}
	return nil
}

func TestTheStaffListShowsWhatTheCallerMayDo(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	boss := o.As("svc_admin")
	o.Role("editor", "all")
	o.As("editor")

	m := o.member(o.admin, o.staff.UserID)
	require.Equal(t, []any{o.service}, m["services"])
	require.Equal(t, []any{[]any{"09:00", "17:00"}}, m["hours"].(object)["1"])
	require.Equal(t, "staff", m["role"])
	require.Equal(t, "own", m["sees"])
	require.Equal(t, []any{"svc_view_contacts", "svc_edit_contacts", "svc_manage_bookings"}, m["access"])
	require.Equal(t, []any{"site_admin", "svc_admin", "staff"}, m["roles_you_can_give"])
	require.Equal(t, true, m["can_remove"])
	require.Equal(t, true, m["can_rename"])
	require.Equal(t, false, m["invited"])

	self := o.member(o.admin, o.admin.UserID)
	require.Equal(t, false, self["can_remove"])
	require.Empty(t, self["roles_you_can_give"])
	require.Equal(t, false, o.member(boss, o.admin.UserID)["can_remove"])
	require.Empty(t, o.member(boss, o.admin.UserID)["roles_you_can_give"])
	require.Equal(t, []any{"svc_admin", "staff"}, o.member(boss, o.staff.UserID)["roles_you_can_give"])
	require.Len(t, o.admin.Get("/staff").Is(200).Items(), 3, "only those with a permission")

	mine := o.staff.Get("/staff").Is(200).Items()
	require.Len(t, mine, 1)
	require.Equal(t, true, mine[0]["can_rename"])
	require.Equal(t, false, mine[0]["can_remove"])

	o.SetApp(appID, false)
	off := o.member(o.admin, o.staff.UserID)
	require.NotContains(t, off, "hours")
	require.NotContains(t, off, "services")
	o.admin.Patch(path("/staff/%d", o.staff.UserID), object{"name": "Still here"}).Is(200)
	o.admin.Get(path("/staff/%d/hours", o.staff.UserID)).Fails(404, "svc_no_route")
	o.SetApp(appID, true)
	require.Contains(t, o.member(o.admin, o.staff.UserID), "hours")
}

func TestWhatTheTeamChanges(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("staff change what is theirs and managers the rest", func(t *testing.T) {
		o := o.again(t, nil)
		o.Role("custom", "all", auth.ViewContacts, auth.ManageBookings)
		colleague := o.As("custom")
		profile := path("/staff/%d", o.staff.UserID)
		changed := o.staff.Patch(profile, object{"name": "Dr. Wouters", "meeting_url": "https://meet.example.com/w"}).Is(200)
		require.Equal(t, "Dr. Wouters", changed.Text("name"))
		require.Equal(t, "https://meet.example.com/w", changed.Text("meeting_url"))
		require.Equal(t, "", o.staff.Patch(profile, object{"meeting_url": ""}).Is(200).Text("meeting_url"))
		require.Equal(t, "Dr. Wouters", o.Visitor().Get("/booking/services").Is(200).Text("items.0.staff.0.name"))
		for _, body := range []object{{"name": " "}, {"name": ""}, {"name": nil}, {"meeting_url": "ftp://x"}, {"meeting_url": "x"}, {"services": "x"}} {
			o.staff.Patch(profile, body).Fails(400, "svc_invalid_param")
		}
		o.staff.Patch(profile, object{"services": []string{}}).Fails(403, "svc_forbidden")
		o.admin.Patch(profile, object{"services": []string{uuid.NewString()}}).Fails(404, "svc_not_found")
		second := o.admin.Post("/services", object{"name": "Second", "duration_min": 30}).Is(201).Text("id")
		require.Equal(t, []any{second}, o.admin.Patch(profile, object{"services": []string{second}}).Is(200).Field("services"))
		require.Empty(t, o.admin.Get("/services/"+o.service).Is(200).Field("staff"))
		require.Equal(t, []any{float64(o.staff.UserID)}, o.admin.Get("/services/"+second).Is(200).Field("staff"))

		require.Equal(t, "svc_manage_crm", colleague.Patch(profile, object{"name": "X"}).Fails(403, "svc_forbidden").Text("data.permission"))
		colleague.Put(profile+"/hours", object{"hours": object{}}).Fails(403, "svc_forbidden")
		colleague.Post(profile+"/exceptions", object{"date_from": "2027-01-04"}).Fails(403, "svc_forbidden")
		colleague.Post("/closures", object{"date_from": "2027-01-04"}).Fails(403, "svc_forbidden")
		o.staff.Post("/closures", object{"date_from": "2027-01-04"}).Fails(403, "svc_forbidden")
		o.staff.Patch(path("/staff/%d", colleague.UserID), object{"name": "X"}).Fails(404, "svc_not_found")
		o.admin.Patch("/staff/9999", object{"name": "X"}).Fails(404, "svc_not_found")
		o.admin.Patch("/staff/x", object{"name": "X"}).Fails(400, "svc_invalid_param")
	})
	t.Run("what is set to what it was publishes nothing", func(t *testing.T) {
		o := o.again(t, nil)
		profile := path("/staff/%d", o.staff.UserID)
		for _, change := range []func(){
			func() { o.admin.Patch(profile, object{"services": []string{o.service}}).Is(200) },
			func() { o.admin.Put(profile+"/hours", object{"hours": everyDay}).Is(200) },
		} {
			events := len(o.Events(proto.StaffTopic))
			change()
			require.Len(t, o.Events(proto.StaffTopic), events)
		}
		before := len(o.Events(proto.StaffTopic))
		o.admin.Patch(profile, object{"services": []string{}}).Is(200)
		require.Len(t, o.Events(proto.StaffTopic), before+1)
	})
	t.Run("the step of the settings counts", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/settings/booking", object{"slot_step": 15}).Is(200)
		require.Len(t, o.admin.Get(path("/slots?service=%s&from=%[2]s&to=%[2]s", o.service, stamp(o.at(3, "12:00"))[:10])).Is(200).Items(), 4*8-3)
	})
	t.Run("an assistant books through abilities", func(t *testing.T) {
		o := o.again(t, nil)
		agent := o.AsAssistant("svc_admin")
		contact := o.contact(0)
		id := agent.Post("/abilities/svc/book-appointment/run", object{"input": object{"contact": contact, "service": o.service, "starts_at": stamp(o.at(2, "10:00"))}}).Is(200).Text("id")
		require.Equal(t, db.ChannelAbility, o.admin.Get("/appointments/"+id).Is(200).Text("source"))
		agent.Post("/abilities/svc/add-time-off/run", object{"input": object{"date_from": "2027-03-01", "user_id": o.staff.UserID}}).Is(200)
		agent.Post("/abilities/svc/embed-booking-in-page/run", object{"input": object{"new_page_title": "x", "publish": true}}).Fails(400, "svc_invalid_param")
	})
}

func TestWhatTheTeamSees(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	t.Run("time off closes and extra hours open", func(t *testing.T) {
		o := o.again(t, nil)
		contact := o.contact(0)
		day := func(n int) string { return o.at(n, "12:00").In(o.Kit.Config.Zone).Format(time.DateOnly) }
		free := func(n int) []string {
			var out []string
			for _, s := range o.admin.Get(path("/slots?service=%s&from=%s&to=%[2]s", o.service, day(n))).Is(200).Items() {
				at, err := time.Parse(time.RFC3339, s["starts_at"].(string))
				require.NoError(t, err)
				out = append(out, at.In(o.Kit.Config.Zone).Format("15:04"))
			}
			return out
		}
		booked := o.book(contact, o.at(2, "10:00")).Is(201).Text("id")
		o.book(contact, o.at(2, "16:00")).Is(201)
		exceptions := path("/staff/%d/exceptions", o.staff.UserID)
		off := o.staff.Post(exceptions, object{"date_from": day(2), "start": "10:30", "end": "12:00", "label": "Dentist"}).Is(201)
		require.Equal(t, booked, off.Text("appointments.0.id"))
		require.Len(t, off.Field("appointments"), 1)
		require.Equal(t, day(2), off.Text("date_to"))
		require.Equal(t, "closed", off.Text("type"))
		require.Equal(t, []string{"09:00", "12:00", "13:00", "14:00", "15:00"}, free(2))

		require.Equal(t, 8, len(free(3)))
		closure := o.admin.Post("/closures", object{"date_from": day(3), "date_to": day(4), "label": "Holiday"}).Is(201)
		require.Nil(t, closure.Field("user_id"))
		require.Empty(t, free(3))
		o.staff.Post(exceptions, object{"date_from": day(3), "start": "18:00", "end": "20:00", "type": "extra"}).Is(201)
		require.Empty(t, free(3), "closed beats extra")
		o.admin.Post("/closures", object{"date_from": day(5), "start": "18:00", "end": "20:00", "type": "extra", "user_id": o.staff.UserID}).Is(201)
		require.Equal(t, []string{"18:00", "19:00"}, free(5)[8:])
		require.Len(t, o.staff.Get("/closures").Is(200).Items(), 1)
		require.Len(t, o.staff.Get(exceptions).Is(200).Items(), 3)

		for name, body := range map[string]object{
			"start":     {"date_from": day(5), "type": "extra"},
			"end":       {"date_from": day(5), "start": "10:00"},
			"date_to":   {"date_from": day(5), "date_to": day(4)},
			"date_from": {"date_from": "2027-02-30"},
			"user_id":   {"date_from": day(5), "type": "extra", "start": "10:00", "end": "11:00"},
		} {
			params, _ := o.admin.Post("/closures", body).Fails(400, "svc_invalid_param").Field("data.params").(object)
			require.Contains(t, params, name)
		}
		o.admin.Post("/closures", object{"date_from": day(5), "start": "11:00", "end": "10:00"}).Fails(400, "svc_invalid_param")
		o.admin.Post("/closures", object{"date_from": day(5), "start": "10:00", "end": "24:00"}).Is(201)

		other := o.As("staff")
		other.Delete("/exceptions/"+off.Text("id"), nil).Fails(404, "svc_not_found")
		o.staff.Delete("/exceptions/"+closure.Text("id"), nil).Fails(403, "svc_forbidden")
		o.staff.Delete("/exceptions/"+off.Text("id"), nil).Is(204)
		o.admin.Delete("/exceptions/"+closure.Text("id"), nil).Is(204)
		o.admin.Delete("/exceptions/"+closure.Text("id"), nil).Fails(404, "svc_not_found")
		require.NotEmpty(t, free(3))
	})
	t.Run("time off of everybody in a period", func(t *testing.T) {
		o := o.again(t, nil)
		colleague := o.As("staff")
		day := func(n int) string { return stamp(o.at(n, "12:00"))[:10] }
		o.admin.Post("/closures", object{"date_from": day(3), "date_to": day(5), "label": "Holiday"}).Is(201)
		o.admin.Post(path("/staff/%d/exceptions", o.staff.UserID), object{"date_from": day(4), "label": "Dentist"}).Is(201)
		o.admin.Post(path("/staff/%d/exceptions", colleague.UserID), object{"date_from": day(4), "start": "18:00", "end": "20:00", "type": "extra", "label": "Evening"}).Is(201)
		o.admin.Post(path("/staff/%d/exceptions", o.staff.UserID), object{"date_from": day(9), "label": "Later"}).Is(201)
		booked := o.book(o.contact(o.staff.UserID), o.at(4, "10:00"), object{"outside_hours": true, "staff": o.staff.UserID}).Is(201).Text("id")

		labels := func(who *apptest.Client, query string) (found []any) {
			for _, e := range who.Get("/exceptions" + query).Is(200).Items() {
				found = append(found, e["label"])
			}
			return found
		}
		week := path("?from=%s&to=%s", day(4), day(8))
		require.ElementsMatch(t, []any{"Holiday", "Dentist", "Evening"}, labels(o.admin, week))
		require.Equal(t, []any{"Holiday"}, labels(o.admin, path("?from=%s&to=%s", day(5), day(5))))
		require.Equal(t, []any{"Later"}, labels(o.admin, path("?from=%s&to=%s", day(9), day(9))))
		require.ElementsMatch(t, []any{"Holiday", "Evening"}, labels(o.admin, week+path("&staff=%d", colleague.UserID)))
		require.ElementsMatch(t, []any{"Holiday", "Dentist"}, labels(o.staff, week), "who sees their own sees closures and their own")
		touched, _ := o.admin.Get("/exceptions" + week).Is(200).Field("items.1.appointments").([]any)
		require.Equal(t, booked, touched[0].(object)["id"])
		o.admin.Get(path("/exceptions?from=%s&to=%s", day(0), day(62))).Fails(400, "svc_invalid_param")
		o.admin.Get("/exceptions?from=x").Fails(400, "svc_invalid_param")
	})
	t.Run("removing staff hands over or is refused", func(t *testing.T) {
		o := o.again(t, nil)
		heir := o.As("staff")
		o.admin.Put(path("/staff/%d/hours", heir.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, heir.UserID}}).Is(200)
		contact := o.contact(o.staff.UserID)
		past := o.book(contact, o.at(-3, "10:00"), object{"outside_hours": true, "staff": o.staff.UserID}).Is(201).Text("id")
		mine := o.book(contact, o.at(2, "10:00"), object{"staff": o.staff.UserID}).Is(201).Text("id")
		theirs := o.book(contact, o.at(2, "10:00"), object{"staff": heir.UserID}).Is(201).Text("id")
		remove := func(successor any) *apptest.Answer {
			body := object{}
			if successor != nil {
				body["successor"] = successor
			}
			return o.admin.Delete(path("/staff/%d", o.staff.UserID), body)
		}
		remove(nil).Fails(400, "svc_invalid_param")
		for successor, reason := range map[int64]string{9999: "successor", o.staff.UserID: "successor", heir.UserID: "overlap"} {
			require.Equal(t, reason, remove(successor).Fails(409, "svc_conflict").Text("data.reason"))
		}
		clash, _ := remove(heir.UserID).Fails(409, "svc_conflict").Field("data.appointments").([]any)
		require.Equal(t, []any{object{"id": mine, "starts_at": stamp(o.at(2, "10:00"))}}, clash)
		require.EqualValues(t, o.staff.UserID, o.admin.Get("/appointments/"+mine).Is(200).Field("staff.user_id"))
		o.admin.Post("/appointments/"+theirs+"/cancel", nil).Is(200)
		removed := o.admin.Delete(path("/staff/%d?successor=%d", o.staff.UserID, heir.UserID), nil).Is(200)
		require.Equal(t, object{"deleted": true, "access_left": false}, removed.Map())
		require.EqualValues(t, heir.UserID, o.admin.Get("/appointments/"+mine).Is(200).Field("staff.user_id"))
		require.EqualValues(t, o.staff.UserID, o.admin.Get("/appointments/"+past).Is(200).Field("staff.user_id"))
		require.Nil(t, o.member(o.admin, o.staff.UserID))
		require.Equal(t, []any{float64(heir.UserID)}, o.admin.Get("/services/"+o.service).Is(200).Field("staff"))
		remove(heir.UserID).Fails(404, "svc_not_found")
		last := o.Events(proto.StaffTopic)
		require.Equal(t, proto.KindStaffRemoved, last[len(last)-1].GetKind())
		require.JSONEq(t, fmt.Sprintf(`{"successor": "%d", "identity_version": "%d", "request_id": ""}`, heir.UserID, o.Kit.Identity.Version(o.staff.UserID)), string(last[len(last)-1].GetExtra()))
		require.Equal(t, []string{proto.KindAppointmentBooked, proto.KindAppointmentUpdated}, o.kinds(mine))

		o.admin.Delete(path("/staff/%d", o.admin.UserID), object{"successor": heir.UserID}).Fails(409, "svc_conflict")
		boss := o.As("svc_admin")
		boss.Delete(path("/staff/%d", o.admin.UserID), object{"successor": heir.UserID}).Fails(403, "svc_forbidden")
		heir.Delete(path("/staff/%d", boss.UserID), nil).Fails(403, "svc_forbidden")
		o.Role("editor", "all", auth.ViewContacts)
		both := o.As("svc_admin", "editor")
		require.Equal(t, object{"deleted": false, "access_left": true}, o.admin.Delete(path("/staff/%d", both.UserID), nil).Is(200).Map())
	})
	t.Run("an invitation that is revoked hands over as a removal does", func(t *testing.T) {
		o := o.again(t, nil)
		invited, heir := o.As("staff"), o.As("staff")
		o.admin.Put(path("/staff/%d/hours", invited.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{invited.UserID, heir.UserID}}).Is(200)
		mine := o.book(o.contact(0), o.at(2, "10:00"), object{"staff": invited.UserID}).Is(201).Text("id")
		theirs := o.book(o.contact(0), o.at(2, "10:00"), object{"outside_hours": true, "staff": heir.UserID}).Is(201).Text("id")
		revoke := func(successor int64) *proto.RemovalRefused {
			request := uuid.NewString()
			o.Send(apptest.Event{Topic: proto.BookingCommandTopic, Kind: proto.KindRemoveStaff, Key: fmt.Sprint(invited.UserID),
				Data: &proto.RemoveStaff{RequestId: request, UserId: invited.UserID, Successor: successor}})
			o.Settle()
			for _, e := range o.Events(proto.SettingsCommandTopic) {
				m := &proto.RemovalRefused{}
				if e.GetKind() == proto.KindRemovalRefused && protobuf.Unmarshal(e.GetData(), m) == nil && m.GetRequestId() == request {
					return m
				}
			}
			return nil
		}
		require.EqualValues(t, 400, revoke(0).GetStatus())
		require.JSONEq(t, `{"reason": "successor"}`, string(revoke(9999).GetData()))
		clash := revoke(heir.UserID)
		require.EqualValues(t, 409, clash.GetStatus())
		require.JSONEq(t, path(`{"reason": "overlap", "appointments": [{"id": "%s", "starts_at": "%s"}]}`, mine, stamp(o.at(2, "10:00"))), string(clash.GetData()))
		require.NotNil(t, o.member(o.admin, invited.UserID))
		require.Equal(t, []any{float64(invited.UserID), float64(heir.UserID)}, o.admin.Get("/services/"+o.service).Is(200).Field("staff"), "what is refused changes nothing")
		o.admin.Post("/appointments/"+theirs+"/cancel", nil).Is(200)
		require.Nil(t, revoke(heir.UserID))
		require.EqualValues(t, heir.UserID, o.admin.Get("/appointments/"+mine).Is(200).Field("staff.user_id"))
		require.Nil(t, o.member(o.admin, invited.UserID))
		last := o.Events(proto.StaffTopic)
		require.Contains(t, string(last[len(last)-1].GetExtra()), `"request_id":"`)
		require.Nil(t, revoke(0), "a command that comes again has been answered")
	})
	t.Run("who was removed is off the team however late settings is", func(t *testing.T) {
		o := o.again(t, nil)
		gone, other := o.As("staff"), o.As("staff")
		for _, person := range []*apptest.Client{gone, other} {
			o.admin.Put(path("/staff/%d/hours", person.UserID), object{"hours": everyDay}).Is(200)
		}
		o.admin.Delete(path("/staff/%d", gone.UserID), nil).Is(200)
		o.Travel(time.Hour)
		require.Nil(t, o.member(o.admin, gone.UserID))
		o.admin.Put(path("/staff/%d/hours", gone.UserID), object{"hours": everyDay}).Fails(404, "svc_not_found")
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{gone.UserID}}).Fails(400, "svc_invalid_param")
		remove := path("/staff/%d?successor=%d", other.UserID, gone.UserID)
		require.Equal(t, "successor", o.admin.Delete(remove, nil).Fails(409, "svc_conflict").Text("data.reason"))

		o.SetRoles(gone, "staff") // invited again
		o.Eventually(func() bool { return o.member(o.admin, gone.UserID) != nil })
		id := o.book(o.contact(0), o.at(2, "10:00"), object{"staff": o.staff.UserID}).Is(201).Text("id")
		o.exec(`update appointment set user_id = $1`, other.UserID)
		o.admin.Delete(remove, nil).Is(200)
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(2, "20:00")), "outside_hours": true}).Is(200)
	})
	t.Run("what somebody without an account has can be handed over", func(t *testing.T) {
		o := o.again(t, nil)
		const revoked = 900_000_001
		id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
		o.exec(`insert into staff (user_id) values ($1)`, revoked)
		o.exec(`insert into skill (service_id, user_id) values ($1, $2)`, o.service, revoked)
		o.exec(`update appointment set user_id = $1`, revoked)
		require.Equal(t, []any{}, o.member(o.admin, revoked)["roles_you_can_give"])
		o.admin.Delete(path("/staff/%d", revoked), nil).Fails(400, "svc_invalid_param")
		o.admin.Delete(path("/staff/%d?successor=%d", revoked, o.staff.UserID), nil).Is(200)
		require.EqualValues(t, o.staff.UserID, o.admin.Get("/appointments/"+id).Is(200).Field("staff.user_id"))
		require.Equal(t, []any{float64(o.staff.UserID)}, o.admin.Get("/services/"+o.service).Is(200).Field("staff"))
		require.Nil(t, o.member(o.admin, revoked))
	})
	t.Run("who sees only their own sees only their own", func(t *testing.T) {
		o := o.again(t, nil)
		other := o.As("staff")
		o.admin.Put(path("/staff/%d/hours", other.UserID), object{"hours": everyDay}).Is(200)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, other.UserID}}).Is(200)
		foreign := o.contact(other.UserID)
		own := o.contact(o.staff.UserID)
		theirs := o.book(foreign, o.at(2, "10:00"), object{"staff": other.UserID}).Is(201).Text("id")
		mine := o.book(foreign, o.at(2, "10:00"), object{"staff": o.staff.UserID}).Is(201).Text("id")

		list := o.staff.Get("/appointments").Is(200)
		require.EqualValues(t, 1, list.Field("total"))
		require.Equal(t, mine, list.Text("items.0.id"))
		require.Empty(t, o.staff.Get(path("/appointments?staff=%d", other.UserID)).Is(200).Items())
		o.staff.Get("/appointments/"+theirs).Fails(404, "svc_not_found")
		for trigger := range triggers {
			o.staff.Post("/appointments/"+theirs+"/"+trigger, nil).Fails(404, "svc_not_found")
		}
		o.staff.Post("/appointments/"+theirs+"/reschedule", object{"starts_at": stamp(o.at(2, "12:00"))}).Fails(404, "svc_not_found")
		o.staff.Post("/appointments/"+theirs+"/place", object{"location": "x"}).Fails(404, "svc_not_found")
		o.staff.Patch("/appointments/"+theirs, object{"notes": "x"}).Fails(404, "svc_not_found")
		o.staff.Post("/appointments/"+mine+"/reschedule", object{"starts_at": stamp(o.at(2, "12:00")), "staff": other.UserID}).Fails(404, "svc_not_found")
		body := object{"service": o.service, "contact": own, "starts_at": stamp(o.at(3, "10:00"))}
		require.EqualValues(t, o.staff.UserID, o.staff.Post("/appointments", body).Is(201).Field("staff.user_id"))
		body["starts_at"], body["staff"] = stamp(o.at(3, "11:00")), other.UserID
		o.staff.Post("/appointments", body).Fails(404, "svc_not_found")
		delete(body, "staff")
		body["contact"] = foreign
		o.staff.Post("/appointments", body).Fails(404, "svc_not_found")
		for _, s := range o.staff.Get("/slots?service=" + o.service).Is(200).Items() {
			require.Equal(t, []any{float64(o.staff.UserID)}, s["staff"])
		}
		o.staff.Get(path("/slots?service=%s&staff=%d", o.service, other.UserID)).Fails(404, "svc_not_found")
		require.Len(t, o.staff.Get("/calendar").Is(200).Field("staff"), 1)
		o.staff.Get(path("/staff/%d/hours", other.UserID)).Fails(404, "svc_not_found")
		o.staff.Get(path("/staff/%d/exceptions", other.UserID)).Fails(404, "svc_not_found")
		o.admin.Post("/closures", object{"date_from": stamp(o.at(2, "12:00"))[:10]}).Is(201)
		touched, _ := o.staff.Get("/closures").Is(200).Field("items.0.appointments").([]any)
		require.Len(t, touched, 1)
	})
	t.Run("appointments are found by period contact and change", func(t *testing.T) {
		o := o.again(t, nil)
		ann, bob := o.contact(0), o.contact(0)
		var ids []string
		for i := range 5 {
			ids = append(ids, o.book(ann, o.at(1+i, "10:00")).Is(201).Text("id"))
		}
		o.book(bob, o.at(2, "12:00")).Is(201)
		day := func(n int) string { return o.at(n, "12:00").In(o.Kit.Config.Zone).Format(time.DateOnly) }
		period := o.admin.Get(path("/appointments?from=%s&to=%s&contact=%s", day(2), day(4), ann)).Is(200)
		require.EqualValues(t, 3, period.Field("total"))
		require.Equal(t, ids[1], period.Text("items.0.id"))
		require.NotContains(t, period.Body, "+32470000000")
		whole := o.admin.Get(path("/appointments?from=%s&to=%s&contact=%s&whole=true", day(2), day(4), ann)).Is(200)
		require.Equal(t, "+32470000000", whole.Text("items.2.contact.phone"))

		var walked []string
		cursor := ""
		for {
			page := o.admin.Get("/appointments?per_page=2&contact=" + ann + "&cursor=" + cursor).Is(200)
			require.EqualValues(t, 5, page.Field("total"))
			for _, a := range page.Items() {
				walked = append(walked, a["id"].(string))
			}
			if cursor = page.Text("next_cursor"); cursor == "" {
				break
			}
		}
		require.Equal(t, ids, walked)
		o.staff.Get("/appointments?per_page=2&contact="+ann+"&cursor="+o.admin.Get("/appointments?per_page=2&contact="+ann).Is(200).Text("next_cursor")).Fails(400, "svc_invalid_cursor")

		since := stamp(o.nextSecond())
		o.admin.Post("/appointments/"+ids[3]+"/cancel", nil).Is(200)
		o.nextSecond()
		o.admin.Patch("/appointments/"+ids[0], object{"notes": "x"}).Is(200)
		changed := o.admin.Get("/appointments?updated_since=" + since).Is(200).Items()
		require.Equal(t, []any{ids[3], ids[0]}, []any{changed[0]["id"], changed[1]["id"]})
		require.Len(t, o.admin.Get("/appointments?status=cancelled&status=declined").Is(200).Items(), 1)
		require.Empty(t, o.admin.Get("/appointments?status=pending_payment").Is(200).Items())
		o.admin.Get("/appointments?status=gone").Fails(400, "svc_invalid_param")
		o.admin.Get("/appointments?contact=x").Fails(400, "svc_invalid_param")
		o.admin.Get(path("/appointments?from=%s&to=%s", day(0), day(62))).Fails(400, "svc_invalid_param")
	})
}

func TestTheCalendarShowsHoursAndWhatIsBooked(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	contact := o.contact(0)
	zone := o.Kit.Config.Zone
	day := func(n int) string { return o.at(n, "12:00").In(zone).Format(time.DateOnly) }
	kept := o.book(contact, o.at(1, "10:00")).Is(201).Text("id")
	gone := o.book(contact, o.at(1, "12:00")).Is(201).Text("id")
	o.admin.Post("/appointments/"+gone+"/cancel", nil).Is(200)
	o.staff.Post(path("/staff/%d/exceptions", o.staff.UserID), object{"date_from": day(2), "start": "12:00", "end": "13:00"}).Is(201)
	c := o.admin.Get(path("/calendar?from=%s&to=%s", day(1), day(3))).Is(200)
	require.Equal(t, "Europe/Brussels", c.Text("timezone"))
	require.Len(t, c.Field("appointments"), 1)
	require.Equal(t, kept, c.Text("appointments.0.id"))
	staff, _ := c.Field("staff").([]any)
	require.Len(t, staff, 2)
	days := staff[1].(object)["days"].([]any)
	require.Len(t, days, 3)
	require.Equal(t, day(2), days[1].(object)["date"])
	require.Equal(t, []any{[]any{"09:00", "12:00"}, []any{"13:00", "17:00"}}, days[1].(object)["hours"])

	other := o.admin.Post("/services", object{"name": "Massage", "duration_min": 30, "staff": []int64{o.staff.UserID}}).Is(201).Text("id")
	for _, clock := range []string{"09:00", "09:30", "10:00", "10:30", "11:00"} {
		o.admin.Post("/appointments", object{"contact": contact, "service": other, "starts_at": stamp(o.at(3, clock))}).Is(201)
	}
	period := path("from=%s&to=%s", day(1), day(9))
	require.Len(t, o.admin.Get("/calendar?"+period+"&service="+o.service).Is(200).Field("appointments"), 1)
	require.Len(t, o.admin.Get("/calendar?"+period+"&service="+other).Is(200).Field("appointments"), 5)
	require.EqualValues(t, 5, o.admin.Get("/appointments?"+period+"&service="+other).Is(200).Field("total"))
	counted := o.admin.Get("/calendar/days?" + period).Is(200)
	require.Len(t, counted.Items(), 2)
	require.Equal(t, []any{day(1), kept}, []any{counted.Text("items.0.date"), counted.Text("items.0.appointments.0.id")})
	require.EqualValues(t, 5, counted.Field("items.1.total"))
	require.Len(t, counted.Field("items.1.appointments"), 4)
	require.Equal(t, stamp(o.at(3, "09:00")), counted.Text("items.1.appointments.0.starts_at"))
	require.Len(t, o.admin.Get("/calendar/days?"+period+"&service="+o.service).Is(200).Items(), 1)
	require.Empty(t, o.admin.Get("/calendar/days?"+path("from=%s&staff=%d", day(1), o.admin.UserID)).Is(200).Items())

	require.Len(t, o.admin.Post("/closures/holidays", object{"year": 2030}).Is(200).Field("items"), 10)

	week := o.staff.Get("/calendar").Is(200)
	require.Len(t, week.Field("staff"), 1)
	require.Len(t, week.Field("staff.0.days"), 7)
	monday, err := time.Parse(time.DateOnly, week.Text("staff.0.days.0.date"))
	require.NoError(t, err)
	require.Equal(t, time.Monday, monday.Weekday())
	require.Empty(t, o.staff.Get(path("/calendar?staff=%d", o.admin.UserID)).Is(200).Field("staff"))
	o.admin.Get(path("/calendar?from=%s&to=%s", day(0), day(62))).Fails(400, "svc_invalid_param")
	o.admin.Get(path("/calendar?from=%s&to=%s", day(0), day(61))).Is(200)
	o.admin.Get(path("/calendar?from=%s&to=%s", day(2), day(1))).Fails(400, "svc_invalid_param")
	for _, bad := range []string{"x", "2026-13-01", "9999-01-01", "0001-01-01"} {
		o.admin.Get("/calendar?from="+bad).Fails(400, "svc_invalid_param")
	}
}

func TestAReminderIsSentOnceAndOnlyForWhatStands(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	mailed := func(email string) int {
		n := 0
		for _, m := range o.mails(email) {
			if m.GetKind() == mails.Reminder {
				n++
			}
		}
		return n
	}
	clients := map[string]string{}
	for i, name := range []string{"kept", "gone", "asked", "soon"} {
		body := object{}
		if name == "asked" {
			body["status"] = "pending"
		}
		start := o.at(4, path("%02d:00", 9+i))
		if name == "soon" {
			start = o.Now().Add(2 * time.Hour).Truncate(time.Second)
			body["outside_hours"] = true
		}
		clients[name] = o.book(o.contact(0, name+"@example.com"), start, body).Is(201).Text("id")
	}
	o.run("reminders")
	require.Zero(t, mailed("kept@example.com"))
	require.Zero(t, mailed("soon@example.com"), "booked when it would have been due")
	o.Travel(o.at(3, "14:00").Sub(o.Now()))
	o.admin.Post("/appointments/"+clients["gone"]+"/cancel", nil).Is(200)
	o.SetApp(appID, false)
	o.run("reminders")
	require.Zero(t, mailed("kept@example.com"))
	o.SetApp(appID, true)
	o.admin.Patch("/settings/booking", object{"reminder_enabled": false}).Is(200)
	o.run("reminders")
	require.Zero(t, mailed("kept@example.com"))
	o.admin.Patch("/settings/booking", object{"reminder_enabled": true}).Is(200)
	var replicas sync.WaitGroup
	for range 4 {
		replicas.Go(func() { o.run("reminders") })
	}
	replicas.Wait()
	o.run("reminders")
	require.Equal(t, 1, mailed("kept@example.com"))
	require.Zero(t, mailed("gone@example.com")+mailed("asked@example.com"))
}

func TestAnAppThatIsOffKeepsItsData(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	id := o.book(o.contact(0), o.at(2, "10:00")).Is(201).Text("id")
	o.SetApp(appID, false)
	kept := []string{"GET /staff", "PATCH /staff/{user}", "DELETE /staff/{user}", "GET /exports/booking.zip", "POST /undo/booking"}
	for route := range o.Parts.Ops.Operations() {
		if !slices.Contains(kept, route) {
			o.admin.Call(route, nil).Fails(404, "svc_no_route")
		}
	}
	o.SetApp(appID, true)
	o.admin.Get("/appointments/" + id).Is(200)
}
