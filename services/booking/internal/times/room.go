package times

import (
	"sync/atomic"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

// Room decides which times are free, and gives one to whom wants it.
type Room struct {
	*app.Kit
	staff        *staff.Room
	services     *services.Room
	appointments *appointments.Room
	timeToken    auth.TimeToken
	hints        hints
	catalog      atomic.Pointer[Catalog]
}

func New(k *app.Kit, staff *staff.Room, services *services.Room, appointments *appointments.Room) *Room {
	return &Room{Kit: k, staff: staff, services: services, appointments: appointments, timeToken: auth.NewTimeToken(k.Keys.For("time token"))}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"catalog": app.Nobody}}}
}

// SlotLimit is the key of SlotLimits, within which visitors ask for free times.
const SlotLimit = "list-public-slots"

var SlotLimits = []db.Limit{{N: 60, Per: time.Minute}}

// ForVisitors declares the operations by which visitors find a time.
func (r *Room) ForVisitors(set *op.Set) {
	op.Add(set, op.Op{ID: "list-public-services", Route: "GET /booking/services", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking,
		Limits: []db.Limit{{N: 120, Per: time.Minute}}, Doc: "List the services that visitors can book, with who does them and what the details step asks."}, r.publicServices)
	op.Add(set, op.Op{ID: "list-public-slots", Route: "GET /booking/slots", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking,
		Limits: SlotLimits, LimitKey: SlotLimit, Doc: "List the free times of a service for visitors, with the time token that booking needs.",
		Fails: op.Fails{"svc_not_found": "There is no such service that visitors can book, or no such person."}}, r.publicSlots)
}

// Free declares the operation by which the team finds a time.
func (r *Room) Free(set *op.Set) {
	op.Add(set, op.Op{ID: "get-available-slots", Route: "GET /slots", Perm: auth.ViewContacts, App: r.Service,
		Doc:   "List the free start times of a service, or of an appointment that is to be moved, with the staff members free at each.",
		Use:   "Only these times can be had. Before book-appointment give service, before reschedule-appointment give appointment: one of them. Without from and to it is the next 14 days. Times are UTC, timezone is the business's.",
		Fails: op.Fails{"svc_not_found": "There is no such service, appointment or person.", "svc_invalid_status": appointments.FailStatus, "svc_conflict staff_left": FailLeft}}, r.teamSlots)
}
