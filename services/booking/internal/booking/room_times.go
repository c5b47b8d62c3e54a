package booking

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// timesParts are what the service runs of the room.
func (s *service) timesParts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"catalog": app.Nobody}}}
}

// publicTimesOps declares the operations by which visitors find a time.
func (s *service) publicTimesOps(set *op.Set) {
	op.Add(set, op.Op{ID: "list-public-services", Route: "GET /booking/services", Perm: op.Public, App: s.Service, Channel: db.ChannelBooking,
		Doc: "List the services that visitors can book, with who does them and what the details step asks."}, s.publicServices)
	op.Add(set, op.Op{ID: "list-public-slots", Route: "GET /booking/slots", Perm: op.Public, App: s.Service, Channel: db.ChannelBooking,
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "List the free times of a service for visitors, with the time token that booking needs.",
		Fails: op.Fails{"svc_not_found": "There is no such service that visitors can book, or no such person."}}, s.publicSlots)
}

// timesOps declares the operation by which the team finds a time.
func (s *service) timesOps(set *op.Set) {
	op.Add(set, op.Op{ID: "get-available-slots", Route: "GET /slots", Perm: auth.ViewContacts, App: s.Service,
		Doc:   "List the free start times of a service with the staff members free at each.",
		Use:   "Use it before book-appointment and reschedule-appointment: only these times can be booked. Needs the id of a service; without from and to it is the next 14 days. Times are UTC, timezone is the business's.",
		Fails: op.Fails{"svc_not_found": "There is no such service or person."}}, s.teamSlots)
}
