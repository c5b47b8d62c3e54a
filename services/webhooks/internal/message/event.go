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
	Event string `json:"event" doc:"The name that webhooks subscribe."`
	App   string `json:"app" doc:"The app that it comes from. While that is off the event is not listed, and what happens is not sent."`
	Label string `json:"label" doc:"What people read."`
}

const testEvent = "webhook.test"

// The apps that events come from, by the ids of settings.apps.
const (
	contactsApp = "contacts"
	formsApp    = "forms"
	bookingApp  = "booking"
)

// events are all kinds that can be subscribed, in the order of the interface.
var events = []Event{
	{proto.KindContactCreated, contactsApp, "Contact added"},
	{proto.KindContactUpdated, contactsApp, "Contact changed"},
	{proto.KindContactDeleted, contactsApp, "Contact moved to the trash"},
	{proto.KindContactRestored, contactsApp, "Contact restored"},
	{proto.KindContactMerged, contactsApp, "Contacts merged"},
	{proto.KindContactErased, contactsApp, "Contact erased"},
	{proto.KindOrganizationCreated, contactsApp, "Organization added"},
	{proto.KindOrganizationUpdated, contactsApp, "Organization changed"},
	{proto.KindOrganizationDeleted, contactsApp, "Organization moved to the trash"},
	{proto.KindOrganizationRestored, contactsApp, "Organization restored"},
	{proto.KindOrganizationMerged, contactsApp, "Organizations merged"},
	{proto.KindMarketingSubscribed, contactsApp, "Marketing emails confirmed"},
	{proto.KindMarketingUnsubscribed, contactsApp, "Marketing emails ended"},
	{proto.KindFormSubmitted, formsApp, "Form submitted"},
	{proto.KindAppointmentBooked, bookingApp, "Appointment booked"},
	{proto.KindAppointmentConfirmed, bookingApp, "Appointment confirmed"},
	{proto.KindAppointmentDeclined, bookingApp, "Appointment declined"},
	{proto.KindAppointmentRescheduled, bookingApp, "Appointment moved"},
	{proto.KindAppointmentPlaceChanged, bookingApp, "Appointment at another place"},
	{proto.KindAppointmentCancelled, bookingApp, "Appointment cancelled"},
	{proto.KindAppointmentCompleted, bookingApp, "Appointment completed"},
	{proto.KindAppointmentNoShow, bookingApp, "Client did not come"},
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
