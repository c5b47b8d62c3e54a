package booking

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/ics"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

// wording is what the mail about a change says.
type wording struct {
	subject string
	text    string
	// manage puts the link in, and so a new token.
	manage bool
	method ics.Method
}

// mailReminder is the kind of the one mail that no event causes.
const mailReminder = "appointment.reminder"

// wordingFor chooses it by what happened and the status that the appointment has now; false when the client
// is told nothing.
func wordingFor(kind, status string) (wording, bool) {
	asked := status == statusPending
	switch {
	case kind == proto.KindAppointmentBooked && asked:
		return wording{"We received your request", "Thank you for your request. We will confirm the time as soon as we can; you will get another mail then.", true, ""}, true
	case kind == proto.KindAppointmentBooked:
		return wording{"Your appointment is confirmed", "Thank you for booking. We look forward to seeing you.", true, ics.Request}, true
	case kind == proto.KindAppointmentConfirmed:
		return wording{"Your appointment is confirmed", "Your request has been confirmed. We look forward to seeing you.", true, ics.Request}, true
	case kind == proto.KindAppointmentDeclined:
		return wording{"Your request could not be accepted", "Unfortunately we cannot offer you the time that you asked for. You are welcome to choose another.", false, ""}, true
	case kind == proto.KindAppointmentCancelled:
		return wording{"Your appointment is cancelled", "The appointment below has been cancelled.", false, ics.Cancel}, true
	case kind == proto.KindAppointmentRescheduled && asked:
		return wording{"Your request has a new time", "Your request now is for the time below. We still have to confirm it.", true, ""}, true
	case kind == proto.KindAppointmentRescheduled:
		return wording{"Your appointment has a new time", "Your appointment has been moved to the time below.", true, ics.Request}, true
	case kind == proto.KindAppointmentPlaceChanged && asked:
		return wording{"Your request has a new place", "The place of what you asked for has changed. We still have to confirm the time.", true, ""}, true
	case kind == proto.KindAppointmentPlaceChanged:
		return wording{"Your appointment has a new place", "The place of your appointment has changed.", true, ics.Request}, true
	case kind == mailReminder:
		return wording{"Reminder of your appointment", "This is a reminder of your appointment.", false, ""}, true
	}
	return wording{}, false
}

// letter is the mail that tells the client of an event, with a new link where it has one. It is nil for a
// client without an address, and for a mail that could never be sent: neither holds anything up.
func (s *service) letter(ctx context.Context, tx *db.Tx, a appointment, kind string) (*proto.Mail, error) {
	l, wanted := wordingFor(kind, a.Status)
	if !wanted || a.client.email == "" {
		return nil, nil
	}
	site := s.site()
	c := mail.Content{
		Kind: kind, To: mail.Person{Name: a.client.name(), Address: address.Key(a.client.email)},
		Business: site.Business.Name, Subject: l.subject + ": " + a.Service.Name, Greeting: greeting(a.client),
		Paragraphs: []string{l.text}, Rows: s.facts(a),
		Footer: []string{"You get this mail because you have an appointment with " + site.Business.Name + "."},
	}
	if l.manage {
		token := newToken(tx, a)
		c.Buttons = []mail.Link{{Text: "Change or cancel", URL: s.Config.PublicURL + "/manage#token=" + token}}
	}
	if l.method != "" {
		file, err := s.calendarFile(tx.Now, a, l.method, site)
		if err != nil {
			slog.WarnContext(ctx, "mail goes without its calendar file", "appointment", a.ID, "error", err)
		} else {
			c.Calendar = &mail.Calendar{File: file, Method: l.method}
		}
	}
	m, err := mail.Render(c)
	if errors.Is(err, mail.ErrContent) {
		slog.WarnContext(ctx, "mail cannot be sent", "appointment", a.ID, "kind", c.Kind, "error", err)
		return nil, nil
	}
	return m, err
}

func greeting(c client) string {
	if n := c.name(); n != "" {
		return "Hello " + n + ","
	}
	return "Hello,"
}

func (s *service) facts(a appointment) []mail.Row {
	where := a.Location
	if a.LocationType == "online" {
		// A link is of no use before the time is certain.
		if where = "Online"; a.Status == statusConfirmed && a.MeetingURL != "" {
			where = a.MeetingURL
		}
	}
	label := "Where"
	if a.LocationType == "phone" {
		label = "We call you at"
	}
	start, end := a.StartsAt.In(s.Config.Zone), a.EndsAt.In(s.Config.Zone)
	return []mail.Row{
		{Label: "What", Value: a.Service.Name},
		{Label: "When", Value: start.Format("Monday 2 January 2006, 15:04") + " – " + endText(start, end) + " (" + zoneText(start) + ")"},
		{Label: "With", Value: a.Staff.Name},
		{Label: label, Value: where},
	}
}

func endText(start, end time.Time) string {
	if start.YearDay() == end.YearDay() && start.Year() == end.Year() {
		return end.Format("15:04")
	}
	return end.Format("Monday 2 January, 15:04")
}

// zoneText names the zone with its offset, since an hour can come twice.
func zoneText(t time.Time) string {
	return t.Location().String() + ", UTC" + t.Format("-07:00")
}

// calendarFile writes the file that puts the appointment into the client's calendar or takes it out.
func (s *service) calendarFile(now time.Time, a appointment, method ics.Method, site siteInfo) ([]byte, error) {
	organizer := site.Business.Email
	if organizer == "" {
		organizer = s.Config.MailFrom
	}
	e := ics.Event{Method: method, UID: a.ID.String() + "@frontdesk", Sequence: a.sequence, Stamp: now, Start: a.StartsAt, End: a.EndsAt,
		Summary: a.Service.Name + " – " + site.Business.Name, Description: "With " + a.Staff.Name,
		Location: a.Location, URL: a.MeetingURL, Organizer: ics.Person{Name: site.Business.Name, Email: organizer},
		Attendee: ics.Person{Name: a.client.name(), Email: address.Key(a.client.email)}}
	if a.LocationType == "online" && e.Location == "" {
		e.Location = "Online"
	}
	return e.File()
}
