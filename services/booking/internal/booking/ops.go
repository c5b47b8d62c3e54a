package booking

import (
	_ "embed"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// When operations are refused, see op.Fails.
const (
	failSlot       = "The time is not free. data.alternatives has the nearest free times."
	failStatus     = "The status of the appointment does not allow it. data.current is the status."
	failNotStarted = "The appointment is not confirmed, or has not started yet."
	failTimeToken  = "The time token is too young or too old, is of other words than the form has now, or the field hp_url is filled in. Ask for free times again."
	failLink       = "The link is not one of ours."
	failExpired    = "The link was used, replaced or is too old."
	failChangesOff = "Clients cannot change appointments online."
	failTooLate    = "It is too short before the start."
	failNoLink     = "The appointment is online, and neither it nor the person has a meeting link."
)

// ops declares every operation, in the order of the interface.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)

	bookLimits := []db.Limit{{N: 5, Per: time.Minute}, {N: 30, Per: time.Hour}}
	manageLimits := []db.Limit{{N: 10, Per: time.Minute}}
	set.Under("Booking by visitors", "What the booking widget calls: services, free times, booking, and the link of a mail that moves or cancels. No credential is needed.")
	op.Add(set, op.Op{ID: "list-public-services", Route: "GET /booking/services", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Doc: "List the services that visitors can book, with who does them and what the details step asks."}, s.publicServices)
	op.Add(set, op.Op{ID: "list-public-slots", Route: "GET /booking/slots", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Limits: []db.Limit{{N: 60, Per: time.Minute}}, Doc: "List the free times of a service for visitors, with the time token that booking needs.",
		Fails: op.Fails{"svc_not_found": "There is no such service that visitors can book, or no such person."}}, s.publicSlots)
	op.Add(set, op.Op{ID: "book-publicly", Route: "POST /booking/book", Perm: op.Public, App: appID, Channel: db.ChannelBooking, Status: 201,
		Limits: bookLimits, Record: "appointment", Doc: "Book a free time as a visitor.",
		Fails: op.Fails{
			"svc_invalid_token":              failTimeToken,
			"svc_not_found":                  "There is no such service that visitors can book, or no such person.",
			"svc_slot_taken":                 failSlot,
			"svc_conflict max_open_bookings": "The address has as many coming bookings as the settings allow."}}, s.bookPublicly)
	op.Add(set, op.Op{ID: "open-managed-appointment", Route: "POST /booking/manage", Perm: op.Public, App: appID, Channel: db.ChannelBooking, Reads: true,
		Limits: manageLimits, LimitKey: "manage", Doc: "Show the appointment behind a link from a mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired, "svc_not_found": "The appointment is gone by now."}}, s.manage)
	op.Add(set, op.Op{ID: "cancel-managed-appointment", Route: "POST /booking/manage/cancel", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Limits: manageLimits, LimitKey: "manage", Record: "appointment", Doc: "Cancel the appointment behind a link from a mail.",
		Fails: op.Fails{
			"svc_invalid_token":        failLink,
			"svc_token_expired":        failExpired,
			"svc_not_found":            "The appointment is gone by now.",
			"svc_invalid_status":       failStatus,
			"svc_conflict changes_off": failChangesOff,
			"svc_conflict too_late":    failTooLate}}, s.manageCancel)
	op.Add(set, op.Op{ID: "reschedule-managed-appointment", Route: "POST /booking/manage/reschedule", Perm: op.Public, App: appID, Channel: db.ChannelBooking,
		Limits: manageLimits, LimitKey: "manage", Record: "appointment", Doc: "Move the appointment behind a link from a mail.",
		Fails: op.Fails{
			"svc_invalid_token":            failLink,
			"svc_token_expired":            failExpired,
			"svc_not_found":                "The appointment is gone by now, or there is no such person.",
			"svc_invalid_status":           failStatus,
			"svc_conflict changes_off":     failChangesOff,
			"svc_conflict too_late":        failTooLate,
			"svc_slot_taken":               failSlot,
			"svc_conflict no_meeting_link": failNoLink}}, s.manageReschedule)

	set.Under("Appointments", "Times that are requested or booked, and all that can happen to them.")
	op.Add(set, op.Op{ID: "find-appointments", Route: "GET /appointments", Perm: auth.ViewContacts, App: appID,
		Doc: "List the appointments of a period, of a contact, or changed since a moment.",
		Use: "Use from and to as days of the business, 62 at most, or contact for one person. Answers with one page, the earliest first; times are UTC."}, s.findAppointments)
	op.Add(set, op.Op{ID: "book-appointment", Route: "POST /appointments", Perm: auth.ManageBookings, App: appID, Status: 201, Record: "appointment",
		Outside: true, Doc: "Book a free time for a contact.",
		Use: "Take starts_at from get-available-slots; without staff the least busy person gets it. The client is mailed, so be sure of person, service and time. svc_slot_taken lists free times in data.alternatives. Answers with the appointment.",
		Fails: op.Fails{
			"svc_not_found":                "There is no such contact, service or person.",
			"svc_slot_taken":               failSlot,
			"svc_conflict no_meeting_link": failNoLink}}, s.bookAppointment)
	op.Add(set, op.Op{ID: "get-appointment", Route: "GET /appointments/{id}", Perm: auth.ViewContacts, App: appID,
		Doc: "Get one appointment, with the client's address and phone number.",
		Use: "Use it with an id from find-appointments or get-calendar. Answers with status, time in UTC, place, internal notes and the client."}, s.getAppointment)
	op.Add(set, op.Op{ID: "update-appointment-note", Versioned: true, Route: "PATCH /appointments/{id}", Perm: auth.ManageBookings, App: appID, Record: "appointment", Idempotent: true,
		Doc: "Replace the internal note of an appointment.",
		Use: "The note before is gone, so read it first if it should stay. Clients never see notes. Answers with the appointment."}, s.updateNote)
	op.Add(set, op.Op{ID: "cancel-appointment", Route: "POST /appointments/{id}/cancel", Perm: auth.ManageBookings, App: appID, Record: "appointment", Destructive: true,
		Outside: true, Doc: "Cancel a requested or confirmed appointment; the client is mailed, and the reason stays internal.",
		Use:   "It cannot be undone; book again instead. To change the time use reschedule-appointment. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failStatus}}, s.cancelAppointment)
	op.Add(set, op.Op{ID: "complete-appointment", Route: "POST /appointments/{id}/complete", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc:   "Mark a confirmed appointment that has started as completed.",
		Use:   "No mail is sent. It cannot be taken back, so be sure that the client came. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failNotStarted}}, s.completeAppointment)
	op.Add(set, op.Op{ID: "confirm-appointment", Route: "POST /appointments/{id}/confirm", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Outside: true, Doc: "Confirm a requested appointment; the client gets a calendar file and a link to cancel or move.",
		Use:   "Use it to accept a request; get-overview lists those that wait. Its time was kept meanwhile. The client is mailed. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failStatus}}, s.confirmAppointment)
	op.Add(set, op.Op{ID: "decline-appointment", Route: "POST /appointments/{id}/decline", Perm: auth.ManageBookings, App: appID, Record: "appointment", Destructive: true,
		Outside: true, Doc: "Decline a requested appointment; the client is mailed, and the reason stays internal.",
		Use:   "Use it to refuse a request: its time is free again, and it cannot be undone. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failStatus}}, s.declineAppointment)
	op.Add(set, op.Op{ID: "mark-no-show", Route: "POST /appointments/{id}/no-show", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Doc:   "Mark a confirmed appointment that has started as missed by the client.",
		Use:   "No mail is sent. It cannot be taken back. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failNotStarted}}, s.markNoShow)
	op.Add(set, op.Op{ID: "change-appointment-place", Route: "POST /appointments/{id}/place", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Outside: true, Doc: "Change where an appointment takes place; the client is mailed.",
		Use:   "client needs location, online needs meeting_url or the person's own link. Time and status stay. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failStatus, "svc_conflict no_meeting_link": failNoLink}}, s.changePlace)
	op.Add(set, op.Op{ID: "reschedule-appointment", Route: "POST /appointments/{id}/reschedule", Perm: auth.ManageBookings, App: appID, Record: "appointment",
		Outside: true, Doc: "Move an appointment to another free time or person; the client is mailed.",
		Use:   "Take starts_at from get-available-slots. The status stays, and the client gets a new link. svc_slot_taken lists free times in data.alternatives. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failStatus, "svc_slot_taken": failSlot, "svc_conflict no_meeting_link": failNoLink}}, s.rescheduleAppointment)
	op.Add(set, op.Op{ID: "get-calendar", Route: "GET /calendar", Perm: auth.ViewContacts, App: appID,
		Doc: "Get the working hours of each day per staff member, and the appointments that are not cancelled or declined.",
		Use: "Use it to see who works when and what is booked; without from and to it is this week. For times that can be booked use get-available-slots."}, s.calendar)
	op.Add(set, op.Op{ID: "get-available-slots", Route: "GET /slots", Perm: auth.ViewContacts, App: appID,
		Doc:   "List the free start times of a service with the staff members free at each.",
		Use:   "Use it before book-appointment and reschedule-appointment: only these times can be booked. Needs the id of a service; without from and to it is the next 14 days. Times are UTC, timezone is the business's.",
		Fails: op.Fails{"svc_not_found": "There is no such service or person."}}, s.teamSlots)

	op.Add(set, op.Op{ID: "get-booking-statistics", Route: "GET /statistics/bookings", Perm: auth.ViewContacts, App: appID,
		Doc: "Get how many appointments each of the last weeks had, by status, and how many were booked online.",
		Use: "Use it for trends. For the appointments themselves use find-appointments. Weeks begin on Monday; the present one is not over."}, s.statistics)

	set.Under("Services", "What can be booked: length, buffers, price, place, and who does it.")
	op.Add(set, op.Op{ID: "list-services", Route: "GET /services", Perm: auth.ViewContacts, App: appID, Doc: "List bookable services.",
		Use: "Use it to find the id, length and price of what can be booked."}, listServices)
	op.Add(set, op.Op{ID: "create-service", Route: "POST /services", Perm: auth.ManageCRM, App: appID, Status: 201, Record: "service", Doc: "Add a bookable service.",
		Use:   "Give staff the user ids of those who do it, else nobody can be booked. Answers with the service.",
		Fails: op.Fails{"svc_not_found": "There is no such form."}}, s.createService)
	op.Add(set, op.Op{ID: "get-service", Route: "GET /services/{id}", Perm: auth.ViewContacts, App: appID, Doc: "Get one bookable service, archived or not.",
		Use: "Answers with all its settings, also the buffers that clients do not see."}, getService)
	op.Add(set, op.Op{ID: "update-service", Versioned: true, Route: "PATCH /services/{id}", Perm: auth.ManageCRM, App: appID, Record: "service", Idempotent: true,
		Doc: "Change the given settings of a service; appointments keep those they were booked with.",
		Use: "What is left out stays. archived false takes an archived service back. Answers with the service."}, s.updateService)
	op.Add(set, op.Op{ID: "archive-service", Versioned: true, Route: "DELETE /services/{id}", Perm: auth.ManageCRM, App: appID, Record: "service",
		Doc: "Archive a service: it can no longer be booked, its appointments stay.",
		Use: "update-service with archived false takes it back."}, archiveService)

	set.Under("Closures", "Days on which the business is closed or open in addition.")
	op.Add(set, op.Op{ID: "list-closures", Route: "GET /closures", Perm: auth.ViewContacts, App: appID, Doc: "List the closures of the whole business.",
		Use: "Use it to see on which days nobody works; time off of one person is in get-staff-schedule."}, s.listClosures)
	op.Add(set, op.Op{ID: "add-time-off", Route: "POST /closures", Perm: auth.ManageBookings, App: appID, Status: 201, Record: "time_off",
		Doc:   "Add time off or extra hours of a person, or close the whole business when no person is given.",
		Use:   "type closed takes time away, extra adds hours and needs start and end. Appointments in that time stay: the answer lists them, so that somebody can move them. remove-time-off undoes it.",
		Fails: op.Fails{"svc_not_found": "There is no such person."}}, s.addClosure)
	op.Add(set, op.Op{ID: "find-time-off", Route: "GET /exceptions", Perm: auth.ViewContacts, App: appID,
		Doc: "List closures, time off and extra hours of everybody in a period of at most 62 days, with the appointments they touch.",
		Use: "Use it to see who is away when; without from and to it is this week. An entry without user_id closes the whole business. Labels were typed by the team."}, s.findExceptions)
	op.Add(set, op.Op{ID: "remove-time-off", Route: "DELETE /exceptions/{id}", Perm: auth.ManageBookings, App: appID, Record: "time_off",
		Doc: "Remove time off, extra hours or a closure.",
		Use: "Takes the id of an entry in list-closures or get-staff-schedule. The time can be booked again at once."}, s.removeException)
	set.Under("Team", "People of the team: their hours, time off, roles and access.")
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
	op.Add(set, op.Op{ID: "get-staff-exceptions", Ability: "get-staff-schedule", Route: "GET /staff/{user}/exceptions", Perm: auth.ViewContacts, App: appID,
		Doc: "List the time off and extra hours of a staff member, with the appointments they touch.",
		Use: "Answers with past and coming entries; each lists the appointments in its time. Weekly hours are in list-staff."}, s.listExceptions)
	op.Add(set, op.Op{ID: "add-staff-exception", Ability: "add-time-off", Route: "POST /staff/{user}/exceptions", Perm: auth.ManageBookings, App: appID, Status: 201, Record: "time_off",
		Doc: "Add time off or extra hours of a staff member."}, s.addException)
	op.Add(set, op.Op{ID: "get-staff-hours", Ability: "get-staff-schedule", Route: "GET /staff/{user}/hours", Perm: auth.ViewContacts, App: appID,
		Doc: "Get the weekly hours of a staff member by ISO weekday."}, s.getHours)
	op.Add(set, op.Op{ID: "update-staff-hours", Route: "PUT /staff/{user}/hours", Perm: auth.ManageBookings, App: appID, Record: "staff",
		Doc: "Set the weekly hours of a staff member; weekdays left out have none.",
		Use: "The whole week is replaced, so send all days: 1 is Monday, each a list of [start, end]. Appointments outside the new hours stay. Answers with the week."}, s.putHours)

	set.Under("Booking widget and settings", "How visitors reach the booking widget, and the rules that it follows.")
	op.Add(set, op.Op{ID: "get-booking-embed", Route: "GET /booking-widget/embed", Perm: auth.ViewContacts, App: appID,
		Doc:   "Get how to show the booking widget on a page, and where it is shown.",
		Use:   "Use it when somebody asks how visitors can book. booking_page is the address of a page of its own, or null.",
		Fails: op.Fails{"svc_not_found": "There is no such service or person."}}, s.embed)
	op.AddOutside(set, op.Op{ID: "embed-booking-in-page", Route: "POST /booking-widget/embed-in-page", Perm: auth.ManageCRM, App: appID, Record: "page",
		Doc:   "Add the booking widget to a page of the site, or to a new one.",
		Use:   "It is added at the end of the page; a new page is a draft that a person has to publish. Answers with page and address to edit.",
		Fails: op.Fails{"svc_not_found": "There is no such page, service or person."}}, s.embedInPage)

	op.Add(set, op.Op{ID: "get-booking-settings", Route: "GET /settings/booking", Perm: auth.ViewContacts, App: appID, Doc: "Get the settings of online booking.",
		Use: "Use it to see notice, horizon, reminders and whether clients may change appointments themselves."}, getSettings)
	op.Add(set, op.Op{ID: "update-booking-settings", Versioned: true, Route: "PATCH /settings/booking", Perm: auth.ManageCRM, App: appID, Record: "settings", Idempotent: true,
		Doc:   "Change the given settings of online booking.",
		Use:   "What is left out stays. It counts for the next booking, not for those made. Answers with all settings.",
		Fails: op.Fails{"svc_not_found": "There is no such form."}}, s.updateSettings)
	return set
}
