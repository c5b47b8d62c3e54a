package booking

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// seen are records as they are shown, by their paths, without what each change moves.
func seen(c *apptest.Client, paths ...string) map[string]any {
	all := map[string]any{}
	for _, path := range paths {
		var record any
		c.Get(path).Is(200).Into(&record)
		if fields, ok := record.(map[string]any); ok {
			for _, moves := range []string{"updated_at", "status_at", "sort_order"} {
				delete(fields, moves)
			}
		}
		all[path] = record
	}
	return all
}

func TestEveryKindOfWorkIsTakenBack(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	admin, work := o.AsSession("site_admin"), o.As("site_admin")
	staff := fmt.Sprint("/staff/", o.staff.UserID)
	client := o.contact(o.staff.UserID, "ann@example.com")
	book := func(c *apptest.Client, clock string) string {
		return "/appointments/" + c.Post("/appointments", object{"service": o.service, "staff": o.staff.UserID, "contact": client, "starts_at": stamp(o.at(3, clock))}).Is(201).Text("id")
	}
	admin.Post("/services", object{"name": "Talk", "duration_min": 30}).Is(201)
	old := "/services/" + admin.Post("/services", object{"name": "Old", "duration_min": 30}).Is(201).Text("id")
	moved, placed, cancelled, noted := book(admin, "09:00"), book(admin, "11:00"), book(admin, "13:00"), book(admin, "15:00")
	admin.Patch(noted, object{"notes": "rings twice"}).Is(200)
	day := o.at(20, "12:00").Format(time.DateOnly)
	off := fmt.Sprint("/exceptions/", admin.Post(staff+"/exceptions", object{"date_from": day, "start": "10:30", "end": "12:00", "label": "Dentist"}).Is(201).Field("id"))
	records := []string{"/services/" + o.service, old, moved, placed, cancelled, noted, staff + "/hours", "/settings/booking"}
	before, order := seen(admin, records...), admin.Get("/services").Is(200).Items()

	work.Patch("/services/"+o.service, object{"name": "Long intake", "duration_min": 90, "price": "45", "staff": []int64{o.staff.UserID, o.admin.UserID}}).Is(200)
	work.Delete(old, nil).Is(200)
	work.Post("/services", object{"name": "New", "duration_min": 30}).Is(201)
	work.Put("/services/order", object{"services": []string{old[len("/services/"):], o.service}}).Is(200)
	work.Patch("/services/"+o.service, object{"sort_order": 9}).Is(200) // a place in the order, given by another call
	work.Patch("/settings/booking", object{"terms_text": "Be on time.", "reminders": []object{{"hours": 48}, {"hours": 2}}}).Is(200)
	work.Put(staff+"/hours", object{"hours": object{"1": [][]string{{"10:00", "12:00"}}}}).Is(200)
	work.Patch(staff, object{"name": "Dora", "meeting_url": "https://meet.example.com/dora"}).Is(200)
	work.Post(moved+"/reschedule", object{"starts_at": stamp(o.at(4, "09:00")), "duration_min": 30, "outside_hours": true}).Is(200)
	work.Post(placed+"/place", object{"location_type": "online", "meeting_url": "https://meet.example.com/x"}).Is(200)
	work.Patch(noted, object{"notes": "does not ring"}).Is(200)
	work.Post(cancelled+"/cancel", object{"reason": "ill"}).Is(200)
	made := work.Post("/appointments", object{"service": o.service, "staff": o.staff.UserID, "contact": client, "starts_at": stamp(o.at(5, "10:00")), "outside_hours": true}).Is(201).Text("id")
	work.Delete(off, nil).Is(204)
	work.Post("/closures", object{"date_from": day, "label": "Closed"}).Is(201)
	work.Post(staff+"/exceptions", object{"date_from": day, "label": "Off"}).Is(201)
	work.Post("/closures/holidays", object{"year": o.Now().Year() + 1}).Is(200)

	require.Empty(t, admin.TakeBack(work))
	require.Equal(t, before, seen(admin, records...))
	require.Equal(t, len(order), len(admin.Get("/services").Is(200).Items()))
	for i, s := range admin.Get("/services").Is(200).Items() {
		require.Equal(t, order[i]["id"], s["id"])
	}
	require.Equal(t, "cancelled", admin.Get("/appointments/"+made).Is(200).Text("status"))
	left := admin.Get("/exceptions?from=" + day + "&to=" + day).Is(200).Items()
	require.Len(t, left, 1)
	require.Equal(t, []any{"Dentist", "10:30", "12:00"}, []any{left[0]["label"], left[0]["start"], left[0]["end"]})
	require.Contains(t, o.lastMail("ann@example.com").GetSubject()+fmt.Sprint(o.kinds(cancelled[len("/appointments/"):])), proto.KindAppointmentReopened)
	require.Empty(t, admin.TakeBack(work), "a second time nothing is left")

	t.Run("what is over by its status comes back, and that is taken back too", func(t *testing.T) {
		work := o.For(t).As("site_admin")
		o.Travel(o.at(3, "18:00").Sub(o.Now()))
		admin := o.For(t).AsSession("site_admin")
		work.Post(moved+"/complete", nil).Is(200)
		work.Post(placed+"/no-show", nil).Is(200)
		work.Post(placed+"/reopen", nil).Is(200)
		require.Empty(t, admin.TakeBack(work))
		for _, path := range []string{moved, placed} {
			require.Equal(t, "confirmed", admin.Get(path).Is(200).Text("status"))
		}
	})
	t.Run("a cancelled appointment stays so when its time is taken", func(t *testing.T) {
		work, admin := o.For(t).As("site_admin"), o.For(t).AsSession("site_admin")
		at := object{"service": o.service, "staff": o.staff.UserID, "contact": client, "starts_at": stamp(o.at(9, "10:00")), "outside_hours": true}
		gone := "/appointments/" + admin.Post("/appointments", at).Is(201).Text("id")
		work.Post(gone+"/cancel", object{"reason": "ill"}).Is(200)
		admin.Post("/appointments", at).Is(201)
		require.Equal(t, []string{"cancel-appointment: svc_slot_taken"}, admin.TakeBack(work))
	})
	t.Run("an erasure takes old notes out of what is kept", func(t *testing.T) {
		work, admin := o.For(t).As("site_admin"), o.For(t).AsSession("site_admin")
		path := "/appointments/" + admin.Post("/appointments", object{"service": o.service, "staff": o.staff.UserID, "contact": client, "starts_at": stamp(o.at(12, "10:00")), "outside_hours": true, "notes": "secretly"}).Is(201).Text("id")
		work.Patch(path, object{"notes": "openly"}).Is(200)
		require.Contains(t, o.Holding("secretly"), "deed")
		o.forget([]string{client}, "ann@example.com")
		require.NotContains(t, o.Holding("secretly"), "deed")
	})
	o.CheckUndo()
}

func TestTwoWhoTakeBackTheSameCallAtOnceDoItOnce(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil, apptest.Connections(4))
	work, admin, staff := o.As("site_admin"), o.AsSession("site_admin"), path("/staff/%d", o.staff.UserID)
	day := o.at(30, "12:00").Format(time.DateOnly)
	off := fmt.Sprint("/exceptions/", admin.Post(staff+"/exceptions", object{"date_from": day, "label": "Dentist"}).Is(201).Field("id"))
	work.Delete(off, nil).Is(204)
	var entry string
	require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select entry::text from deed where user_id = $1`, work.UserID).Scan(&entry))
	var steps struct{ Items []op.TakenBack }
	admin.Post("/undo/booking", object{"entries": []string{entry}}).Is(200).Into(&steps)
	step := steps.Items[0].Steps[0]
	held := o.Begin()
	_, err := held.Exec(t.Context(), `lock table deed in share mode`)
	require.NoError(t, err)
	var both sync.WaitGroup
	answers := make([]*apptest.Answer, 2)
	for i := range answers {
		both.Go(func() {
			answers[i] = admin.With("Undoes", fmt.Sprintf("%s/%d", entry, step.Number)).Raw(step.Method+" "+step.Path, string(step.Body))
		})
	}
	o.Waiting(2)
	require.NoError(t, held.Rollback(t.Context()))
	both.Wait()
	statuses := []int{answers[0].Status, answers[1].Status}
	slices.Sort(statuses)
	require.Equal(t, []int{201, 409}, statuses)
	require.Len(t, admin.Get("/exceptions?from="+day+"&to="+day).Is(200).Items(), 1)
}

// Work of an assistant beside that of a colleague, in any order, on two appointments.
func TestTakingBackLeavesWhatOthersDid(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	admin, colleague := o.AsSession("site_admin"), o.As("site_admin")
	client := o.contact(o.staff.UserID)
	type act struct {
		What        string
		Hour        int
		On          int
		ByColleague bool
	}
	draw := rapid.Custom(func(t *rapid.T) []act {
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
			return act{rapid.SampledFrom([]string{"move", "note", "place", "cancel", "reopen"}).Draw(t, "what"), rapid.IntRange(9, 15).Draw(t, "hour"), rapid.IntRange(0, 1).Draw(t, "on"),
				rapid.IntRange(0, 4).Draw(t, "who") == 0}
		}), 3, 8).Draw(t, "acts")
	})
	for seed := range 6 {
		acts, work := draw.Example(seed), o.As("site_admin")
		var both []string
		for i := range 2 {
			both = append(both, "/appointments/"+admin.Post("/appointments", object{"service": o.service, "staff": o.staff.UserID, "contact": client,
				"starts_at": stamp(o.at(3+4*seed+i, "08:00")), "outside_hours": true}).Is(201).Text("id"))
		}
		before := seen(admin, both...)
		last, shared := map[string]bool{}, map[string]bool{} // whether the colleague was the last one to change it, or has changed it at all
		for n, a := range acts {
			who, path := work, both[a.On]
			if a.ByColleague {
				who = colleague
			}
			was := admin.Get(path).Header.Get("ETag")
			switch a.What {
			case "move":
				who.Post(path+"/reschedule", object{"starts_at": stamp(o.at(3+4*seed+a.On, fmt.Sprintf("%02d:00", a.Hour))), "outside_hours": true})
			case "note":
				who.Patch(path, object{"notes": fmt.Sprint("note ", n)})
			case "place":
				who.Post(path+"/place", object{"location_type": "client", "location": fmt.Sprint("Kerkstraat ", n)})
			default:
				who.Post(path+"/"+a.What, nil)
			}
			if admin.Get(path).Header.Get("ETag") != was {
				last[path], shared[path] = a.ByColleague, shared[path] || a.ByColleague
			}
		}
		done := seen(admin, both...)
		left := admin.TakeBack(work)
		after := seen(admin, both...)
		for _, path := range both {
			if !shared[path] {
				require.Equal(t, before[path], after[path], "%v: %v", acts, left)
			}
			if last[path] {
				require.Equal(t, done[path], after[path], "%v: %v", acts, left)
			}
		}
	}
}
