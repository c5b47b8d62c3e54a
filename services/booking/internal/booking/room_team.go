package booking

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// teamOps declares the operations on the people of the team.
func (s *service) teamOps(set *op.Set) {
	op.Add(set, op.Op{ID: "list-staff", Route: "GET /staff", Perm: auth.ViewContacts, Doc: "List staff members with weekly hours, services and meeting link.",
		Use: "Use it to find who does which service, with user ids."}, s.listStaff)
	op.Add(set, op.Op{ID: "update-staff", Route: "PATCH /staff/{user}", Perm: auth.ManageBookings, Record: "staff", Idempotent: true,
		Doc: "Change the name clients see, the meeting link or the services of a staff member.",
		Use: "services replaces the whole list and is for managers. Clients see the new name. Answers with the staff member."}, s.updateStaff)
	op.Add(set, op.Op{ID: "remove-staff", Route: "DELETE /staff/{user}", Perm: auth.ManageCRM, Record: "staff",
		Outside: true, Doc: "Remove a staff member; a successor takes over contacts, organizations and appointments.",
		Use: "It cannot be undone: the account goes too unless it has another use, and clients are mailed who does their appointment now. svc_conflict names what is in the way. Be sure of both people first.",
		Fails: op.Fails{
			"svc_conflict self":               "Nobody removes themselves.",
			"svc_conflict last_administrator": "The person is the last site administrator.",
			"svc_conflict successor":          "The successor is not on the team, or is the person who goes.",
			"svc_conflict overlap":            "One of the appointments falls on one of the successor's.",
			"svc_forbidden role":              "The person holds rights that the caller does not hold."}}, s.removeStaff)
}
