package life

import (
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/op"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/notices"
)

// Room changes appointments where they stand: by the team, and as time goes by.
type Room struct {
	*app.Kit
	appointments *appointments.Room
	mails        *mails.Room
	notices      *notices.Room
	// Appointments on which the jobs failed.
	unreminded, unexpired, untold *app.Aside[uuid.UUID]
}

func New(k *app.Kit, appointments *appointments.Room, mails *mails.Room, n *notices.Room) *Room {
	return &Room{k, appointments, mails, n, app.NewAside[uuid.UUID]("reminders"), app.NewAside[uuid.UUID]("requests"), app.NewAside[uuid.UUID]("waiting requests")}
}

const failNotStarted = "The appointment is not confirmed, or has not started yet."

// Parts are what the service runs of the room.
func (r *Room) Parts() app.Parts {
	return app.Parts{
		Jobs: []app.Job{
			{Name: "reminders", Every: 20 * time.Second, Run: r.remind},
			{Name: "requests", Every: time.Minute, Run: r.expireRequests},
			{Name: "waiting-requests", Every: time.Minute, Run: r.tellWaiting},
		},
		Gauges: []app.Gauge{{Name: "booking.reminders_overdue", Unit: "{reminder}", Doc: "reminders that should have gone out two minutes ago",
			SQL: `select count(*) ` + dueReminders("(now() - interval '2 minutes')"), On: func() bool { return r.Apps.On(r.Service) }}},
		Restored: r.restored,
	}
}

// Changes declares the operations that change an appointment where it stands.
func (r *Room) Changes(set *op.Set) {
	op.Add(set, op.Op{ID: "update-appointment-note", Undo: op.Undo{By: "update-appointment-note"}, Versioned: true, Route: "PATCH /appointments/{id}", Perm: auth.ManageBookings, App: r.Service, Record: "appointment", Idempotent: true,
		Doc: "Replace the internal note of an appointment.",
		Use: "The note before is gone, so read it first if it should stay. Clients never see notes. Answers with the appointment."}, r.updateNote)
	op.Add(set, op.Op{ID: "cancel-appointment", Undo: op.Undo{Steps: true}, Route: "POST /appointments/{id}/cancel", Perm: auth.ManageBookings, App: r.Service, Record: "appointment", Destructive: true,
		Outside: true, Doc: "Cancel a requested or confirmed appointment; the client is mailed, and the reason stays internal.",
		Use:   "reopen-appointment takes it back for a day, if its time is still free. To change the time use reschedule-appointment. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": appointments.FailStatus}}, r.cancelAppointment)
	op.Add(set, op.Op{ID: "complete-appointment", Undo: op.Undo{By: "reopen-appointment"}, Route: "POST /appointments/{id}/complete", Perm: auth.ManageBookings, App: r.Service, Record: "appointment",
		Doc:   "Mark a confirmed appointment that has started as completed.",
		Use:   "No mail is sent. reopen-appointment takes it back for a day. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failNotStarted}}, r.completeAppointment)
	op.Add(set, op.Op{ID: "confirm-appointment", Undo: op.Undo{Never: op.WentOut}, Route: "POST /appointments/{id}/confirm", Perm: auth.ManageBookings, App: r.Service, Record: "appointment",
		Outside: true, Doc: "Confirm a requested appointment; the client gets a calendar file and a link to cancel or move.",
		Use:   "Use it to accept a request; get-overview lists those that wait. Its time was kept meanwhile, but the person's own calendar may take it by now: outside_hours confirms all the same. The client is mailed. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": appointments.FailStatus, "svc_slot_taken": "The person's own calendar takes the time by now."}}, r.confirmAppointment)
	op.Add(set, op.Op{ID: "decline-appointment", Undo: op.Undo{Never: op.WentOut}, Route: "POST /appointments/{id}/decline", Perm: auth.ManageBookings, App: r.Service, Record: "appointment", Destructive: true,
		Outside: true, Doc: "Decline a requested appointment; the client is mailed, and the reason stays internal.",
		Use:   "Use it to refuse a request: its time is free again, and it cannot be undone. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": appointments.FailStatus}}, r.declineAppointment)
	op.Add(set, op.Op{ID: "mark-appointment-spam", Undo: op.Undo{Never: op.ByHand}, Route: "POST /appointments/{id}/spam", Perm: auth.ManageBookings, App: r.Service, Record: "appointment", Destructive: true,
		Doc:   "Mark what a visitor booked as spam: its time is free again, and nobody outside the team is mailed.",
		Use:   "A request becomes declined, a confirmed appointment cancelled, with spam as the reason; it cannot be undone. The contact stays, and so do the answers to its form: mark-submission-spam is for them. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": appointments.FailStatus, "svc_conflict not_by_visitor": "The team has booked it."}}, r.markSpam)
	op.Add(set, op.Op{ID: "mark-no-show", Undo: op.Undo{By: "reopen-appointment"}, Route: "POST /appointments/{id}/no-show", Perm: auth.ManageBookings, App: r.Service, Record: "appointment",
		Doc:   "Mark a confirmed appointment that has started as missed by the client.",
		Use:   "No mail is sent. reopen-appointment takes it back for a day. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": failNotStarted}}, r.markNoShow)
	op.Add(set, op.Op{ID: "reopen-appointment", Undo: op.Undo{Steps: true}, Route: "POST /appointments/{id}/reopen", Perm: auth.ManageBookings, App: r.Service, Record: "appointment",
		Doc: "Mark an appointment that was completed, missed or cancelled as confirmed again, within a day of that.",
		Use: "Use it to undo complete-appointment, mark-no-show and, before its time has come, cancel-appointment: that client is mailed. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": "The appointment is neither completed nor missed nor cancelled.", "svc_conflict too_late": "It has been over for more than a day, or was cancelled and its time has come.",
			"svc_slot_taken": "Somebody else has its time by now."}}, r.reopenAppointment)
	op.Add(set, op.Op{ID: "change-appointment-place", Undo: op.Undo{By: "change-appointment-place"}, Route: "POST /appointments/{id}/place", Perm: auth.ManageBookings, App: r.Service, Record: "appointment",
		Outside: true, Doc: "Change where an appointment takes place; the client is mailed.",
		Use:   "client needs location, online needs meeting_url or the person's own link. Time and status stay. Answers with the appointment.",
		Fails: op.Fails{"svc_invalid_status": appointments.FailStatus, "svc_conflict no_meeting_link": appointments.FailNoLink}}, r.changePlace)
}
