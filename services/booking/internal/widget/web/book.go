package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"html/template"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/web"
)

// bookPage is what the template of the booking page shows.
type bookPage struct {
	Step     string // services, when, details, done
	All      services
	Service  *service
	Staff    int64
	Month    month
	Widget   any // what the widget in the page's place starts from; nil without one
	Link     func(pairs ...string) template.URL
	Path     string
	Business web.Business

	At         time.Time
	StaffName  string
	Fields     []web.Field
	Token, Key string
	Notice     notice
	Done       appointment
	Email      string
}

// notice is what stands over a form after a refusal.
type notice struct {
	Title, Text  string
	Errors       []web.FieldError
	Alternatives []alternative
}

type alternative struct{ At time.Time }

// One reports whether the visitor had nothing to choose from.
func (b bookPage) One() bool { return len(b.All.Items) == 1 }

func (p *pages) newBookPage(r *http.Request) (*bookPage, error) {
	all, err := p.services(r)
	b := &bookPage{Step: "services", All: all, Path: r.URL.Path, Business: p.Business()}
	if err != nil {
		return b, err
	}
	person, _ := strconv.ParseInt(r.FormValue("staff"), 10, 64)
	b.Service = all.find(r.FormValue("service"))
	if b.Service == nil {
		if theirs := all.of(person); len(theirs) > 0 {
			b.All.Items, b.Staff = theirs, person
		}
		if len(b.All.Items) == 1 {
			b.Service = &b.All.Items[0]
		}
	}
	if b.Service != nil {
		if b.StaffName = b.Service.staffName(person); b.StaffName != "" {
			b.Staff = person
		}
	}
	chosen := p.Reader(r).Chosen
	b.Link = func(pairs ...string) template.URL {
		q := url.Values{}
		if chosen != "" {
			q.Set("lang", chosen)
		}
		if b.Service != nil {
			q.Set("service", b.Service.ID)
		}
		if b.Staff > 0 {
			q.Set("staff", strconv.FormatInt(b.Staff, 10))
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		for k, v := range q {
			if v[0] == "" {
				q.Del(k)
			}
		}
		if len(q) == 0 {
			return template.URL(b.Path) //nolint:gosec // the path was matched, the query is encoded
		}
		return template.URL(b.Path + "?" + q.Encode()) //nolint:gosec // as above
	}
	return b, nil
}

func (p *pages) show(w http.ResponseWriter, r *http.Request) {
	b, err := p.newBookPage(r)
	if err != nil {
		p.failed(w, r, err)
		return
	}
	at, atErr := time.Parse(time.RFC3339, r.FormValue("at"))
	switch {
	case b.Service == nil:
	case atErr == nil:
		err = p.details(r, b, at)
	default:
		err = p.when(r, b, firstOf(r.FormValue("day"), r.FormValue("month")))
	}
	if err != nil {
		p.failed(w, r, err)
		return
	}
	if b.Step == "services" || b.Step == "when" {
		data := p.widgetData(b.All)
		data.Slots = b.Month.Now
		start := map[string]any{"data": data, "staff": b.Staff}
		if b.Service != nil {
			start["service"] = b.Service.ID
		}
		b.Widget = start
	}
	p.render(w, r, http.StatusOK, b)
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

func (p *pages) when(r *http.Request, b *bookPage, asked string) (err error) {
	b.Step = "when"
	b.Month, err = p.month(p.Reader(r), p.slots(r, b.Service.ID, b.Staff), asked)
	return err
}

// details prepares the details step for a time. A time that is not free any more leads back to the choice of times.
func (p *pages) details(r *http.Request, b *bookPage, at time.Time) error {
	date := dayIn(at, p.Zone)
	found, err := p.slots(r, b.Service.ID, b.Staff)(date, date)
	if err != nil {
		return err
	}
	free := false
	for _, s := range found.Items {
		free = free || s.StartsAt.Equal(at)
	}
	if !free {
		if err := p.when(r, b, date.Format(dayLayout)); err != nil {
			return err
		}
		b.Notice.Title = p.Reader(r).T("taken")
		return nil
	}
	b.Step, b.At, b.Token, b.Key = "details", at, found.Token, rand.Text()
	b.ask(p.Reader(r), nil, nil)
	return nil
}

// ask fills in the questions of the details step, with the answers and what is wrong with them.
func (b *bookPage) ask(t *web.Reader, posted url.Values, wrong map[string]fault.Problem) {
	questions := slices.Clone(b.Service.Questions)
	for i := range questions {
		if questions[i].Target == form.TargetLocation {
			what := "your_address"
			if questions[i].Kind == form.KindPhone {
				what = "your_number"
			}
			questions[i].Label, questions[i].Help = t.T(what), t.T(what+"_help")
		}
	}
	b.Fields = t.Fields(questions, posted, wrong)
	b.Notice.Errors = web.Errors(b.Fields)
}

func (p *pages) send(w http.ResponseWriter, r *http.Request) {
	b, err := p.newBookPage(r)
	if err != nil {
		p.failed(w, r, err)
		return
	}
	at, err := time.Parse(time.RFC3339, firstOf(r.PostFormValue("instead"), r.PostFormValue("at")))
	if b.Service == nil || err != nil {
		p.NotFound(w, r)
		return
	}
	b.Step, b.At, b.Token, b.Key = "details", at, r.PostFormValue("token"), r.PostFormValue("key")
	values := web.Answers(b.Service.Questions, r.PostForm, "v.")
	location, asked := values[form.Location().ID]
	delete(values, form.Location().ID)
	in := map[string]any{"service": b.Service.ID, "starts_at": at.UTC().Format(time.RFC3339), "values": values, "token": b.Token,
		"hp_url": r.PostFormValue("hp_url"), "language": p.Reader(r).Language, "page": p.PublicURL + r.URL.Path}
	if asked {
		in["location"] = location
	}
	if b.Staff > 0 {
		in["staff"] = b.Staff
	}
	err = p.Call(r, http.MethodPost, "/booking/book", nil, in, b.Key, &b.Done)
	if err == nil {
		b.Step = "done"
		b.Email = emailOf(b.Service.Questions, values)
		p.render(w, r, http.StatusOK, b)
		return
	}
	p.refused(w, r, b, fault.From(err))
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
func (p *pages) refused(w http.ResponseWriter, r *http.Request, b *bookPage, f *fault.Fault) {
	t := p.Reader(r)
	var wrong map[string]fault.Problem
	var stale string
	switch {
	case f.Code == "svc_invalid_param":
		wrong = web.Problems(f)
	case f.Code == "svc_slot_taken":
		b.Notice.Title = t.T("taken")
		b.Notice.Alternatives = p.alternatives(f)
		b.Notice.Text = t.T("taken_choose")
		if len(b.Notice.Alternatives) == 0 {
			b.Notice.Text = t.T("taken_other")
		}
	case f.Code == "svc_conflict" && f.Data["reason"] == "max_open_bookings":
		b.Notice = notice{Title: t.T("max_open"), Text: t.T("max_open_text", "business", b.Business.Name)}
	case f.Code == "svc_rate_limited":
		b.Notice = notice{Title: t.T("slow_down"), Text: t.T("rate", "wait", t.Wait(web.Wait(f)))}
	case f.Code == "svc_invalid_token":
		b.Notice = notice{Title: t.T("once_more"), Text: t.T("once_more_text")}
		stale, b.Token = b.Token, ""
	case f.Status == http.StatusNotFound:
		p.NotFound(w, r)
		return
	case f.Status >= http.StatusInternalServerError:
		b.Notice = notice{Title: t.T("sorry"), Text: t.T("sorry_kept")}
	default:
		b.Notice = notice{Title: t.T("sorry"), Text: t.T("refused")}
	}
	if b.Token == "" {
		day := p.desk.Now().In(p.Zone)
		if found, err := p.slots(r, b.Service.ID, b.Staff)(day, day); err == nil {
			b.Token = found.Token
		}
	}
	if stale != "" && web.WordsChanged(stale, b.Token) {
		b.Notice = notice{Title: t.T("once_more"), Text: t.T("words_changed")}
		untick(b.Service.Questions, r.PostForm)
	}
	title := b.Notice.Title
	b.ask(t, r.PostForm, wrong)
	if title == "" && len(b.Notice.Errors) == 0 {
		b.Notice.Title, b.Notice.Text = t.T("sorry"), t.T("refused")
	}
	p.render(w, r, f.Status, b)
}

// untick takes back the consents among what was posted: they are given anew to the words of now.
func untick(questions []form.Question, posted url.Values) {
	for _, q := range questions {
		if q.Kind == form.KindConsent {
			posted.Del("v." + q.ID)
		}
	}
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

func (p *pages) render(w http.ResponseWriter, r *http.Request, status int, b *bookPage) {
	t := p.Reader(r)
	page := web.Page{Title: t.T("title_" + b.Step), Data: b, Narrow: b.Step == "details" || b.Step == "done", Canonical: p.PublicURL + r.URL.Path}
	if b.Step == "services" || b.Step == "when" {
		page.Scripts = []string{"widget.js"}
	} else {
		page.Scripts = []string{"zone.js"}
	}
	if b.Step != "done" && r.Method != http.MethodPost {
		q := r.URL.Query()
		page.Alternate = func(language string) string {
			q.Set("lang", language)
			return r.URL.Path + "?" + q.Encode()
		}
	}
	page.Description = t.T("description", "business", p.Business().Name)
	page.About = p.about(r.Context(), b.All, page.Canonical)
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
