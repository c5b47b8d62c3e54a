package calendar

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/staff"
)

// Room keeps closures, time off and extra hours, and shows the time of the team with its appointments.
type Room struct {
	*app.Kit
	staff        *staff.Room
	appointments *appointments.Room
}

func New(k *app.Kit, staff *staff.Room, appointments *appointments.Room) *Room {
	return &Room{k, staff, appointments}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Personal: app.Personal{Holds: map[string]app.Holds{"exception": app.Nobody}}}
}

// Shown declares the operation that shows the time of the team.
func (r *Room) Shown(set *op.Set) {
	op.Add(set, op.Op{ID: "get-calendar", Route: "GET /calendar", Perm: auth.ViewContacts, App: r.Service,
		Doc: "Get the working hours of each day per staff member, and the appointments that are not cancelled or declined.",
		Use: "Use it to see who works when and what is booked; without from and to it is this week. For times that can be booked use get-available-slots."}, r.calendar)
	op.Add(set, op.Op{ID: "get-calendar-days", Route: "GET /calendar/days", Perm: auth.ViewContacts, App: r.Service,
		Doc: "List the days of a period that have appointments, with how many there are and the first of each day.",
		Use: "Use it for an overview of weeks; days without appointments are left out. For all appointments of some days use get-calendar."}, r.days)
}

// Closures declares the operations on the time of the whole business.
func (r *Room) Closures(set *op.Set) {
	op.Add(set, op.Op{ID: "list-closures", Route: "GET /closures", Perm: auth.ViewContacts, App: r.Service, Doc: "List the closures of the whole business.",
		Use: "Use it to see when nobody works; time off of one person is in get-staff-schedule."}, r.listClosures)
	op.Add(set, op.Op{ID: "add-time-off", Undo: op.Undo{By: "remove-time-off"}, Route: "POST /closures", Perm: auth.ManageBookings, App: r.Service, Status: 201, Record: "time_off",
		Doc:   "Add time off or extra hours of a person, or close the whole business when no person is given.",
		Use:   "type closed takes time away, extra adds hours and needs start and end. Appointments in that time stay: the answer lists them, so that somebody can move them. remove-time-off undoes it.",
		Fails: op.Fails{"svc_not_found": "There is no such person."}}, r.addClosure)
	op.Add(set, op.Op{ID: "add-holidays", Undo: op.Undo{Steps: true}, Route: "POST /closures/holidays", Perm: auth.ManageBookings, App: r.Service, Record: "time_off", Idempotent: true,
		Doc: "Close the business on the public holidays of a year.",
		Use: "Holidays on which it is closed already are left as they are, so it can be repeated. Appointments on those days stay: the answer lists them, so that somebody can move them. remove-time-off takes one away."}, r.addHolidays)
	op.Add(set, op.Op{ID: "find-time-off", Route: "GET /exceptions", Perm: auth.ViewContacts, App: r.Service,
		Doc: "List closures, time off and extra hours of everybody in a period of at most 62 days, with the appointments they touch.",
		Use: "Use it to see who is away when; without from and to it is this week. An entry without user_id closes the whole business. Labels were typed by the team."}, r.findExceptions)
	op.Add(set, op.Op{ID: "remove-time-off", Undo: op.Undo{Steps: true}, Route: "DELETE /exceptions/{id}", Perm: auth.ManageBookings, App: r.Service, Record: "time_off",
		Doc: "Remove time off, extra hours or a closure.",
		Use: "Takes the id of an entry in find-time-off, list-closures or get-staff-schedule. What was closed can be booked again at once, and extra hours cannot any more; appointments in them stay."}, r.removeException)
}

// TimeOff declares the operations on the time off of one person.
func (r *Room) TimeOff(set *op.Set) {
	op.Add(set, op.Op{ID: "get-staff-exceptions", Ability: "get-staff-schedule", Route: "GET /staff/{user}/exceptions", Perm: auth.ViewContacts, App: r.Service,
		Doc: "List the time off and extra hours of a staff member, with the appointments they touch.",
		Use: "Answers with past and coming entries; each lists the appointments in its time. Weekly hours are in list-staff."}, r.listExceptions)
	op.Add(set, op.Op{ID: "add-staff-exception", Undo: op.Undo{By: "remove-time-off"}, Ability: "add-time-off", Route: "POST /staff/{user}/exceptions", Perm: auth.ManageBookings, App: r.Service, Status: 201, Record: "time_off",
		Doc: "Add time off or extra hours of a staff member."}, r.addException)
}
