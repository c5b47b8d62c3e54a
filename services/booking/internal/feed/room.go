package feed

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
)

// Room keeps the addresses, and answers the calendars that read them.
type Room struct {
	*app.Kit
	staff        *staff.Room
	services     *services.Room
	appointments *appointments.Room
}

func New(k *app.Kit, staff *staff.Room, services *services.Room, appointments *appointments.Room) *Room {
	return &Room{k, staff, services, appointments}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"calendar_feed": app.Nobody}}}
}

// Addresses declares the operations on somebody's address.
func (r *Room) Addresses(set *op.Set) {
	op.Add(set, op.Op{ID: "get-calendar-feed", Route: "GET /staff/{user}/calendar-feed", Perm: auth.ViewContacts, App: r.Service,
		Doc:   "Get whether a person's own calendar reads their appointments, and when it last did.",
		Use:   "Use it when somebody asks why an appointment is not in their own calendar. The address itself is shown once, to who makes it.",
		Fails: op.Fails{"svc_not_found": "There is no such person."}}, r.get)
	op.Add(set, op.Op{ID: "create-calendar-feed", Undo: op.Undo{Never: op.OwnChoice}, Ability: "-", Route: "POST /staff/{user}/calendar-feed", Perm: auth.ViewContacts, PersonOnly: true, App: r.Service, Status: 201, Record: "calendar_feed",
		Doc:   "Create the address at which a person's own calendar reads their appointments; one that was there before ends.",
		Fails: op.Fails{"svc_not_found": "There is no such person."}}, r.create)
	op.Add(set, op.Op{ID: "end-calendar-feed", Undo: op.Undo{Never: op.OwnChoice}, Ability: "-", Route: "DELETE /staff/{user}/calendar-feed", Perm: auth.ViewContacts, App: r.Service, Record: "calendar_feed",
		Doc:   "End the address at which a person's own calendar reads their appointments.",
		Fails: op.Fails{"svc_not_found": "There is no such person, or no address."}}, r.end)
}

// readsPerHour is how often one address may be read.
const readsPerHour = 60

// Reading declares the operation that calendars call.
func (r *Room) Reading(set *op.Set) {
	op.AddDocument(set, op.Op{ID: "read-calendar-feed", Route: "GET /calendar-feeds/{token}", Perm: op.Public, App: r.Service,
		Limits: []db.Limit{{N: 300, Per: time.Minute}},
		Doc:    "Get the appointments of a person as a calendar, by the address that they were shown: token is its last part, with .ics.",
		Fails:  op.Fails{"svc_not_found": "There is no such address, or not any more."}}, "text/calendar", r.read)
}
