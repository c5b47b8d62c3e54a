package booking

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// notices are what the team was told so far, in order.
func (o *office) notices() (all []*proto.Notice) {
	o.t.Helper()
	for _, e := range o.Events(proto.MailTopic) {
		if e.GetKind() == proto.KindTellTeam {
			n := &proto.Notice{}
			require.NoError(o.t, protobuf.Unmarshal(e.GetData(), n))
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *proto.Notice) int { return slices.Compare([]byte(a.GetId()), []byte(b.GetId())) })
	return all
}

// told is who was told what since n notices, as "who kind how calendar".
func (o *office) told(n int) []string {
	o.t.Helper()
	out := []string{}
	for _, one := range o.notices()[n:] {
		for _, to := range one.GetTo() {
			who := to.GetAddress()
			switch to.GetUserId() {
			case 0:
			case o.staff.UserID:
				who = "staff"
			case o.admin.UserID:
				who = "admin"
			default:
				who = fmt.Sprint(to.GetUserId())
			}
			out = append(out, who+" "+to.GetKind()+" "+to.GetHow()+" "+one.GetVisits()[0].GetCalendar())
		}
	}
	slices.Sort(out)
	return out
}

func TestTheTeamIsToldWhatOthersDo(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	now := func(o *office) int { return len(o.notices()) }
	t.Run("a visitor's booking, move and cancellation", func(t *testing.T) {
		o := o.again(t, object{"bookable_online": true})
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(3, "10:00"), "bea@example.com")).Is(201)
		require.Equal(t, []string{"staff team_booked booked REQUEST"}, o.told(0))
		n := o.notices()[0]
		v := n.GetVisits()[0]
		require.Equal(t, []string{"booking", "Bea Maes", "Bea Maes", "bea@example.com", "Intake"}, []string{n.GetApp(), n.GetBy(), v.GetClient(), v.GetEmail(), v.GetService()})
		require.NotContains(t, n.String(), linkIn(t, o.lastMail("bea@example.com")), "the link is the client's")
		seen := now(o)
		o.Visitor().Post("/booking/manage/reschedule", object{"token": linkIn(t, o.lastMail("bea@example.com")), "starts_at": stamp(o.at(3, "11:00"))}).Is(200)
		require.Equal(t, []string{"staff team_moved moved REQUEST"}, o.told(seen))
		require.EqualValues(t, 1, o.notices()[seen].GetVisits()[0].GetSequence())
		require.Equal(t, o.at(3, "10:00").Unix(), o.notices()[seen].GetVisits()[0].GetWasStartsAt())
		seen = now(o)
		o.Visitor().Post("/booking/manage/cancel", object{"token": linkIn(t, o.lastMail("bea@example.com")), "reason": "ill"}).Is(200)
		require.Equal(t, []string{"staff team_cancelled cancelled CANCEL"}, o.told(seen))
		require.NotContains(t, o.notices()[seen].String(), "ill", "reasons are read in the app")
	})
	t.Run("a request, and what becomes of it", func(t *testing.T) {
		o := o.again(t, object{"bookable_online": true, "confirmation": "review"})
		o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), o.at(3, "10:00"), "bea@example.com")).Is(201)
		require.Equal(t, []string{"staff team_request requested "}, o.told(0))
		id := o.admin.Get("/appointments").Is(200).Text("items.0.id")
		seen := now(o)
		o.staff.Post("/appointments/"+id+"/confirm", nil).Is(200)
		require.Empty(t, o.told(seen), "nobody is told of their own acts")
		second := o.book(o.contact(0), o.at(3, "12:00"), object{"status": "pending"}).Is(201).Text("id")
		seen = now(o)
		o.admin.Post("/appointments/"+second+"/confirm", nil).Is(200)
		require.Equal(t, []string{"staff team_booked confirmed REQUEST"}, o.told(seen))
		third := o.book(o.contact(0), o.at(3, "14:00"), object{"status": "pending"}).Is(201).Text("id")
		seen = now(o)
		o.admin.Post("/appointments/"+third+"/decline", object{"reason": ""}).Is(200)
		require.Equal(t, []string{"staff team_cancelled declined "}, o.told(seen))
	})
	t.Run("their own acts, and those of colleagues", func(t *testing.T) {
		o := o.again(t, nil)
		c := o.contact(o.staff.UserID)
		own := o.staff.Post("/appointments", object{"contact": c, "service": o.service, "staff": o.staff.UserID, "starts_at": stamp(o.at(2, "10:00"))}).Is(201).Text("id")
		o.staff.Post("/appointments/"+own+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00"))}).Is(200)
		o.staff.Post("/appointments/"+own+"/cancel", object{"reason": ""}).Is(200)
		require.Empty(t, o.told(0))
		id := o.book(c, o.at(2, "12:00")).Is(201).Text("id")
		o.admin.Post("/appointments/"+id+"/place", object{"location_type": "in_person", "location": "Hoogstraat 2"}).Is(200)
		require.Equal(t, []string{"staff team_booked booked REQUEST", "staff team_moved place REQUEST"}, o.told(0))
		seen := now(o)
		o.admin.Patch("/appointments/"+id, object{"notes": "ring twice"}).Is(200)
		o.Travel(o.at(2, "13:00").Sub(o.Now()))
		o.admin.Post("/appointments/"+id+"/complete", nil).Is(200)
		require.Empty(t, o.told(seen), "what no calendar shows")
	})
	t.Run("a change of person takes it from one and gives it to the other", func(t *testing.T) {
		o := o.again(t, nil)
		o.admin.Patch("/services/"+o.service, object{"staff": []int64{o.staff.UserID, o.admin.UserID}}).Is(200)
		o.admin.Put(fmt.Sprintf("/staff/%d/hours", o.admin.UserID), object{"hours": everyDay}).Is(200)
		other := o.As("site_admin")
		id := o.book(o.contact(0), o.at(2, "10:00"), object{"staff": o.staff.UserID}).Is(201).Text("id")
		seen := now(o)
		other.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00")), "staff": o.admin.UserID}).Is(200)
		require.Equal(t, []string{"admin team_booked taken_over REQUEST", "staff team_cancelled given_away CANCEL"}, o.told(seen))
		for _, n := range o.notices()[seen:] {
			if n.GetTo()[0].GetHow() == "given_away" {
				require.Equal(t, o.at(2, "10:00").Unix(), n.GetVisits()[0].GetStartsAt(), "as it stands in their calendar")
			}
		}
		seen = now(o)
		o.admin.Post("/appointments/"+id+"/reschedule", object{"starts_at": stamp(o.at(2, "11:00")), "staff": o.staff.UserID}).Is(200)
		require.Equal(t, []string{"staff team_booked taken_over REQUEST"}, o.told(seen))
	})
	t.Run("the addresses of the settings are told whoever did it, a person among them once", func(t *testing.T) {
		o := o.again(t, nil)
		o.AsSession("site_admin").Patch("/settings/booking", object{"notify_emails": []string{"desk@example.com", o.staff.Login + "@example.com"}}).Is(200)
		own := o.staff.Post("/appointments", object{"contact": o.contact(o.staff.UserID), "service": o.service, "staff": o.staff.UserID, "starts_at": stamp(o.at(2, "10:00"))}).Is(201).Text("id")
		o.staff.Post("/appointments/"+own+"/cancel", object{"reason": ""}).Is(200)
		address := o.staff.Login + "@example.com"
		want := []string{"desk@example.com team_booked booked REQUEST", "desk@example.com team_cancelled cancelled CANCEL", address + " team_booked booked REQUEST", address + " team_cancelled cancelled CANCEL"}
		slices.Sort(want)
		require.Equal(t, want, o.told(0))
		require.Equal(t, []any{"desk@example.com", address}, o.admin.Get("/settings/booking").Is(200).Field("notify_emails"))
		a := o.admin.Patch("/settings/booking", object{"notify_emails": []string{"me@example.net"}}).Fails(400, "svc_invalid_param")
		require.Equal(t, "new_address", a.Field("data.details").(object)["notify_emails[0]"].(object)["code"])
		o.admin.Patch("/settings/booking", object{"notify_emails": []string{"Desk@example.com"}}).Is(200)
		o.AsSession("site_admin").Patch("/settings/booking", object{"notify_emails": []string{"no address"}}).Fails(400, "svc_invalid_param")
		o.admin.Patch("/settings/booking", object{"notify_emails": []string{}}).Is(200)
	})
}

func TestARequestThatNobodyAnswersIsToldOnce(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	for _, c := range []struct {
		expires int
		after   time.Duration
	}{{0, 24 * time.Hour}, {10, 5 * time.Hour}, {100, 24 * time.Hour}} {
		t.Run(fmt.Sprintf("declined after %d hours", c.expires), func(t *testing.T) {
			o := o.again(t, nil)
			o.admin.Patch("/settings/booking", object{"request_expires_hours": c.expires}).Is(200)
			o.book(o.contact(0), o.at(9, "10:00"), object{"status": "pending"}).Is(201)
			seen := len(o.notices())
			o.Travel(c.after - time.Minute)
			o.run("waiting-requests")
			require.Empty(t, o.told(seen))
			o.Travel(2 * time.Minute)
			o.run("waiting-requests")
			o.run("waiting-requests")
			require.Equal(t, []string{"staff request_waiting waiting "}, o.told(seen))
			require.Equal(t, c.expires > 0, o.notices()[seen].GetEndsAt() > 0)
		})
	}
	t.Run("nobody is told while the app is off", func(t *testing.T) {
		o := o.again(t, nil)
		o.book(o.contact(0), o.at(9, "10:00"), object{"status": "pending"}).Is(201)
		seen := len(o.notices())
		o.SetApp("booking", false)
		o.Travel(25 * time.Hour)
		o.run("waiting-requests")
		require.Empty(t, o.told(seen))
		o.SetApp("booking", true)
		o.Eventually(func() bool { return o.Kit.Apps.On("booking") })
		o.run("waiting-requests")
		require.Equal(t, []string{"staff request_waiting waiting "}, o.told(seen))
	})
}

func TestAnAgendaHasTheAppointmentsOfTheDay(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	o.book(o.contact(0), o.at(2, "14:00")).Is(201)
	o.book(o.contact(0), o.at(2, "09:00"), object{"status": "pending"}).Is(201)
	o.book(o.contact(0), o.at(3, "09:00")).Is(201)
	gone := o.book(o.contact(0), o.at(2, "11:00")).Is(201).Text("id")
	o.admin.Post("/appointments/"+gone+"/cancel", object{"reason": ""}).Is(200)
	seen := len(o.notices())
	day := o.at(2, "07:30")
	o.Send(apptest.Event{Topic: proto.BookingCommandTopic, Kind: proto.KindSendAgenda, Key: "day", Data: &proto.SendAgenda{UserIds: []int64{o.staff.UserID, o.admin.UserID},
		Day: day.In(o.Kit.Config.Zone).Format(time.DateOnly), At: day.Unix()}})
	o.Settle()
	require.Equal(t, []string{"staff agenda day "}, o.told(seen), "nobody without appointments")
	n := o.notices()[seen]
	require.Len(t, n.GetVisits(), 2)
	require.Equal(t, []int64{o.at(2, "09:00").Unix(), o.at(2, "14:00").Unix(), day.Unix()}, []int64{n.GetVisits()[0].GetStartsAt(), n.GetVisits()[1].GetStartsAt(), n.GetNotBefore()})
}
