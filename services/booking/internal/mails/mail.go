package mails

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/ics"
	"frontdesk/libs/lang"
	"frontdesk/libs/letter"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/services"
)

// Kinds of mails that no event of this name causes.
const (
	HandedOver = "appointment.handed_over"
	Reminder   = "appointment.reminder"
)

// parts is what the mail about a change has beside its words.
type parts struct {
	// link leads to the manage page. The links of the mails before end with every change, not with a reminder.
	link     bool
	reminder bool
	// prepares says what to bring.
	prepares bool
	// calendar is what the file asks the client's calendar for; nothing while the appointment is a request.
	calendar ics.Method
}

// mails are the mails that clients get, by kind.
var mails = map[string]parts{
	proto.KindAppointmentBooked:       {link: true, prepares: true, calendar: ics.Request},
	proto.KindAppointmentConfirmed:    {link: true, prepares: true, calendar: ics.Request},
	proto.KindAppointmentRescheduled:  {link: true, calendar: ics.Request},
	proto.KindAppointmentPlaceChanged: {link: true, calendar: ics.Request},
	HandedOver:                        {link: true, calendar: ics.Request},
	proto.KindAppointmentDeclined:     {},
	proto.KindAppointmentCancelled:    {calendar: ics.Cancel},
	Reminder:                          {link: true, prepares: true, reminder: true},
}

// Notify mails the client of a change, with a new link where there is something to change, and ends the links of the mails
// before. It sends no mail about an appointment that is over, to a client without an address, or that no server would
// accept. The change is made in all these cases.
func (r *Room) Notify(ctx context.Context, tx *db.Tx, a appointments.Record, kind string, settings services.Settings) error {
	l, wanted := mails[kind]
	if !wanted {
		return nil
	}
	if l.link && !l.reminder && a.Version > 1 {
		appointments.EndLinks(tx, a.ID)
	}
	if a.Client.Email == "" || !a.EndsAt.After(tx.Now) {
		return nil
	}
	m, err := r.write(ctx, tx, a, kind, l, settings)
	if errors.Is(err, mail.ErrContent) {
		slog.WarnContext(ctx, "mail cannot be sent", "appointment", a.ID, "kind", kind, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("mail %s: %w", kind, err)
	}
	if l.reminder || kind == HandedOver {
		// Nobody asked for it, and its link leads nowhere while the app is off.
		m.App = r.Service
	}
	if m.NotAfter = a.EndsAt.Unix(); l.reminder {
		m.NotAfter = a.StartsAt.Unix()
	}
	m.About, m.Replaces = "appointment/"+a.ID.String(), !l.reminder
	return tx.Mail(ctx, m)
}

func (r *Room) write(ctx context.Context, tx *db.Tx, a appointments.Record, kind string, l parts, settings services.Settings) (*proto.Mail, error) {
	site := r.services.General()
	t := letter.Reader(a.Language, site.Country, r.Config.Zone)
	manage := mail.Link{Text: t.T("see")}
	if l.link {
		manage.URL = r.Config.PublicURL + "/manage#token=" + appointments.NewLink(tx, a.ID)
		if a.RefuseChange(settings, tx.Now) == nil {
			manage.Text = t.T("change")
		}
	}
	words := kind
	if a.Status == appointments.StatusPending {
		words, l.calendar = letter.Request(kind), ""
	}
	c := letter.Write(r.Site.Read, t, words, r.values(t, a, l, manage))
	c.Kind, c.To = kind, mail.Person{Name: typed(a.Client), Address: address.Key(a.Client.Email)}
	c.Business, c.Footer = r.Site.Business(), []string{t.T("why", "business", site.Business.Name)}
	if l.calendar != "" {
		file, err := r.calendarFile(tx.Now, t, a, l.calendar, manage, site)
		if err != nil {
			slog.WarnContext(ctx, "mail goes without its calendar file", "appointment", a.ID, "error", err)
		} else {
			c.Calendar = &mail.Calendar{File: file, Method: l.calendar}
		}
	}
	return mail.Render(c)
}

// values are those of the placeholders in the mail about an appointment.
func (r *Room) values(t *web.Reader, a appointments.Record, l parts, manage mail.Link) letter.Values {
	rows := r.rows(t, a)
	v := letter.Values{
		letter.Greeting: letter.Hello(t, typed(a.Client)), letter.Client: typed(a.Client), letter.Business: r.Site.Business().Name,
		letter.Service: a.Terms.Name, letter.Staff: a.StaffName, letter.When: when(t, a.StartsAt, a.EndsAt), letter.Place: rows[len(rows)-1].Value,
		letter.Details: rows, letter.Stays: t.T("stays"),
	}
	if a.Place.Kind == "online" && a.Place.MeetingURL == "" {
		v[letter.Stays] = t.T("stays_link") // it was the link of the person before
	}
	if l.prepares && a.Status == appointments.StatusConfirmed {
		v[letter.ServiceText] = letter.Paragraphs(a.Terms.MailText)
	}
	if l.link {
		v[letter.Manage] = manage
	}
	return v
}

// typed returns the client's name for a mail, without links: a visitor may have typed any text, and the address of another
// person.
func typed(c clients.Client) string { return mail.Unlinked(c.Name()) }

// rows are the facts of an appointment.
func (r *Room) rows(t *web.Reader, a appointments.Record) []mail.Row {
	at := a.Shown()
	label, where := t.T("where"), at.Location
	switch at.Kind {
	case "online":
		// A link is of no use before the time is certain.
		if where = t.T("online"); a.Status == appointments.StatusConfirmed && at.MeetingURL != "" {
			where = at.MeetingURL
		}
	case "phone":
		label = t.T("we_call")
	case "client":
		where = mail.Unlinked(where)
	}
	rows := []mail.Row{{Label: t.T("what"), Value: a.Terms.Name}}
	if a.BookedFor != "" {
		rows = append(rows, mail.Row{Label: t.T("for"), Value: mail.Unlinked(a.BookedFor)})
	}
	return append(rows, []mail.Row{
		{Label: t.T("when"), Value: when(t, a.StartsAt, a.EndsAt)},
		{Label: t.T("with"), Value: a.StaffName},
		{Label: label, Value: where},
	}...)
}

// when names the zone with its offset, since an hour can come twice.
func when(t *web.Reader, start, end time.Time) string {
	until := t.Clock(end)
	if t.Date(start) != t.Date(end) {
		until = t.Date(end) + ", " + until
	}
	from := t.In(start)
	return t.Date(start) + ", " + t.Clock(start) + " – " + until + " (" + from.Location().String() + ", UTC" + from.Format("-07:00") + ")"
}

// calendarFile writes the file that puts the appointment into the client's calendar or takes it out.
func (r *Room) calendarFile(now time.Time, t *web.Reader, a appointments.Record, method ics.Method, manage mail.Link, site services.General) ([]byte, error) {
	at := a.Shown()
	e := ics.Event{Method: method, UID: a.UID(), Sequence: a.Sequence, Stamp: now, Start: a.StartsAt, End: a.EndsAt,
		Summary: a.Terms.Name + " – " + site.Business.Name, Description: t.T("with") + " " + a.StaffName,
		Location: at.Location, URL: at.MeetingURL, Organizer: ics.Person{Name: site.Business.Name, Email: cmp.Or(site.Business.Email, site.MailFrom)},
		Attendee: ics.Person{Name: typed(a.Client), Email: address.Key(a.Client.Email)}}
	if a.BookedFor != "" {
		e.Description += "\n" + t.T("for") + " " + mail.Unlinked(a.BookedFor)
	}
	if manage.URL != "" {
		e.Description += "\n" + manage.Text + lang.Colon(t.Language) + " " + manage.URL
	}
	switch at.Kind {
	case "online":
		e.Location = cmp.Or(at.MeetingURL, t.T("online"))
	case "client":
		e.Location = mail.Unlinked(at.Location)
	}
	return e.File()
}
