package bookings

import (
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/life"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/times"
)

// Room books and moves appointments, for the team and for visitors.
type Room struct {
	*app.Kit
	clients      *clients.Room
	services     *services.Room
	appointments *appointments.Room
	life         *life.Room
	times        *times.Room
}

func New(k *app.Kit, clients *clients.Room, services *services.Room, appointments *appointments.Room, life *life.Room, times *times.Room) *Room {
	return &Room{k, clients, services, appointments, life, times}
}

// When operations are refused, see op.Fails.
const (
	failTimeToken  = "The time token is too young or too old, is of other words than the form has now, or the field hp_url is filled in. Ask for free times again."
	failLink       = "The link is not one of ours."
	failExpired    = "The link was used, replaced or is too old, or the appointment is gone by now."
	failChangesOff = "Clients cannot change appointments online."
	failTooLate    = "It is too short before the start."
)

// ByVisitors declares the operations by which visitors book and change what they booked.
func (r *Room) ByVisitors(set *op.Set) {
	bookLimits := []db.Limit{{N: 5, Per: time.Minute}, {N: 30, Per: time.Hour}}
	manageLimits := []db.Limit{{N: 10, Per: time.Minute}}
	op.Add(set, op.Op{ID: "book-publicly", Route: "POST /booking/book", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking, Status: 201,
		Limits: bookLimits, Record: "appointment", Doc: "Book a free time as a visitor.",
		Fails: op.Fails{
			"svc_invalid_token":              failTimeToken,
			"svc_not_found":                  "There is no such service that visitors can book, or no such person.",
			"svc_slot_taken":                 appointments.FailSlot,
			"svc_conflict nobody":            times.FailNobody,
			"svc_conflict max_open_bookings": "The address has as many coming bookings as the settings allow."}}, r.bookPublicly)
	op.Add(set, op.Op{ID: "open-managed-appointment", Route: "POST /booking/manage", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking, Reads: true,
		Limits: manageLimits, LimitKey: "manage", Doc: "Show the appointment behind a link from a mail.",
		Fails: op.Fails{"svc_invalid_token": failLink, "svc_token_expired": failExpired}}, r.manage)
	op.Add(set, op.Op{ID: "list-managed-slots", Route: "POST /booking/manage/slots", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking, Reads: true,
		Limits: times.SlotLimits, LimitKey: times.SlotLimit, Doc: "List the times to which the appointment behind a link from a mail can be moved.",
		Fails: op.Fails{
			"svc_invalid_token":        failLink,
			"svc_token_expired":        failExpired,
			"svc_not_found":            "There is no such person.",
			"svc_invalid_status":       appointments.FailStatus,
			"svc_conflict changes_off": failChangesOff,
			"svc_conflict too_late":    failTooLate,
			"svc_conflict staff_left":  times.FailLeft}}, r.manageSlots)
	op.Add(set, op.Op{ID: "cancel-managed-appointment", Route: "POST /booking/manage/cancel", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking,
		Limits: manageLimits, LimitKey: "manage", Record: "appointment", Doc: "Cancel the appointment behind a link from a mail.",
		Fails: op.Fails{
			"svc_invalid_token":        failLink,
			"svc_token_expired":        failExpired,
			"svc_invalid_status":       appointments.FailStatus,
			"svc_conflict changes_off": failChangesOff,
			"svc_conflict too_late":    failTooLate}}, r.manageCancel)
	op.Add(set, op.Op{ID: "reschedule-managed-appointment", Route: "POST /booking/manage/reschedule", Perm: op.Public, App: r.Service, Channel: db.ChannelBooking,
		Limits: manageLimits, LimitKey: "manage", Record: "appointment", Doc: "Move the appointment behind a link from a mail.",
		Fails: op.Fails{
			"svc_invalid_token":        failLink,
			"svc_token_expired":        failExpired,
			"svc_not_found":            "There is no such person.",
			"svc_invalid_status":       appointments.FailStatus,
			"svc_conflict changes_off": failChangesOff,
			"svc_conflict too_late":    failTooLate,
			"svc_conflict staff_left":  times.FailLeft,
			"svc_conflict nobody":      times.FailNobody,
			"svc_slot_taken":           appointments.FailSlot}}, r.manageReschedule)
}

// Book declares the operation by which the team books.
func (r *Room) Book(set *op.Set) {
	op.Add(set, op.Op{ID: "book-appointment", Undo: op.Undo{By: "cancel-appointment"}, Route: "POST /appointments", Perm: auth.ManageBookings, App: r.Service, Status: 201, Record: "appointment",
		Outside: true, Doc: "Book a free time for a contact.",
		Use: "Take starts_at from get-available-slots; without staff the least busy person gets it. The client is mailed, so be sure of person, service and time. svc_slot_taken lists free times in data.alternatives. Answers with the appointment.",
		Fails: op.Fails{
			"svc_not_found":                "There is no such contact, service or person.",
			"svc_slot_taken":               appointments.FailSlot,
			"svc_conflict nobody":          times.FailNobody,
			"svc_conflict no_meeting_link": appointments.FailNoLink}}, r.bookAppointment)
}

// Move declares the operation by which the team moves.
func (r *Room) Move(set *op.Set) {
	op.Add(set, op.Op{ID: "reschedule-appointment", Undo: op.Undo{Steps: true}, Route: "POST /appointments/{id}/reschedule", Perm: auth.ManageBookings, App: r.Service, Record: "appointment",
		Outside: true, Doc: "Move an appointment to another free time or person, or make it longer or shorter; the client is mailed.",
		Use: "Take starts_at from get-available-slots, asked with this appointment. Without staff the same person keeps it if free then, else the least busy one gets it. The status stays, and the client gets a new link. svc_slot_taken lists free times in data.alternatives. Answers with the appointment.",
		Fails: op.Fails{
			"svc_not_found":                "There is no such appointment or person.",
			"svc_invalid_status":           appointments.FailStatus,
			"svc_slot_taken":               appointments.FailSlot,
			"svc_conflict staff_left":      times.FailLeft,
			"svc_conflict nobody":          times.FailNobody,
			"svc_conflict no_meeting_link": appointments.FailNoLink}}, r.rescheduleAppointment)
}
