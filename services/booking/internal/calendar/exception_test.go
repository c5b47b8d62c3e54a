package calendar

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/staff"
)

type object = map[string]any

// open starts the room and those below it.
func open(t *testing.T) *apptest.Service {
	t.Helper()
	return apptest.StartRooms(t, "booking", func(k *app.Kit, set *op.Set) []app.Room {
		clients, staff := clients.New(k, appointments.EndLinksTo), staff.New(k)
		appointments := appointments.New(k, clients, staff)
		r := New(k, staff, appointments)
		r.Closures(set)
		return []app.Room{{Name: "clients", Parts: clients.Parts()}, {Name: "staff", Parts: staff.Parts()},
			{Name: "appointments", Parts: appointments.Parts()}, {Name: "calendar", Parts: r.Parts()}}
	})
}

func TestWhatIsWrongWithTimeOffIsNamed(t *testing.T) {
	t.Parallel()
	s := open(t)
	admin := s.As("site_admin")
	for name, c := range map[string]struct {
		body  object
		wrong string
	}{
		"start is no time":      {object{"start": "9", "end": "12:00"}, "start"},
		"start is out of a day": {object{"start": "24:30", "end": "12:00"}, "start"},
		"end is no time":        {object{"start": "09:00", "end": "noon"}, "end"},
		"end before start":      {object{"start": "12:00", "end": "09:00"}, "end"},
		"end alone":             {object{"end": "09:00"}, "start"},
	} {
		t.Run(name, func(t *testing.T) {
			c.body["date_from"] = "2027-03-01"
			params, _ := admin.Post("/closures", c.body).Fails(400, "svc_invalid_param").Field("data.params").(object)
			require.Len(t, params, 1)
			require.Contains(t, params, c.wrong)
		})
	}
}
