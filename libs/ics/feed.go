package ics

import (
	"fmt"
	"time"

	ical "github.com/arran4/golang-ical"
)

// Status is what a feed says of an event.
type Status string

// Statuses of events.
const (
	Confirmed Status = "CONFIRMED"
	Tentative Status = "TENTATIVE"
	Cancelled Status = "CANCELLED"
)

// Feed is a calendar that others subscribe to. Its events have neither organizer nor attendee: nobody who reads it is to answer.
type Feed struct {
	Name string
	// Every is how often a reader is asked to look for changes, in whole minutes.
	Every  time.Duration
	Events []FeedEvent
}

// FeedEvent is an event with its status; Method, Organizer and Attendee do not count.
type FeedEvent struct {
	Event
	Status Status
}

// File returns the event as a calendar server keeps it.
func (e FeedEvent) File() ([]byte, error) {
	v, err := e.component(ical.ObjectStatus(e.Status))
	if err != nil {
		return nil, err
	}
	cal := calendar(noMethod)
	cal.AddVEvent(v)
	return write(cal)
}

// File returns the calendar as Event.File does. The same feed makes the same bytes.
func (f Feed) File() ([]byte, error) {
	cal := calendar(ical.MethodPublish)
	cal.SetXWRCalName(text(f.Name))
	every := fmt.Sprintf("PT%dM", f.Every/time.Minute)
	cal.SetRefreshInterval(every)
	cal.SetXPublishedTTL(every)
	for _, e := range f.Events {
		v, err := e.component(ical.ObjectStatus(e.Status))
		if err != nil {
			return nil, err
		}
		cal.AddVEvent(v)
	}
	return write(cal)
}
