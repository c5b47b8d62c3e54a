package booking

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAppointmentsAreCountedByTheWeekInWhichTheyStart(t *testing.T) {
	t.Parallel()
	o := open9to5(t, nil)
	start := o.at(2, "10:00")
	o.Visitor().Post("/booking/book", o.visit(o.service, o.token(o.service), start, "bea@example.com")).Is(201)
	o.Travel(start.Sub(o.Now()))
	a := o.admin.Get("/statistics/bookings?weeks=2").Is(200)
	require.Equal(t, []any{0.0, 0.0}, []any{a.Field("weeks.0.booked"), a.Field("weeks.0.online")})
	require.Equal(t, []any{1.0, 1.0, 0.0}, []any{a.Field("weeks.1.booked"), a.Field("weeks.1.online"), a.Field("weeks.1.cancelled")})
	id, _ := o.admin.Get("/appointments").Is(200).Items()[0]["id"].(string)
	o.admin.Post("/appointments/"+id+"/cancel", nil).Is(200)
	a = o.admin.Get("/statistics/bookings?weeks=2").Is(200)
	require.Equal(t, []any{0.0, 1.0}, []any{a.Field("weeks.1.booked"), a.Field("weeks.1.cancelled")})
	require.Equal(t, 0.0, o.As("staff").Get("/statistics/bookings").Is(200).Field("weeks.11.cancelled"), "their own")
}
