package booking

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/ics"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/proto"
)

//go:embed text/*.json
var texts embed.FS

// readers gives the texts of mails in a language.
var readers = web.Readers(texts)

// Kinds of mails that no event of this name causes.
const (
	mailHandedOver = "appointment.handed_over"
	mailReminder   = "appointment.reminder"
)

// letter is what the mail about a change has beside its words.
type letter struct {
	// link leads to the manage page. The links of the mails before end with every change, not with a reminder.
	link     bool
	reminder bool
	// calendar is what the file asks the client's calendar for; nothing while the appointment is a request.
	calendar ics.Method
}

// letters are the mails that clients get, by kind.
var letters = map[string]letter{
	proto.KindAppointmentBooked:       {link: true, calendar: ics.Request},
	proto.KindAppointmentConfirmed:    {link: true, calendar: ics.Request},
	proto.KindAppointmentRescheduled:  {link: true, calendar: ics.Request},
	proto.KindAppointmentPlaceChanged: {link: true, calendar: ics.Request},
	mailHandedOver:                    {link: true, calendar: ics.Request},
	proto.KindAppointmentDeclined:     {},
	proto.KindAppointmentCancelled:    {calendar: ics.Cancel},
	mailReminder:                      {link: true, reminder: true},
}

// notify mails the client of a change, with a new link where there is something to change, and ends the links of the mails
// before. It sends no mail about an appointment that is over, to a client without an address, or that no server would
// accept. The change is made in all these cases.
func (s *service) notify(ctx context.Context, tx *db.Tx, a record, kind string, settings Settings) error {
	l, wanted := letters[kind]
	if !wanted {
		return nil
	}
	if l.link && !l.reminder && a.RecordVersion() > 1 {
		endLinks(tx, a.ID)
	}
	if a.client.email == "" || !a.EndsAt.After(tx.Now) {
		return nil
	}
	m, err := s.write(ctx, tx, a, kind, l, settings)
	if errors.Is(err, mail.ErrContent) {
		slog.WarnContext(ctx, "mail cannot be sent", "appointment", a.ID, "kind", kind, "error", err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("mail %s: %w", kind, err)
	}
	if l.reminder {
		// It waits while the app is off or the mail server is down, and is of no use behind the start.
		m.App, m.NotAfter = s.Service, a.StartsAt.Unix()
	}
	return tx.Mail(ctx, m)
}

func (s *service) write(ctx context.Context, tx *db.Tx, a record, kind string, l letter, settings Settings) (*proto.Mail, error) {
	site := s.general()
	t := readers(cmp.Or(a.language, lang.OfCountry(site.Country)), site.Country, s.Config.Zone)
	key := strings.TrimPrefix(kind, "appointment.")
	if a.Status == statusPending {
		key, l.calendar = key+"_request", ""
	}
	c := mail.Content{
		Kind: kind, To: mail.Person{Name: typed(a.client), Address: address.Key(a.client.email)}, Language: t.Language,
		Business: s.Site.Business(), Subject: t.T(key+"_subject") + ": " + a.Service.Name, Greeting: greeting(t, a.client),
		Paragraphs: []string{t.T(key+"_text", "staff", a.Staff.Name)}, Rows: s.rows(t, a),
		Footer: []string{t.T("why", "business", site.Business.Name)},
	}
	manage := mail.Link{Text: t.T("see")}
	if l.link {
		manage.URL = s.Config.PublicURL + "/manage#token=" + newLink(tx, a.ID)
		if a.refuseChange(settings, tx.Now) == nil {
			manage.Text = t.T("change")
		}
		c.Buttons = []mail.Link{manage}
	}
	if l.calendar != "" {
		file, err := s.calendarFile(tx.Now, t, a, l.calendar, manage, site)
		if err != nil {
			slog.WarnContext(ctx, "mail goes without its calendar file", "appointment", a.ID, "error", err)
		} else {
			c.Calendar = &mail.Calendar{File: file, Method: l.calendar}
		}
	}
	return mail.Render(c)
}

// typed returns the client's name for a mail, without links: a visitor may have typed any text, and the address of another
// person.
func typed(c client) string { return mail.Unlinked(c.name()) }

func greeting(t *web.Reader, c client) string {
	if name := typed(c); name != "" {
		return t.T("hello", "name", name)
	}
	return t.T("hello_nobody")
}

// rows are the facts of an appointment.
func (s *service) rows(t *web.Reader, a record) []mail.Row {
	label, where := t.T("where"), a.Location
	switch a.LocationType {
	case "online":
		// A link is of no use before the time is certain.
		if where = t.T("online"); a.Status == statusConfirmed && a.MeetingURL != "" {
			where = a.MeetingURL
		}
	case "phone":
		label = t.T("we_call")
	case "client":
		where = mail.Unlinked(where)
	}
	return []mail.Row{
		{Label: t.T("what"), Value: a.Service.Name},
		{Label: t.T("when"), Value: when(t, a.StartsAt, a.EndsAt)},
		{Label: t.T("with"), Value: a.Staff.Name},
		{Label: label, Value: where},
	}
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
func (s *service) calendarFile(now time.Time, t *web.Reader, a record, method ics.Method, manage mail.Link, site general) ([]byte, error) {
	e := ics.Event{Method: method, UID: a.ID.String() + "@frontdesk", Sequence: a.sequence, Stamp: now, Start: a.StartsAt, End: a.EndsAt,
		Summary: a.Service.Name + " – " + site.Business.Name, Description: t.T("with") + " " + a.Staff.Name,
		Location: a.Location, URL: a.MeetingURL, Organizer: ics.Person{Name: site.Business.Name, Email: cmp.Or(site.Business.Email, site.MailFrom)},
		Attendee: ics.Person{Name: typed(a.client), Email: address.Key(a.client.email)}}
	if manage.URL != "" {
		e.Description += "\n" + manage.Text + ": " + manage.URL
	}
	if a.LocationType == "online" {
		e.Location = cmp.Or(a.MeetingURL, t.T("online"))
	}
	if a.LocationType == "client" {
		e.Location = mail.Unlinked(a.Location)
	}
	return e.File()
}

// publish emits the event of a change, what else belongs to it, and the mail that the client gets for it.
func (s *service) publish(ctx context.Context, tx *db.Tx, a record, settings Settings, change db.Event, more ...db.Event) error {
	if err := tx.EmitAll(ctx, append([]db.Event{change}, more...)); err != nil {
		return err
	}
	return s.notify(ctx, tx, a, change.Kind, settings)
}
