package booking

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

func TestABookingGoesByWhatAnotherReplicaHasJustChanged(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	token, start, n := o.token(o.service), o.at(2, "10:00"), 0
	book := func(staff ...int64) string {
		t.Helper()
		n++
		visit := o.visit(o.service, token, start, fmt.Sprintf("v%d@example.com", n))
		if len(staff) > 0 {
			visit["staff"] = staff[0]
		}
		a := o.Visitor().Post("/booking/book", visit)
		if a.Status == 201 {
			// The next one finds the time free again.
			o.exec(`update appointment set status = 'cancelled'`)
			return "booked"
		}
		return a.Text("code")
	}
	require.Equal(t, "booked", book())
	days := fmt.Sprintf("date '%[1]s', date '%[1]s' + 9", o.Now().Format(time.DateOnly))
	// Straight into the tables, as the other replica does; undo puts back what was there.
	for _, c := range []struct{ change, undo, anyone, named string }{
		{`insert into exception values (gen_random_uuid(), null, ` + days + `, 0, 1440, true, false, 'Closed', now())`, `delete from exception`, "svc_slot_taken", "svc_slot_taken"},
		{`insert into exception select gen_random_uuid(), user_id, ` + days + `, 0, 1440, true, false, 'Ill', now() from staff`, `delete from exception`, "svc_slot_taken", "svc_slot_taken"},
		{`update staff set hours = '{}'`, ``, "svc_slot_taken", "svc_slot_taken"},
		{`update service set archived = true`, `update service set archived = false`, "svc_not_found", "svc_not_found"},
		{`update service set bookable_online = false`, `update service set bookable_online = true`, "svc_not_found", "svc_not_found"},
		{`update service set min_notice_min = 100000`, `update service set min_notice_min = null`, "svc_slot_taken", "svc_slot_taken"},
		{`update settings set max_advance_days = 1`, `update settings set max_advance_days = 60`, "svc_slot_taken", "svc_slot_taken"},
		{`update settings set slot_step = 7`, `update settings set slot_step = 0`, "svc_slot_taken", "svc_slot_taken"},
		{`create temp table gone as select * from skill; delete from skill`, ``, "svc_conflict", "svc_invalid_param"},
	} {
		var hours string
		require.NoError(t, o.Kit.DB.Pool.QueryRow(t.Context(), `select hours from staff where user_id = $1`, o.staff.UserID).Scan(&hours))
		o.exec(c.change)
		require.Equal(t, c.anyone, book(), c.change)
		require.Equal(t, c.named, book(o.staff.UserID), c.change)
		if c.undo != "" {
			o.exec(c.undo)
		}
		o.exec(`update staff set hours = $1 where user_id = $2`, hours, o.staff.UserID)
		o.exec(`insert into skill values ($1, $2) on conflict do nothing`, o.service, o.staff.UserID)
		require.Equal(t, "booked", book(), "after "+c.change)
		require.Equal(t, "booked", book(o.staff.UserID), "after "+c.change)
	}
}

func TestBookingsAndChangesAtOnceGoByEitherSide(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	token := o.token(o.service)
	for i, a := range together(t, 24, func(i int) *apptest.Answer {
		if i%3 > 0 {
			return o.admin.Patch("/services/"+o.service, object{"description": fmt.Sprint("Version ", i)})
		}
		visit := o.visit(o.service, token, o.at(2, fmt.Sprintf("%02d:00", 9+i/3)), fmt.Sprintf("v%d@example.com", i))
		visit["staff"] = o.staff.UserID
		return o.Visitor().Post("/booking/book", visit)
	}) {
		a.Is([]int{201, 200, 200}[i%3])
	}
	require.EqualValues(t, 8, o.admin.Get("/appointments?per_page=50").Is(200).Field("total"))
	o.noClash()
}
