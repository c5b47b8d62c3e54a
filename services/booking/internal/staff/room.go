package staff

import (
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// Room keeps the staff members: the name that clients see, meeting link, weekly hours, and who does which service.
type Room struct{ *app.Kit }

func New(k *app.Kit) *Room { return &Room{k} }

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		// A row without a version was never published.
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.StaffTopic, Table: "staff", Column: "user_id", Where: "version > 0", Emit: r.publishStaff})},
		Personal:  app.Personal{Holds: map[string]app.Holds{"staff": app.Nobody, "skill": app.Nobody}},
	}
}

// WeeklyHours declares the operations on weekly hours.
func (r *Room) WeeklyHours(set *op.Set) {
	set.Examples(examples)
	op.Add(set, op.Op{ID: "get-staff-hours", Ability: "get-staff-schedule", Route: "GET /staff/{user}/hours", Perm: auth.ViewContacts, App: r.Service,
		Doc: "Get the weekly hours of a staff member by ISO weekday."}, r.getHours)
	op.Add(set, op.Op{ID: "update-staff-hours", Undo: op.Undo{By: "update-staff-hours"}, Versioned: true, Route: "PUT /staff/{user}/hours", Perm: auth.ManageBookings, App: r.Service, Record: "staff", Action: "update-staff",
		Doc: "Set the weekly hours of a staff member; weekdays left out have none.",
		Use: "The whole week is replaced, so send all days: 1 is Monday, each a list of [start, end]. Appointments outside the new hours stay. Answers with the week."}, r.putHours)
}
