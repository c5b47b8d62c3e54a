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
)

// letter is what the mail about a change says.
type letter struct {
	subject string
	text    string
	// manage puts the link in, and so a new token.
	manage bool
	method ics.Method
}

// letterFor chooses it by what happened and the status that the appointment has now.
func letterFor(event, status string) letter {
	asked := status == pending
	switch {
	case event == "booked" && asked:
		return letter{"We received your request", "Thank you for your request. We will confirm the time as soon as we can; you will get another mail then.", true, ""}
	case event == "booked":
		return letter{"Your appointment is confirmed", "Thank you for booking. We look forward to seeing you.", true, ics.Request}
	case event == "confirmed":
		return letter{"Your appointment is confirmed", "Your request has been confirmed. We look forward to seeing you.", true, ics.Request}
	case event == "declined":
		return letter{"Your request could not be accepted", "Unfortunately we cannot offer you the time that you asked for. You are welcome to choose another.", false, ""}
	case event == "cancelled":
		return letter{"Your appointment is cancelled", "The appointment below has been cancelled.", false, ics.Cancel}
	case event == "rescheduled" && asked:
		return letter{"Your request has a new time", "Your request now is for the time below. We still have to confirm it.", true, ""}
	case event == "rescheduled":
		return letter{"Your appointment has a new time", "Your appointment has been moved to the time below.", true, ics.Request}
	case event == "place_changed" && asked:
		return letter{"Your request has a new place", "The place of what you asked for has changed. We still have to confirm the time.", true, ""}
	case event == "place_changed":
		return letter{"Your appointment has a new place", "The place of your appointment has changed.", true, ics.Request}
	}
	return letter{"Reminder of your appointment", "This is a reminder of your appointment.", false, ""}
}

// mailClient tells the client of an event. A client without an address gets nothing, and a mail that could
// never be sent holds nothing up.
func (d *desk) mailClient(ctx context.Context, tx *db.Tx, a appointment, event string) error {
	if a.client.email == "" {
		return nil
	}
	l := letterFor(event, a.Status)
	site := d.site()
	c := mail.Content{
		Kind: "appointment." + event, To: mail.Person{Name: a.client.name(), Address: address.Key(a.client.email)},
		Business: site.Business.Name, Subject: l.subject + ": " + a.Service.Name, Greeting: greeting(a.client),
		Paragraphs: []string{l.text}, Rows: d.facts(a),
		Footer: []string{"You get this mail because you have an appointment with " + site.Business.Name + "."},
	}
	if l.manage {
		token, err := newToken(ctx, tx, a.ID)
		if err != nil {
			return err
		}
		c.Buttons = []mail.Link{{Text: "Change or cancel", URL: d.Config.PublicURL + "/manage#token=" + token}}
	}
	if l.method != "" {
		file, err := d.calendarFile(tx.Now, a, l.method, site)
		if err != nil {
			slog.WarnContext(ctx, "mail goes without its calendar file", "appointment", a.ID, "error", err)
		} else {
			c.Calendar = &mail.Calendar{File: file, Method: l.method}
		}
	}
	m, err := mail.Render(c)
	if errors.Is(err, mail.ErrContent) {
		slog.WarnContext(ctx, "mail cannot be sent", "appointment", a.ID, "kind", c.Kind, "error", err)
		return nil
	}
	if err != nil {
		return err
	}
	return tx.Mail(ctx, m)
}

func greeting(c client) string {
	if n := c.name(); n != "" {
		return "Hello " + n + ","
	}
	return "Hello,"
}

func (d *desk) facts(a appointment) []mail.Row {
	where := a.Location
	if a.LocationType == "online" {
		// A link is of no use before the time is certain.
		if where = "Online"; a.Status == confirmed && a.MeetingURL != "" {
			where = a.MeetingURL
		}
	}
	label := "Where"
	if a.LocationType == "phone" {
		label = "We call you at"
	}
	start, end := a.StartsAt.In(d.Config.Zone), a.EndsAt.In(d.Config.Zone)
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
func (d *desk) calendarFile(now time.Time, a appointment, method ics.Method, site siteInfo) ([]byte, error) {
	organizer := site.Business.Email
	if organizer == "" {
		organizer = d.Config.MailFrom
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
