package ics

import (
	"fmt"

	ical "github.com/arran4/golang-ical"
)

// Publish is the method of a file of several events, which are added, changed or taken out as each of them says.
const Publish Method = "PUBLISH"

// PublishFile is Event.File for several events, each with its own method. They have no attendee: a request holds one event only, and what is
// published has none (RFC 5546).
func PublishFile(events []Event) ([]byte, error) {
	cal := calendar(ical.MethodPublish)
	for _, e := range events {
		status := ical.ObjectStatusConfirmed
		if e.Method == Cancel {
			status = ical.ObjectStatusCancelled
		}
		organizer, err := e.Organizer.address()
		if err != nil {
			return nil, fmt.Errorf("ics: organizer: %w", err)
		}
		v, err := e.component(status)
		if err != nil {
			return nil, err
		}
		v.SetOrganizer(organizer, e.Organizer.params()...)
		cal.AddVEvent(v)
	}
	return write(cal)
}
