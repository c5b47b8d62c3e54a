package booking

import (
	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// When operations are refused, see op.Fails.
const (
	failStatus = "The status of the appointment does not allow it. data.current is the status."
	failSlot   = "The time is not free. data.alternatives has the nearest free times."
	failNoLink = "The appointment is online, and neither it nor the person has a meeting link."
)

// appointmentsParts are what the service runs of the room.
func (s *service) appointmentsParts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.ContactTopic, Handle: s.onContact}},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.AppointmentTopic, Table: "appointment", Emit: s.publishAppointments})},
		Personal:  app.Personal{Holds: map[string]app.Holds{"appointment": app.People, "manage_token": app.People}, Forget: s.forgetPerson},
	}
}

// appointmentsOps declares the operations that read appointments.
func (s *service) appointmentsOps(set *op.Set) {
	op.Add(set, op.Op{ID: "find-appointments", Route: "GET /appointments", Perm: auth.ViewContacts, App: s.Service,
		Doc: "List the appointments of a period, of a contact, or changed since a moment.",
		Use: "Use from and to as days of the business, 62 at most, or contact for one person. Answers with one page, the earliest first; times are UTC."}, s.findAppointments)
	op.Add(set, op.Op{ID: "get-appointment", Route: "GET /appointments/{id}", Perm: auth.ViewContacts, App: s.Service,
		Doc: "Get one appointment, with the client's address and phone number.",
		Use: "Use it with an id from find-appointments or get-calendar. Answers with status, time in UTC, place, internal notes and the client."}, s.getAppointment)
	op.Add(set, op.Op{ID: "get-booking-statistics", Route: "GET /statistics/bookings", Perm: auth.ViewContacts, App: s.Service,
		Doc: "Get how many appointments each of the last weeks had, by status, and how many were booked online.",
		Use: "Use it for trends. For the appointments themselves use find-appointments. Weeks begin on Monday; the present one is not over."}, s.statistics)
}
