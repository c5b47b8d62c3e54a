package booking

import (
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
)

// lists are what the service has of the business: what can be booked and with whom, when people work, and what was booked.
var lists = []op.List{
	{Name: "services", Query: `select s.id, s.name, s.description, s.mail_text, s.duration_min, s.buffer_before, s.buffer_after, s.price, s.location_type, s.location_details, s.confirmation, s.bookable_online, s.min_notice_min, s.max_advance_days, s.form_id, s.sort_order, s.archived, array(select user_id from skill where service_id = s.id order by user_id) as staff, s.created_at, s.updated_at from service s order by s.created_at, s.id`},
	{Name: "staff", Query: `select user_id, name, meeting_url, hours, removed_at from staff order by user_id`},
	{Name: "exceptions", Query: `select id, user_id, date_from, date_to, start_min, end_min, all_day, extra, label, created_at from exception order by created_at, id`},
	{Name: "appointments", Query: `select id, status, service_id, terms, user_id, contact_id, booked_for, starts_at, ends_at, location_type, location, meeting_url, notes, source, submission_id, cancel_reason, language, created_at, updated_at from appointment order by created_at, id`},
	{Name: "booking-settings", Query: `select slot_step, min_notice_min, max_advance_days, cancel_notice_hours, late_cancel_text, reminder_enabled, reminder_hours, later_reminders, terms_text, default_confirmation, client_changes, max_open_bookings, form_id, request_expires_hours, notify_emails from settings`},
}

func takeout(set *op.Set) {
	op.AddTakeout(set, op.Op{ID: "export-all-of-booking", Route: "GET /exports/booking.zip", Perm: auth.ManageCRM, PersonOnly: true, Audited: true, Ability: "-", Record: "takeout",
		Doc: "Export services, the hours and time off of the team, appointments and the rules of booking as a zip file."}, lists...)
}
