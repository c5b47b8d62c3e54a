// Package ics writes calendar files (RFC 5545 and 5546): the one that a mail about an appointment carries, and the feed that a calendar subscribes to.
package ics

import (
	"bytes"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"
	"time"
	"unicode"

	ical "github.com/arran4/golang-ical"
)

// Method says what the receiver's calendar is to do with the event.
type Method string

const (
	// Request adds the event, or changes the one with the same UID and a lower sequence.
	Request Method = "REQUEST"
	// Cancel takes the event with the same UID out.
	Cancel Method = "CANCEL"
)

// Event is one appointment as a calendar sees it. It has no place for internal notes.
type Event struct {
	Method Method
	// UID stays the same for the life of the appointment.
	UID string
	// Sequence grows with each change that is mailed, a cancellation included.
	Sequence int
	// Stamp is the time of writing.
	Stamp, Start, End time.Time
	Summary           string
	// Description may have several lines.
	Description string
	// Location is an address, a phone number or whatever tells where; URL is where to meet online. Both
	// may be empty. URL is http or https.
	Location, URL string
	// Organizer is the business, Attendee who gets the file.
	Organizer, Attendee Person
}

// Person takes part in an event. Email is a bare address; Name may be empty.
type Person struct{ Name, Email string }

// File returns the calendar file with the one event: UTF-8, CRLF, times in UTC. Text of any kind is
// safe in it. The error names what is missing or no address.
func (e Event) File() ([]byte, error) {
	if e.Method != Request && e.Method != Cancel {
		return nil, fmt.Errorf("ics: unknown method %q", e.Method)
	}
	attendee, err := e.Attendee.address()
	if err != nil {
		return nil, fmt.Errorf("ics: attendee: %w", err)
	}
	v, err := e.organized()
	if err != nil {
		return nil, err
	}
	v.AddAttendee(attendee, append(e.Attendee.params(),
		ical.CalendarUserTypeIndividual, ical.ParticipationRoleReqParticipant,
		// The business cannot act on an answer from a calendar, so RSVP stays false.
		ical.ParticipationStatusAccepted, ical.WithRSVP(false))...)

	cal := calendar(ical.Method(e.Method))
	cal.AddVEvent(v)
	return write(cal)
}

// organized is the event with its organizer, in the status that its method says.
func (e Event) organized() (*ical.VEvent, error) {
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
	return v, nil
}

// component is what a mail's file and a feed have in common.
func (e Event) component(status ical.ObjectStatus) (*ical.VEvent, error) {
	if text(e.UID) == "" || text(e.Summary) == "" {
		return nil, errors.New("ics: an event needs a UID and a summary")
	}
	if e.Sequence < 0 || !e.Start.Before(e.End) || e.Stamp.IsZero() {
		return nil, errors.New("ics: an event needs a sequence, a stamp and an end after its start")
	}

	v := ical.NewEvent(text(e.UID))
	v.SetSequence(e.Sequence)
	v.SetDtStampTime(e.Stamp)
	v.SetStartAt(e.Start)
	v.SetEndAt(e.End)
	v.SetStatus(status)
	v.SetTimeTransparency(ical.TransparencyOpaque)
	v.SetSummary(text(e.Summary))
	if d := lines(e.Description); d != "" {
		v.SetDescription(d)
	}
	if l := text(e.Location); l != "" {
		v.SetLocation(l)
	}
	if e.URL != "" {
		u, err := url.Parse(e.URL)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
			return nil, errors.New("ics: the URL is not http or https")
		}
		v.SetURL(u.String())
	}
	return v, nil
}

// noMethod is that of a file which is kept and not sent (RFC 4791, 4.1).
const noMethod ical.Method = ""

func calendar(method ical.Method) *ical.Calendar {
	cal := ical.NewCalendarFor("Frontdesk")
	if method != noMethod {
		cal.SetMethod(method)
	}
	cal.SetCalscale("GREGORIAN")
	return cal
}

func write(cal *ical.Calendar) ([]byte, error) {
	var b bytes.Buffer
	if err := cal.SerializeTo(&b, ical.WithNewLineWindows); err != nil {
		return nil, fmt.Errorf("ics: %w", err)
	}
	return b.Bytes(), nil
}

func (p Person) address() (string, error) {
	a, err := mail.ParseAddress(p.Email)
	if err != nil || a.Name != "" || a.Address != p.Email {
		return "", errors.New("not an email address")
	}
	at := strings.LastIndexByte(a.Address, '@')
	return "mailto:" + url.PathEscape(a.Address[:at]) + "@" + a.Address[at+1:], nil
}

func (p Person) params() []ical.PropertyParameter {
	if cn := parameter(p.Name); cn != "" {
		return []ical.PropertyParameter{ical.WithCN(cn)}
	}
	return nil
}

// parameter makes a name fit for a parameter value. The library escapes with backslashes there, which
// the format does not know, so what it would escape is replaced beforehand.
func parameter(s string) string {
	return text(strings.Map(func(r rune) rune {
		switch r {
		case '\'':
			return '’'
		case ',', ';', ':', '"', '\\', '^':
			return ' '
		}
		return r
	}, s))
}

// text is s on one line, without control characters and in valid UTF-8.
func text(s string) string {
	if isPlain(s) {
		return s
	}
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))), " ")
}

// isPlain reports whether text would leave s as it is, which it mostly does: a feed has thousands of them.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

func lines(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	parts := strings.Split(s, "\n")
	for i, p := range parts {
		parts[i] = text(p)
	}
	return strings.TrimSpace(strings.Join(parts, "\n"))
}
