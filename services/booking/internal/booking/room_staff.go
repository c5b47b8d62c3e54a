package booking

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// staffParts are what the service runs of the room.
func (s *service) staffParts() app.Parts {
	return app.Parts{
		// A row without a version was never published.
		Published: []app.Published{app.Records(app.Rows[int64]{Topic: proto.StaffTopic, Table: "staff", Column: "user_id", Where: "version > 0", Emit: s.publishStaff})},
		Personal:  app.Personal{Holds: map[string]app.Holds{"staff": app.Nobody, "skill": app.Nobody}},
	}
}

// hoursOps declares the operations on weekly hours.
func (s *service) hoursOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-staff-hours", Ability: "get-staff-schedule", Route: "GET /staff/{user}/hours", Perm: auth.ViewContacts, App: s.Service,
		Doc: "Get the weekly hours of a staff member by ISO weekday."}, s.getHours)
	op.Add(set, op.Op{ID: "update-staff-hours", Route: "PUT /staff/{user}/hours", Perm: auth.ManageBookings, App: s.Service, Record: "staff",
		Doc: "Set the weekly hours of a staff member; weekdays left out have none.",
		Use: "The whole week is replaced, so send all days: 1 is Monday, each a list of [start, end]. Appointments outside the new hours stay. Answers with the week."}, s.putHours)
}
