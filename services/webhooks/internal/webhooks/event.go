package webhooks

import (
	"context"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// Event is something that webhooks can subscribe.
type Event struct {
	Event string `json:"event"`
	App   string `json:"app" doc:"The app that it comes from. While that is off the event is neither listed nor sent."`
	Label string `json:"label"`
}

const testEvent = "webhook.test"

// events are all subscribable ones, in the order in which they are shown.
var events = []Event{
	{"contact.created", "contacts", "Contact added"},
	{"contact.updated", "contacts", "Contact changed"},
	{"contact.deleted", "contacts", "Contact moved to the trash"},
	{"contact.restored", "contacts", "Contact restored"},
	{"contact.merged", "contacts", "Contacts merged"},
	{"contact.erased", "contacts", "Contact erased"},
	{"organization.created", "contacts", "Organization added"},
	{"organization.updated", "contacts", "Organization changed"},
	{"organization.deleted", "contacts", "Organization moved to the trash"},
	{"organization.restored", "contacts", "Organization restored"},
	{"organization.merged", "contacts", "Organizations merged"},
	{"marketing.subscribed", "contacts", "Marketing emails confirmed"},
	{"marketing.unsubscribed", "contacts", "Marketing emails ended"},
	{"form.submitted", "forms", "Form submitted"},
	{"appointment.booked", "booking", "Appointment booked"},
	{"appointment.confirmed", "booking", "Appointment confirmed"},
	{"appointment.declined", "booking", "Appointment declined"},
	{"appointment.rescheduled", "booking", "Appointment moved"},
	{"appointment.place_changed", "booking", "Appointment at another place"},
	{"appointment.cancelled", "booking", "Appointment cancelled"},
	{"appointment.completed", "booking", "Appointment completed"},
	{"appointment.no_show", "booking", "Client did not come"},
}

func eventNamed(name string) (Event, bool) {
	i := slices.IndexFunc(events, func(e Event) bool { return e.Event == name })
	if i < 0 {
		return Event{}, false
	}
	return events[i], true
}

// ListEvents lists the events of the apps that are on.
func (s *service) ListEvents(context.Context, *db.Tx, op.None) (db.List[Event], error) {
	return db.All(slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return !s.Apps.On(e.App) })), nil
}
