package notices

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/ics"
	"frontdesk/libs/lang"
	"frontdesk/libs/mail"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
)

const (
	// kindNews is the kind of a mail about notices of several kinds, and of every digest.
	kindNews = "team_news"
	// mostRows is how many rows one mail shows.
	mostRows = 50
)

// who reads a mail.
type who struct {
	mail.Person
	member bool
	text   *web.Reader
	portal string
	site   general
}

// general is what the mails say of the business.
type general struct {
	Business struct {
		Name  string `json:"name"`
		Email string `json:"email"`
	} `json:"business"`
	Country  string `json:"country"`
	MailFrom string `json:"mail_from"`
}

// reader is who gets a mail, with their language. It is false for somebody who may not see clients any more, or who has not accepted the
// invitation yet.
func (r *Room) reader(ctx context.Context, tx *db.Tx, to recipient) (w who, ok bool, err error) {
	r.Site.Read(document.General, &w.site)
	language := lang.OfCountry(w.site.Country)
	w.Address = to.Address
	if to.PersonID != nil {
		p, err := people.ByID(ctx, tx, *to.PersonID)
		if fault.From(err).Status == http.StatusNotFound {
			return w, false, nil
		}
		if err != nil {
			return w, false, err
		}
		all, err := roles.Read(ctx, tx)
		if err != nil || p.Invited || !roles.RightsOf(all, p.Roles).Can(auth.ViewContacts) {
			return w, false, err
		}
		chosen, err := read(ctx, tx, p.ID, ``)
		if err != nil {
			return w, false, err
		}
		if chosen.Language != nil {
			language = *chosen.Language
		}
		w.Person, w.member = mail.Person{Name: p.Name, Address: p.Email}, true
	}
	w.text = readers(language, w.site.Country, r.Config.Zone)
	w.portal, err = r.site.PortalURL(ctx, tx)
	w.portal = strings.TrimSuffix(w.portal, "/")
	return w, true, err
}

// letter is the mail about notices to one reader: all facts of a single one, a row for each of several.
func (r *Room) letter(now time.Time, w who, all []*proto.Notice, digest bool) mail.Content {
	t := w.text
	c := mail.Content{To: w.Person, Language: t.Language, Business: r.Site.Business(), Footer: []string{t.T("why_address", "business", r.Site.Business().Name)}}
	if w.member {
		c.Footer = []string{t.T("why", "business", c.Business.Name)}
		c.FooterLinks = []mail.Link{{Text: t.T("choose"), URL: w.portal + "/settings/notifications"}}
	}
	if w.Name != "" {
		c.Greeting = t.T("hello", "name", w.Name)
	}
	if len(all) == 1 && (!digest || kindOf(all[0]) == kindAgenda) {
		w.single(&c, all[0])
	} else {
		w.several(&c, all)
	}
	c.Calendar = w.calendar(now, all)
	return c
}

func kindOf(n *proto.Notice) string { return n.GetTo()[0].GetKind() }

// single fills in the mail about one notice.
func (w who) single(c *mail.Content, n *proto.Notice) {
	t, to := w.text, n.GetTo()[0]
	c.Kind = to.GetKind()
	colon := lang.Colon(t.Language)
	title, by := t.T(c.Kind+"_subject"), mail.Unlinked(cmp.Or(n.GetBy(), t.T("somebody")))
	switch {
	case c.Kind == kindAgenda:
		c.Subject = title + colon + " " + t.Date(time.Unix(n.GetNotBefore(), 0))
		c.Paragraphs = []string{t.N("agenda_text", len(n.GetVisits()))}
		for _, v := range n.GetVisits()[:min(len(n.GetVisits()), mostRows)] {
			c.Rows = append(c.Rows, mail.Row{Label: w.hours(v), Value: w.visit(v)})
		}
		c.Buttons = []mail.Link{{Text: t.T("see_calendar"), URL: w.portal + "/calendar"}}
	case n.GetSubmission() != nil:
		s := n.GetSubmission()
		c.Subject, c.Paragraphs, c.ReplyTo = title+colon+" "+s.GetForm(), []string{t.T("submitted_text", "form", s.GetForm())}, s.GetReplyTo()
		for _, l := range s.GetLines() {
			if l.GetLong() {
				c.Closing = append(c.Closing, l.GetLabel()+colon+"\n"+l.GetText())
			} else {
				c.Rows = append(c.Rows, mail.Row{Label: l.GetLabel(), Value: l.GetText()})
			}
		}
		c.Buttons = []mail.Link{{Text: t.T("see_submission"), URL: w.portal + "/submissions/" + s.GetId()}}
	case n.GetGiven() != nil:
		g := n.GetGiven()
		c.Subject, c.Paragraphs = title+colon+" "+w.given(g), []string{t.N("assigned_text", int(g.GetTotal()), "by", by)}
		c.Buttons = []mail.Link{{Text: t.T("see_contacts"), URL: w.portal + "/contacts"}}
		if g.GetTotal() == 1 && len(g.GetContacts()) == 1 {
			c.Buttons = []mail.Link{{Text: t.T("see_contact"), URL: w.portal + "/contacts/" + g.GetContacts()[0].GetId()}}
		} else {
			for _, one := range g.GetContacts() {
				c.Rows = append(c.Rows, mail.Row{Label: t.T("client"), Value: mail.Unlinked(one.GetName())})
			}
			w.more(c, int(g.GetTotal())-len(g.GetContacts()))
		}
	case n.GetTask() != nil:
		task := n.GetTask()
		c.Subject, c.Paragraphs = t.T("task_subject")+colon+" "+task.GetTitle(), []string{t.T("task_text", "by", by)}
		c.Rows = []mail.Row{{Label: t.T("due"), Value: w.due(task)}, {Label: t.T("client"), Value: mail.Unlinked(task.GetContact().GetName())}}
		c.Buttons = []mail.Link{{Text: t.T("see_tasks"), URL: w.portal + "/tasks"}}
	case n.GetAsked() != nil:
		a := n.GetAsked()
		c.Subject, c.Paragraphs = title+": "+wordsOf(a), []string{t.T("approval_waiting_text", "name", mail.Unlinked(a.GetName()))}
		c.Rows = []mail.Row{{Label: t.T("what"), Value: wordsOf(a)}}
		c.Buttons = []mail.Link{{Text: t.T("see_approval"), URL: w.portal + "/approvals?approval=" + a.GetId()}}
	case n.GetCalendar() != nil:
		c.Subject, c.Paragraphs = title+colon+" "+n.GetCalendar().GetName(), []string{t.T("calendar_failing_text"), t.T("calendar_failing_until")}
		c.Buttons = []mail.Link{{Text: t.T("see_hours"), URL: w.portal + "/hours?staff=" + strconv.FormatInt(n.GetCalendar().GetUserId(), 10)}}
	default:
		v := n.GetVisits()[0]
		c.Subject = title + colon + " " + mail.Unlinked(v.GetClient()) + ", " + v.GetService()
		c.Paragraphs, c.ReplyTo = []string{t.T(to.GetHow()+"_text", "by", by, "staff", v.GetStaff())}, v.GetEmail()
		if n.GetEndsAt() > 0 {
			ends := time.Unix(n.GetEndsAt(), 0)
			c.Paragraphs = append(c.Paragraphs, t.T("ends_text", "when", t.Date(ends)+", "+t.Clock(ends)))
		}
		c.Rows = w.facts(v)
		c.Buttons = []mail.Link{{Text: t.T("see_appointment"), URL: w.portal + "/appointments/" + v.GetId()}}
	}
}

// several fills in the mail about any other number of notices: a row for each, in turn.
func (w who) several(c *mail.Content, all []*proto.Notice) {
	t := w.text
	c.Kind, c.Subject = kindNews, t.N("news_subject", len(all))
	if first := kindOf(all[0]); first != kindAgenda && !slices.ContainsFunc(all, func(n *proto.Notice) bool { return kindOf(n) != first }) {
		c.Kind, c.Subject = first, t.N(first+"_many", len(all))
	}
	c.Paragraphs = []string{t.T("news_text")}
	for _, n := range all {
		title := t.T(kindOf(n) + "_subject")
		switch {
		case n.GetSubmission() != nil:
			c.Rows = append(c.Rows, mail.Row{Label: title, Value: dotted(n.GetSubmission().GetForm(), n.GetSubmission().GetReplyTo())})
		case n.GetGiven() != nil:
			c.Rows = append(c.Rows, mail.Row{Label: title, Value: w.given(n.GetGiven())})
		case n.GetTask() != nil:
			task := n.GetTask()
			c.Rows = append(c.Rows, mail.Row{Label: t.T("task_subject"), Value: dotted(task.GetTitle(), mail.Unlinked(task.GetContact().GetName()), w.due(task))})
		case n.GetAsked() != nil:
			c.Rows = append(c.Rows, mail.Row{Label: title, Value: dotted(wordsOf(n.GetAsked()), mail.Unlinked(n.GetAsked().GetName()))})
		case n.GetCalendar() != nil:
			c.Rows = append(c.Rows, mail.Row{Label: title, Value: n.GetCalendar().GetName()})
		}
		for _, v := range n.GetVisits() {
			at := t.Date(time.Unix(v.GetStartsAt(), 0)) + ", "
			c.Rows = append(c.Rows, mail.Row{Label: title, Value: at + w.hours(v) + " · " + w.visit(v)})
		}
	}
	if more := len(c.Rows) - mostRows; more > 0 {
		c.Rows = c.Rows[:mostRows]
		w.more(c, more)
	}
	c.Buttons = []mail.Link{{Text: t.T("see_all"), URL: w.portal}}
}

// wordsOf is the name of an operation as words: create-contact is create contact.
func wordsOf(a *proto.Notice_Asked) string { return strings.ReplaceAll(a.GetOperation(), "-", " ") }

func (w who) more(c *mail.Content, n int) {
	if n > 0 {
		c.Closing = append(c.Closing, w.text.N("more", n))
	}
}

// given names the first contacts that were given.
func (w who) given(g *proto.Notice_Given) string {
	if len(g.GetContacts()) == 0 || g.GetTotal() > 1 {
		return w.text.N("contacts", int(g.GetTotal()))
	}
	return mail.Unlinked(g.GetContacts()[0].GetName())
}

// due is the day by which a task is to be done, empty for none.
func (w who) due(task *proto.Notice_Task) string {
	day, err := time.Parse(time.DateOnly, task.GetDueOn())
	if err != nil {
		return ""
	}
	return w.text.Date(day.Add(12 * time.Hour))
}

// hours are from when until when an appointment lasts.
func (w who) hours(v *proto.Notice_Visit) string {
	start, end := time.Unix(v.GetStartsAt(), 0), time.Unix(v.GetEndsAt(), 0)
	until := w.text.Clock(end)
	if w.text.Date(start) != w.text.Date(end) {
		until = w.text.Date(end) + ", " + until
	}
	return w.text.Clock(start) + " – " + until
}

// visit is an appointment in one line.
func (w who) visit(v *proto.Notice_Visit) string {
	state := ""
	if v.GetStatus() == "pending" {
		state = w.text.T("request")
	}
	return dotted(v.GetService(), mail.Unlinked(cmp.Or(v.GetBookedFor(), v.GetClient())), v.GetStaff(), state)
}

func dotted(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " · ")
}

// facts are the rows about an appointment.
func (w who) facts(v *proto.Notice_Visit) []mail.Row {
	t := w.text
	start := time.Unix(v.GetStartsAt(), 0)
	rows := []mail.Row{{Label: t.T("what"), Value: v.GetService()}, {Label: t.T("when"), Value: t.Date(start) + ", " + w.hours(v)}}
	if at := v.GetWasStartsAt(); at > 0 {
		was := time.Unix(at, 0)
		rows = append(rows, mail.Row{Label: t.T("before"), Value: t.Date(was) + ", " + t.Clock(was)})
	}
	return append(rows, mail.Row{Label: t.T("client"), Value: mail.Unlinked(v.GetClient())}, mail.Row{Label: t.T("for"), Value: mail.Unlinked(v.GetBookedFor())},
		mail.Row{Label: t.T("email"), Value: v.GetEmail()}, mail.Row{Label: t.T("phone"), Value: v.GetPhone()},
		mail.Row{Label: t.T("with"), Value: v.GetStaff()}, mail.Row{Label: t.T("where"), Value: w.where(v)})
}

func (w who) where(v *proto.Notice_Visit) string {
	switch v.GetLocationType() {
	case "online":
		return cmp.Or(v.GetMeetingUrl(), w.text.T("online"))
	case "phone":
		return dotted(w.text.T("by_phone"), mail.Unlinked(v.GetLocation()))
	case "client":
		return mail.Unlinked(v.GetLocation())
	}
	return v.GetLocation()
}

// calendar is the file that brings the reader's calendar up to date: of each appointment what became of it last. It is nil where no notice
// changes the calendar.
func (w who) calendar(now time.Time, all []*proto.Notice) *mail.Calendar {
	var ids []string
	last := map[string]*proto.Notice_Visit{}
	for _, n := range all {
		for _, v := range n.GetVisits() {
			if v.GetCalendar() == "" {
				continue
			}
			if last[v.GetId()] == nil {
				ids = append(ids, v.GetId())
			}
			last[v.GetId()] = v
		}
	}
	events := make([]ics.Event, len(ids))
	for i, id := range ids {
		events[i] = w.event(now, last[id])
	}
	var file []byte
	var err error
	var method ics.Method
	switch len(events) {
	case 0:
		return nil
	case 1:
		method = events[0].Method
		file, err = events[0].File()
	default:
		method = ics.Publish
		file, err = ics.PublishFile(events)
	}
	if err != nil {
		slog.Warn("notice goes without its calendar file", "error", err)
		return nil
	}
	return &mail.Calendar{File: file, Method: method}
}

// event is an appointment in the reader's calendar. It has the UID that the client's file has, and leads to the portal.
func (w who) event(now time.Time, v *proto.Notice_Visit) ics.Event {
	t := w.text
	e := ics.Event{Method: ics.Method(v.GetCalendar()), UID: v.GetId() + "@frontdesk", Sequence: int(v.GetSequence()), Stamp: now,
		Start: time.Unix(v.GetStartsAt(), 0), End: time.Unix(v.GetEndsAt(), 0), Summary: v.GetService() + " – " + mail.Unlinked(cmp.Or(v.GetBookedFor(), v.GetClient())),
		Location: w.where(v), URL: v.GetMeetingUrl(), Organizer: ics.Person{Name: w.site.Business.Name, Email: cmp.Or(w.site.Business.Email, w.site.MailFrom)},
		Attendee: ics.Person{Name: w.Name, Email: w.Address}}
	lines := []string{t.T("with") + " " + v.GetStaff()}
	if v.GetPhone() != "" {
		lines = append(lines, t.T("phone")+lang.Colon(t.Language)+" "+v.GetPhone())
	}
	e.Description = strings.Join(append(lines, w.portal+"/appointments/"+v.GetId()), "\n")
	return e
}
