package message

import (
	"context"
	"fmt"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Event is a kind of event that webhooks can subscribe.
type Event struct {
	Event  string   `json:"event" doc:"The name that webhooks subscribe."`
	App    string   `json:"app" doc:"The app that it comes from. While that is off the event is not listed, and what happens is not sent."`
	Label  string   `json:"label" doc:"What people read."`
	Record string   `json:"record" doc:"The key of its record in data."`
	Only   []string `json:"only" enum:"service,form,tag" doc:"The keys of only that narrow it down. A webhook gets it whatever the other keys hold."`
}

const testEvent = "webhook.test"

// The apps that events come from, by the ids of settings.apps.
const (
	contactsApp = "contacts"
	formsApp    = "forms"
	bookingApp  = "booking"
)

// What narrows the events of a record down, see Only.
var (
	byService = []string{"service"}
	byForm    = []string{"form"}
	byTag     = []string{"tag"}
	byNothing = []string{}
)

// events are all kinds that can be subscribed, in the order of the interface.
var events = []Event{
	{proto.KindContactCreated, contactsApp, "Contact added", "contact", byTag},
	{proto.KindContactUpdated, contactsApp, "Contact changed", "contact", byTag},
	{proto.KindContactDeleted, contactsApp, "Contact moved to the trash", "contact", byTag},
	{proto.KindContactRestored, contactsApp, "Contact restored", "contact", byTag},
	{proto.KindContactMerged, contactsApp, "Contacts merged", "contact", byTag},
	{proto.KindContactErased, contactsApp, "Contact erased", "contact", byNothing},
	{proto.KindOrganizationCreated, contactsApp, "Organization added", "organization", byNothing},
	{proto.KindOrganizationUpdated, contactsApp, "Organization changed", "organization", byNothing},
	{proto.KindOrganizationDeleted, contactsApp, "Organization moved to the trash", "organization", byNothing},
	{proto.KindOrganizationRestored, contactsApp, "Organization restored", "organization", byNothing},
	{proto.KindOrganizationMerged, contactsApp, "Organizations merged", "organization", byNothing},
	{proto.KindTaskCreated, contactsApp, "Task added", "task", byNothing},
	{proto.KindTaskUpdated, contactsApp, "Task changed", "task", byNothing},
	{proto.KindTaskDone, contactsApp, "Task done", "task", byNothing},
	{proto.KindTaskDeleted, contactsApp, "Task deleted", "task", byNothing},
	{proto.KindMarketingSubscribed, contactsApp, "Marketing emails confirmed", "contact", byTag},
	{proto.KindMarketingUnsubscribed, contactsApp, "Marketing emails ended", "contact", byTag},
	{proto.KindFormSubmitted, formsApp, "Form submitted", "submission", byForm},
	{proto.KindAppointmentBooked, bookingApp, "Appointment booked", "appointment", byService},
	{proto.KindAppointmentConfirmed, bookingApp, "Appointment confirmed", "appointment", byService},
	{proto.KindAppointmentDeclined, bookingApp, "Appointment declined", "appointment", byService},
	{proto.KindAppointmentRescheduled, bookingApp, "Appointment moved", "appointment", byService},
	{proto.KindAppointmentPlaceChanged, bookingApp, "Appointment at another place", "appointment", byService},
	{proto.KindAppointmentCancelled, bookingApp, "Appointment cancelled", "appointment", byService},
	{proto.KindAppointmentCompleted, bookingApp, "Appointment completed", "appointment", byService},
	{proto.KindAppointmentNoShow, bookingApp, "Client did not come", "appointment", byService},
	{proto.KindAppointmentReopened, bookingApp, "Appointment opened again", "appointment", byService},
	{proto.KindAppointmentReminderDue, bookingApp, "Reminder of an appointment is due", "appointment", byService},
}

// EventNamed returns the event with a name, false if there is none that can be subscribed.
func EventNamed(name string) (Event, bool) {
	i := slices.IndexFunc(events, func(e Event) bool { return e.Event == name })
	if i < 0 {
		return Event{}, false
	}
	return events[i], true
}

// CheckEvents refuses the value of a parameter that holds a name of no event.
func CheckEvents(param string, names []string) error {
	for i, name := range names {
		if _, ok := EventNamed(name); !ok {
			return fault.Invalid(fmt.Sprintf("%s[%d]", param, i), fault.NewProblem("unknown_event", "must be the name of an event that can be subscribed"))
		}
	}
	return nil
}

// list lists the events of the apps that are on.
func (r *Room) list(context.Context, *db.Tx, op.None) (db.List[Event], error) {
	return db.All(slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return !r.Apps.On(e.App) })), nil
}
