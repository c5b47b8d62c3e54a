package team

import (
	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/life"
	"frontdesk/services/booking/internal/staff"
)

// Room shows the team, and lets its members change and go.
type Room struct {
	*app.Kit
	staff        *staff.Room
	appointments *appointments.Room
	life         *life.Room
}

func New(k *app.Kit, staff *staff.Room, appointments *appointments.Room, life *life.Room) *Room {
	return &Room{k, staff, appointments, life}
}

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{Follows: []bus.Follow{{Topic: proto.BookingCommandTopic, Handle: bus.On(proto.KindRemoveStaff, r.onRemoveStaff)}}}
}

// Members declares the operations on the people of the team.
func (r *Room) Members(set *op.Set) {
	op.Add(set, op.Op{ID: "list-staff", Route: "GET /staff", Perm: auth.ViewContacts, Doc: "List staff members with weekly hours, services and meeting link.",
		Use: "Use it to find who does which service, with user ids."}, r.listStaff)
	op.Add(set, op.Op{ID: "update-staff", Undo: op.Undo{By: "update-staff"}, Versioned: true, Route: "PATCH /staff/{user}", Perm: auth.ManageBookings, Record: "staff", Idempotent: true,
		Doc: "Change the name clients see, the meeting link or the services of a staff member.",
		Use: "services replaces the whole list and is for managers. Clients see the new name. Answers with the staff member."}, r.updateStaff)
	op.Add(set, op.Op{ID: "remove-staff", Undo: op.Undo{Never: op.Access}, Route: "DELETE /staff/{user}", Perm: auth.ManageCRM, Record: "staff",
		Outside: true, Doc: "Remove a staff member; a successor takes over contacts, organizations, tasks and appointments.",
		Use: "It cannot be undone: the account goes too unless it has another use, and clients are mailed who does their appointment now. svc_conflict names what is in the way. Be sure of both people first.",
		Fails: op.Fails{
			"svc_conflict self":               "Nobody removes themselves.",
			"svc_conflict last_administrator": "The person is the last site administrator.",
			"svc_conflict successor":          "The successor is not on the team, or is the person who goes.",
			"svc_conflict no_meeting_link":    "One of the appointments is online, and neither it nor the successor has a meeting link.",
			"svc_conflict overlap":            "One of the appointments falls on one of the successor's.",
			"svc_forbidden role":              "The person holds rights that the caller does not hold."}}, r.removeStaff)
}
