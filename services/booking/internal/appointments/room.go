package appointments

import (
	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/staff"
)

// Room keeps the appointments, and the links of mails that open them.
type Room struct {
	*app.Kit
	clients *clients.Room
	staff   *staff.Room
}

func New(k *app.Kit, clients *clients.Room, staff *staff.Room) *Room { return &Room{k, clients, staff} }

// When operations are refused, see op.Fails.
const (
	FailStatus = "The status of the appointment does not allow it. data.current is the status."
	FailSlot   = "The time is not free. data.alternatives has the nearest free times."
	FailNoLink = "The appointment is online, and neither it nor the person has a meeting link."
)

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Follows:   []bus.Follow{{Topic: proto.ContactTopic, Handle: r.onContact}, {Topic: proto.BookingCommandTopic, Handle: bus.On(proto.KindRenewLink, r.onRenewLink)}},
		Jobs:      []app.Job{r.reread().Job(r.DB)},
		Published: []app.Published{app.Records(app.Rows[uuid.UUID]{Topic: proto.AppointmentTopic, Table: "appointment", Emit: r.publishAppointments})},
		Personal:  app.Personal{Holds: map[string]app.Holds{"appointment": app.People, "manage_token": app.People}, Forget: r.forgetPerson},
	}
}

// List declares the operation that lists appointments.
func (r *Room) List(set *op.Set) {
	op.Add(set, op.Op{ID: "find-appointments", Route: "GET /appointments", Perm: auth.ViewContacts, App: r.Service,
		Doc: "List the appointments of a period, of a contact, or changed since a moment.",
		Use: "Use from and to as days of the business, 62 at most, contact for one person, or search for a name. Answers with one page, the earliest first; times are UTC."}, r.findAppointments)
}

// Show declares the operation that shows one appointment.
func (r *Room) Show(set *op.Set) {
	op.Add(set, op.Op{ID: "get-appointment", Route: "GET /appointments/{id}", Perm: auth.ViewContacts, App: r.Service,
		Doc: "Get one appointment, with the client's address and phone number.",
		Use: "Use it with an id from find-appointments or get-calendar. Answers with status, time in UTC, place, internal notes and the client."}, r.getAppointment)
}

// Statistics declares the operation that counts appointments.
func (r *Room) Statistics(set *op.Set) {
	op.Add(set, op.Op{ID: "get-booking-statistics", Route: "GET /statistics/bookings", Perm: auth.ViewContacts, App: r.Service,
		Doc: "Get how many appointments each of the last weeks had, by status, and how many were booked online.",
		Use: "Use it for trends. For the appointments themselves use find-appointments. Weeks begin on Monday; the present one is not over."}, r.statistics)
}
