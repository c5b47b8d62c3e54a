package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"html/template"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/web"
)

// chosen is what a visitor has chosen so far, and from what.
type chosen struct {
	All       services
	Service   *service // nil until one is chosen
	Staff     int64    // 0 for anybody
	StaffName string
	Link      func(pairs ...string) template.URL
	Path      string
	Business  web.Business
}

// step is one of the four steps of the booking page: what its part of the template shows.
type step interface {
	// Step is the name of the part, and of its title among the texts.
	Step() string
	// whole is what was chosen before.
	whole() chosen
}

func (c chosen) whole() chosen { return c }

type servicesStep struct {
	chosen
	Widget any // what the widget in the page's place starts from
}

type whenStep struct {
	chosen
	Widget any // as in servicesStep
	Month  month
	Taken  bool // the time that was asked for is not free
}

type detailsStep struct {
	chosen
	At         time.Time
	Fields     web.Fields
	Token, Key string
	Notice     notice
}

type doneStep struct {
	chosen
	Done  appointment
	Email string // to which the mail goes
}

func (servicesStep) Step() string { return "services" }
func (whenStep) Step() string     { return "when" }
func (detailsStep) Step() string  { return "details" }
func (doneStep) Step() string     { return "done" }

// notice is what stands over a form after a refusal.
type notice struct {
	Title, Text  string
	Alternatives []alternative
}

type alternative struct{ At time.Time }

// One reports whether the visitor had nothing to choose from.
func (c chosen) One() bool { return len(c.All.Items) == 1 }

// choice reads what the visitor has chosen. A service that is the only one, or the only one of the person, is chosen.
func (p *pages) choice(r *http.Request) (chosen, error) {
	all, err := p.services(r)
	if err != nil {
		return chosen{}, err
	}
	c := chosen{All: all, Path: r.URL.Path, Business: p.Business()}
	person, _ := strconv.ParseInt(r.FormValue("staff"), 10, 64)
	c.Service = all.find(r.FormValue("service"))
	if c.Service == nil {
		if theirs := all.of(person); len(theirs) > 0 {
			c.All.Items, c.Staff = theirs, person
		}
		if len(c.All.Items) == 1 {
			c.Service = &c.All.Items[0]
		}
	}
	q := url.Values{}
	if language := p.Reader(r).Chosen; language != "" {
		q.Set("lang", language)
	}
	if c.Service != nil {
		if c.StaffName = c.Service.staffName(person); c.StaffName != "" {
			c.Staff = person
		}
		q.Set("service", c.Service.ID)
	}
	if c.Staff > 0 {
		q.Set("staff", strconv.FormatInt(c.Staff, 10))
	}
	c.Link = func(pairs ...string) template.URL { return link(c.Path, q, pairs) }
	return c, nil
}

// link leads to a path with a query that has these names and values as well, in the place of its own; without those that are empty.
func link(path string, query url.Values, pairs []string) template.URL {
	q := maps.Clone(query)
	for i := 0; i+1 < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	maps.DeleteFunc(q, func(_ string, v []string) bool { return v[0] == "" })
	if len(q) == 0 {
		return template.URL(path) //nolint:gosec // the path was matched, the query is encoded
	}
	return template.URL(path + "?" + q.Encode()) //nolint:gosec // as above
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	c, err := p.choice(r)
	if err != nil {
		p.failed(w, r, err)
		return
	}
	var s step
	switch at, atErr := time.Parse(time.RFC3339, r.FormValue("at")); {
	case c.Service == nil:
		s = servicesStep{chosen: c, Widget: p.start(c, nil)}
	case atErr == nil:
		s, err = p.details(r, c, at)
	default:
		s, err = p.when(r, c, firstOf(r.FormValue("day"), r.FormValue("month")))
	}
	if err != nil {
		p.failed(w, r, err)
		return
	}
	p.render(w, r, http.StatusOK, s)
}

// start is what the widget in the page's place starts from, with the free times of this month if these are known.
func (p *pages) start(c chosen, now *freeTimes) any {
	data := p.widgetData(c.All)
	data.Slots = now
	start := map[string]any{"data": data, "staff": c.Staff}
	if c.Service != nil {
		start["service"] = c.Service.ID
	}
	return start
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func (p *pages) when(r *http.Request, c chosen, asked string) (whenStep, error) {
	m, err := p.month(p.Reader(r), p.slots(r, c.Service.ID, c.Staff), asked)
	return whenStep{chosen: c, Month: m, Widget: p.start(c, m.Now)}, err
}

// details is the details step for a time. A time that is not free any more leads back to the choice of times.
func (p *pages) details(r *http.Request, c chosen, at time.Time) (step, error) {
	date := dayIn(at, p.Zone)
	found, err := p.slots(r, c.Service.ID, c.Staff)(date, date)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(found.Items, func(s slot) bool { return s.StartsAt.Equal(at) }) {
		s, err := p.when(r, c, date.Format(dayLayout))
		s.Taken = true
		return s, err
	}
	return detailsStep{chosen: c, At: at, Fields: c.Service.fields(p.Reader(r), nil, nil), Token: found.Token, Key: rand.Text()}, nil
}

// fields are the questions of the details step, with the answers and what is wrong with them.
func (s service) fields(t *web.Reader, posted url.Values, wrong map[string]fault.Problem) web.Fields {
	questions := slices.Clone(s.Questions)
	for i := range questions {
		if questions[i].Target == form.TargetLocation {
			what := "your_address"
			if questions[i].Kind == form.KindPhone {
				what = "your_number"
			}
			questions[i].Label, questions[i].Help = t.T(what), t.T(what+"_help")
		}
	}
	return t.Fields(questions, posted, wrong)
}

func (p *pages) send(w http.ResponseWriter, r *http.Request) {
	c, err := p.choice(r)
	if err != nil {
		p.failed(w, r, err)
		return
	}
	at, err := time.Parse(time.RFC3339, firstOf(r.PostFormValue("instead"), r.PostFormValue("at")))
	if c.Service == nil || err != nil {
		p.NotFound(w, r)
		return
	}
	d := detailsStep{chosen: c, At: at, Token: r.PostFormValue("token"), Key: r.PostFormValue("key")}
	values := web.Answers(c.Service.Questions, r.PostForm)
	location, asked := values[form.Location().ID]
	delete(values, form.Location().ID)
	in := map[string]any{"service": c.Service.ID, "starts_at": at.UTC().Format(time.RFC3339), "values": values, "token": d.Token,
		"hp_url": r.PostFormValue("hp_url"), "language": p.Reader(r).Language, "page": p.PublicURL + r.URL.Path}
	if asked {
		in["location"] = location
	}
	if c.Staff > 0 {
		in["staff"] = c.Staff
	}
	done := doneStep{chosen: c, Email: emailOf(c.Service.Questions, values)}
	if err := p.Call(r, http.MethodPost, "/booking/book", nil, in, d.Key, &done.Done); err != nil {
		p.refused(w, r, d, fault.From(err))
		return
	}
	p.render(w, r, http.StatusOK, done)
}

func emailOf(questions []form.Question, values map[string]any) (email string) {
	for _, q := range questions {
		if q.Target == form.TargetEmail {
			email, _ = values[q.ID].(string)
		}
	}
	return email
}

// refused shows the details again with what was typed, and says what to do.
func (p *pages) refused(w http.ResponseWriter, r *http.Request, d detailsStep, f *fault.Fault) {
	t := p.Reader(r)
	var wrong map[string]fault.Problem
	var stale string
	switch {
	case f.Code == "svc_invalid_param":
		wrong = web.Problems(f)
	case f.Code == "svc_slot_taken":
		d.Notice = p.taken(t, f)
	case f.Code == "svc_conflict" && f.Data["reason"] == "max_open_bookings":
		d.Notice = notice{Title: t.T("max_open"), Text: t.T("max_open_text", "business", d.Business.Name)}
	case f.Code == "svc_rate_limited":
		d.Notice = notice{Title: t.T("slow_down"), Text: t.T("rate", "wait", t.Wait(web.Wait(f)))}
	case f.Code == "svc_invalid_token":
		d.Notice = notice{Title: t.T("once_more"), Text: t.T("once_more_text")}
		stale, d.Token = d.Token, ""
	case f.Status == http.StatusNotFound:
		p.NotFound(w, r)
		return
	case f.Status >= http.StatusInternalServerError:
		d.Notice = notice{Title: t.T("sorry"), Text: t.T("sorry_kept")}
	default:
		d.Notice = notice{Title: t.T("sorry"), Text: t.T("refused")}
	}
	if d.Token == "" {
		day := p.desk.Now().In(p.Zone)
		if found, err := p.slots(r, d.Service.ID, d.Staff)(day, day); err == nil {
			d.Token = found.Token
		}
	}
	if stale != "" && web.WordsChanged(stale, d.Token) {
		d.Notice = notice{Title: t.T("once_more"), Text: t.T("words_changed")}
		untick(d.Service.Questions, r.PostForm)
	}
	d.Fields = d.Service.fields(t, r.PostForm, wrong)
	if d.Notice.Title == "" && len(d.Fields.Wrong) == 0 {
		d.Notice.Title, d.Notice.Text = t.T("sorry"), t.T("refused")
	}
	p.render(w, r, f.Status, d)
}

// untick takes back the consents among what was posted: they are given anew to the words of now.
func untick(questions []form.Question, posted url.Values) {
	for _, q := range questions {
		if q.Kind == form.KindConsent {
			posted.Del(web.AnswerPrefix + q.ID)
		}
	}
}

// taken says that a time is taken, and which are free near it.
func (p *pages) taken(t *web.Reader, f *fault.Fault) notice {
	n := notice{Title: t.T("taken"), Text: t.T("taken_choose"), Alternatives: p.alternatives(f)}
	if len(n.Alternatives) == 0 {
		n.Text = t.T("taken_other")
	}
	return n
}

func (p *pages) alternatives(f *fault.Fault) (all []alternative) {
	raw, err := json.Marshal(f.Data["alternatives"])
	if err != nil {
		return nil
	}
	var items []struct {
		StartsAt time.Time `json:"starts_at"`
	}
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	for _, i := range items {
		all = append(all, alternative{i.StartsAt})
	}
	return all
}

func (p *pages) render(w http.ResponseWriter, r *http.Request, status int, s step) {
	t := p.Reader(r)
	page := web.Page{Title: t.T("title_" + s.Step()), Data: s, Canonical: p.PublicURL + r.URL.Path, Scripts: []string{"widget.js"}}
	switch s.(type) {
	case detailsStep, doneStep:
		page.Narrow, page.Scripts = true, []string{"zone.js"}
	}
	if _, done := s.(doneStep); !done && r.Method != http.MethodPost {
		q := r.URL.Query()
		page.Alternate = func(language string) string {
			q.Set("lang", language)
			return r.URL.Path + "?" + q.Encode()
		}
	}
	page.Description = t.T("description", "business", p.Business().Name)
	page.About = p.about(r.Context(), s.whole().All, page.Canonical)
	p.Render(w, r, status, "book", page)
}

// about is the business with what can be booked, for machines.
func (p *pages) about(ctx context.Context, all services, address string) web.Place {
	place := p.Place()
	if week, err := p.desk.Open(ctx); err != nil {
		slog.WarnContext(ctx, "a page goes without the hours of the business", "error", err)
	} else {
		place.Hours = web.Openings(week.Strings())
	}
	place.Action = &web.Action{Type: "ReserveAction", Target: address}
	for _, s := range all.Items {
		o := web.Offer{Type: "Offer", Service: web.Service{Type: "Service", Name: s.Name, Description: s.Description}}
		if s.Price != nil {
			o.Price, o.Currency = *s.Price, all.Currency
		}
		place.Offers = append(place.Offers, o)
	}
	return place
}
