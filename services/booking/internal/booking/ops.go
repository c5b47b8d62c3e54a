package booking

import (
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// ops declares every operation, in the order of the interface.
func (s *service) ops() *op.Set {
	set := s.NewSet()

	bookLimits := []db.Limit{{N: 5, Per: time.Minute}, {N: 30, Per: time.Hour}}
	manageLimits := []db.Limit{{N: 10, Per: time.Minute}}
	op.Add(set, op.Op{ID: "list-public-services", Route: "GET /booking/services", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Doc: "List the services that visitors can book, with who does them and what the details step asks."}, s.publicServices)
	op.Add(set, op.Op{ID: "list-public-slots", Route: "GET /booking/slots", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "List the free times of a service for visitors, with the time token that booking needs."}, s.publicSlots)
	op.Add(set, op.Op{ID: "book-publicly", Route: "POST /booking/book", Perm: op.Public, App: appID, Channel: db.ChannelBooking, Status: 201,
		Limits: bookLimits, Record: "appointment", Doc: "Book a free time as a visitor."}, s.bookPublicly)
	op.Add(set, op.Op{ID: "open-managed-appointment", Route: "POST /booking/manage", Perm: op.Public, App: appID, Channel: db.ChannelBooking, Reads: true,
		Limits: manageLimits, LimitKey: "manage", Doc: "Show the appointment behind a link from a mail."}, s.manage)
	op.Add(set, op.Op{ID: "cancel-managed-appointment", Route: "POST /booking/manage/cancel", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Limits: manageLimits, LimitKey: "manage", Record: "appointment", Doc: "Cancel the appointment behind a link from a mail."}, s.manageCancel)
	op.Add(set, op.Op{ID: "reschedule-managed-appointment", Route: "POST /booking/manage/reschedule", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Limits: manageLimits, LimitKey: "manage", Record: "appointment", Doc: "Move the appointment behind a link from a mail."}, s.manageReschedule)

	op.Add(set, op.Op{ID: "find-appointments", Route: "GET /appointments", Perm: auth.ViewContacts, App: appID,
		Doc: "List the appointments of a period, of a contact, or changed since a moment."}, s.findAppointments)
	op.Add(set, op.Op{ID: "book-appointment", Route: "POST /appointments", Perm: auth.ManageBookings, App: appID, Status: 201, Record: "appointment",
		Doc: "Book a free time for a contact."}, s.bookAppointment)
	op.Add(set, op.Op{ID: "get-appointment", Route: "GET /appointments/{id}", Perm: auth.ViewContacts, App: appID,
		Doc: "Get one appointment, with the client's address and phone number."}, s.getAppointment)
	op.Add(set, op.Op{ID: "update-appointment-note", Route: "PATCH /appointments/{id}", Perm: auth.ManageBookings, App: appID, Record: "appointment", Idempotent: true,
		Doc: "Replace the internal note of an appointment."}, s.updateNote)
	op.Add(set, op.Op{ID: "cancel-appointment", Route: "POST /appointments/{id}/cancel", Perm: auth.ManageBookings, App: appID, Record: "appointment", Destructive: true,
		Doc: "Cancel a requested or confirmed appointment; the client is mailed, and the reason stays internal."}, s.cancelAppointment)
	op.Add(set, op.Op{ID: "complete-appointment", Route: "POST /appointments/{id}/complete", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc: "Mark a confirmed appointment that has started as completed."}, s.completeAppointment)
	op.Add(set, op.Op{ID: "confirm-appointment", Route: "POST /appointments/{id}/confirm", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc: "Confirm a requested appointment; the client gets a calendar file and a link to cancel or move."}, s.confirmAppointment)
	op.Add(set, op.Op{ID: "decline-appointment", Route: "POST /appointments/{id}/decline", Perm: auth.ManageBookings, App: appID, Record: "appointment", Destructive: true,
		Doc: "Decline a requested appointment; the client is mailed, and the reason stays internal."}, s.declineAppointment)
	op.Add(set, op.Op{ID: "mark-no-show", Route: "POST /appointments/{id}/no-show", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc: "Mark a confirmed appointment that has started as missed by the client."}, s.markNoShow)
	op.Add(set, op.Op{ID: "change-appointment-place", Route: "POST /appointments/{id}/place", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc: "Change where an appointment takes place; the client is mailed."}, s.changePlace)
	op.Add(set, op.Op{ID: "reschedule-appointment", Route: "POST /appointments/{id}/reschedule", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc: "Move an appointment to another free time or person; the client is mailed."}, s.rescheduleAppointment)
	op.Add(set, op.Op{ID: "get-calendar", Route: "GET /calendar", Perm: auth.ViewContacts, App: appID,
		Doc: "Get the working hours of each day per staff member, and the appointments that are not cancelled or declined."}, s.calendar)
	op.Add(set, op.Op{ID: "get-available-slots", Route: "GET /slots", Perm: auth.ViewContacts, App: appID,
		Doc: "List the free start times of a service with the staff members free at each."}, s.teamSlots)

	op.Add(set, op.Op{ID: "list-services", Route: "GET /services", Perm: auth.ViewContacts, App: appID, Doc: "List bookable services."}, listServices)
	op.Add(set, op.Op{ID: "create-service", Route: "POST /services", Perm: auth.ManageCRM, App: appID, Status: 201, Record: "service", Doc: "Add a bookable service."}, s.createService)
	op.Add(set, op.Op{ID: "get-service", Route: "GET /services/{id}", Perm: auth.ViewContacts, App: appID, Doc: "Get one bookable service, archived or not."}, getService)
	op.Add(set, op.Op{ID: "update-service", Route: "PATCH /services/{id}", Perm: auth.ManageCRM, App: appID, Record: "service", Idempotent: true,
		Doc: "Change the given settings of a service; appointments keep those they were booked with."}, s.updateService)
	op.Add(set, op.Op{ID: "archive-service", Route: "DELETE /services/{id}", Perm: auth.ManageCRM, App: appID, Record: "service",
		Doc: "Archive a service: it can no longer be booked, its appointments stay."}, archiveService)

	op.Add(set, op.Op{ID: "list-closures", Route: "GET /closures", Perm: auth.ViewContacts, App: appID, Doc: "List the closures of the whole business."}, s.listClosures)
	op.Add(set, op.Op{ID: "add-time-off", Route: "POST /closures", Perm: auth.ManageBookings, App: appID, Status: 201, Record: "time_off",
		Doc: "Add time off or extra hours of a person, or close the whole business when no person is given."}, s.addClosure)
	op.Add(set, op.Op{ID: "remove-time-off", Route: "DELETE /exceptions/{id}", Perm: auth.ManageBookings, App: appID, Record: "time_off",
		Doc: "Remove time off, extra hours or a closure."}, s.removeException)
	op.Add(set, op.Op{ID: "list-staff", Route: "GET /staff", Perm: auth.ViewContacts, Doc: "List staff members with weekly hours, services and meeting link."}, s.listStaff)
	op.Add(set, op.Op{ID: "update-staff", Route: "PATCH /staff/{user}", Perm: auth.ManageBookings, Record: "staff", Idempotent: true,
		Doc: "Change the name clients see, the meeting link or the services of a staff member."}, s.updateStaff)
	op.Add(set, op.Op{ID: "remove-staff", Route: "DELETE /staff/{user}", Perm: auth.ManageCRM, Record: "staff",
		Doc: "Remove a staff member; a successor takes over contacts, organizations and appointments."}, s.removeStaff)
	op.Add(set, op.Op{ID: "get-staff-exceptions", Ability: "get-staff-schedule", Route: "GET /staff/{user}/exceptions", Perm: auth.ViewContacts, App: appID,
		Doc: "List the time off and extra hours of a staff member, with the appointments they touch."}, s.listExceptions)
	op.Add(set, op.Op{ID: "add-staff-exception", Ability: "add-time-off", Route: "POST /staff/{user}/exceptions", Perm: auth.ManageBookings, App: appID, Status: 201, Record: "time_off",
		Doc: "Add time off or extra hours of a staff member."}, s.addException)
	op.Add(set, op.Op{ID: "get-staff-hours", Ability: "get-staff-schedule", Route: "GET /staff/{user}/hours", Perm: auth.ViewContacts, App: appID,
		Doc: "Get the weekly hours of a staff member by ISO weekday."}, s.getHours)
	op.Add(set, op.Op{ID: "update-staff-hours", Route: "PUT /staff/{user}/hours", Perm: auth.ManageBookings, App: appID, Record: "staff",
		Doc: "Set the weekly hours of a staff member; weekdays left out have none."}, s.putHours)

	op.Add(set, op.Op{ID: "get-booking-embed", Route: "GET /booking-widget/embed", Perm: auth.ViewContacts, App: appID,
		Doc: "Get how to show the booking widget on a page, and where it is shown."}, s.embed)
	op.AddOutside(set, op.Op{ID: "embed-booking-in-page", Route: "POST /booking-widget/embed-in-page", Perm: auth.ManageCRM, App: appID, Record: "page",
		Doc: "Add the booking widget to a page of the site, or to a new one."}, s.embedInPage)

	op.Add(set, op.Op{ID: "get-booking-settings", Route: "GET /settings/booking", Perm: auth.ViewContacts, App: appID, Doc: "Get the settings of online booking."}, getSettings)
	op.Add(set, op.Op{ID: "update-booking-settings", Route: "PATCH /settings/booking", Perm: auth.ManageCRM, App: appID, Record: "settings", Idempotent: true,
		Doc: "Change the given settings of online booking."}, s.updateSettings)
	return set
}
