package web

import (
	"bytes"
	"context"
	"embed"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/web"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/slots"
)

//go:embed all:page text all:dist
var folder embed.FS

const (
	app = "booking"
	// maxForm bounds what a page's form may send.
	maxForm = 256 << 10
)

// Paths are where Pages serves. The booking page stands below whatever path the portal has now, or at /book on its own host;
// assets stay while the app is off, so that a widget can say so.
var Paths = []*proto.Page{{Path: "/{portal}/book", App: app}, {Path: "/book", App: app}, {Path: "/manage", App: app}, {Path: "/_ui/booking/"}, {Path: "/_ui/w/"}}

// Desk is what the pages need beyond public operations.
type Desk struct {
	web.Site
	// Now is the clock.
	Now func() time.Time
	// Key signs what a page's form carries from one step to the next; all replicas have the same.
	Key []byte
	// Rules are those for changes by clients.
	Rules func(ctx context.Context) (Rules, error)
	// Open are the hours of the business.
	Open func(ctx context.Context) (slots.Week, error)
	// Fields are the custom fields of now.
	Fields func() form.Fields
}

// Rules say whether and until when clients change their appointments themselves.
type Rules struct {
	ClientChanges     bool
	CancelNoticeHours int
	LateCancelText    string
}

type pages struct {
	*web.UI
	desk  Desk
	parts *template.Template
}

// Pages serves Paths.
func Pages(d Desk) http.Handler {
	p := &pages{UI: web.New(app, d.Site, folder), desk: d, parts: template.Must(web.Parts().Parse(`{{template "summary" .}}
{{template "fields" .}}
{{template "trap" .}}`))}
	mux := http.NewServeMux()
	mux.Handle("GET /{portal}/book", p.onBookingPage(p.show))
	mux.Handle("POST /{portal}/book", p.onBookingPage(p.send))
	mux.Handle("GET /book", p.onBookingPage(p.show))
	mux.Handle("POST /book", p.onBookingPage(p.send))
	mux.Handle("GET /manage", p.whileOn(p.open))
	mux.Handle("POST /manage", p.whileOn(p.sameSite(p.manage)))
	mux.HandleFunc("GET /_ui/booking/widget.json", p.widget)
	mux.HandleFunc("GET /_ui/booking/questions.json", p.questions)
	mux.Handle("/_ui/booking/", p.Assets())
	mux.Handle("GET /_ui/w/v1/svc.js", p.Embed())
	mux.HandleFunc("/", p.Elsewhere(mux))
	return mux
}

func (p *pages) whileOn(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !p.On(app) {
			p.NotFound(w, r)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err := r.ParseForm(); err != nil {
			t := p.Reader(r)
			p.Message(w, r, http.StatusBadRequest, web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("sorry"), Text: t.T("refused")})
			return
		}
		h(w, r)
	})
}

var crossOrigin = http.NewCrossOriginProtection()

// sameSite refuses forms that another site sends in the visitor's name.
func (p *pages) sameSite(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if crossOrigin.Check(r) != nil {
			t := p.Reader(r)
			p.Message(w, r, http.StatusForbidden, web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("sorry"), Text: t.T("elsewhere")})
			return
		}
		h(w, r)
	}
}

// onBookingPage lets through what asks for the booking page where it stands now.
func (p *pages) onBookingPage(h http.HandlerFunc) http.Handler {
	return p.whileOn(func(w http.ResponseWriter, r *http.Request) {
		if !p.isBookingPage(r) {
			p.NotFound(w, r)
			return
		}
		h(w, r)
	})
}

func (p *pages) isBookingPage(r *http.Request) bool {
	portal := struct {
		Path        string `json:"path"`
		BookingPage bool   `json:"booking_page"`
		Host        string `json:"host"`
		HostActive  bool   `json:"host_active"`
	}{Path: "team"}
	p.Read("portal", &portal)
	if !portal.BookingPage {
		return false
	}
	if path := r.PathValue("portal"); path != "" {
		return path == portal.Path
	}
	host, _, _ := strings.Cut(r.Host, ":")
	return portal.HostActive && strings.EqualFold(host, portal.Host)
}

// failed answers a refusal that has no place of its own on a page.
func (p *pages) failed(w http.ResponseWriter, r *http.Request, err error) {
	f := fault.From(err)
	t := p.Reader(r)
	m := web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: t.T("sorry_text")}
	switch {
	case f.Code == "svc_rate_limited":
		m = web.Message{Icon: "clock", Tone: "soft", Title: t.T("slow_down"), Text: t.T("rate", "wait", t.Wait(web.Wait(f)))}
	case f.Status == http.StatusNotFound:
		p.NotFound(w, r)
		return
	case f.Status < http.StatusInternalServerError:
		m.Text = t.T("refused")
	default:
		slog.ErrorContext(r.Context(), "page cannot be shown", "path", r.URL.Path, "error", err)
	}
	p.Message(w, r, f.Status, m)
}

// widgetData is all that a widget needs to begin.
type widgetData struct {
	Site     web.WidgetSite `json:"site"`
	Services []service      `json:"services"`
	Terms    string         `json:"terms"`
	// Slots are the free times of what is left of this month, when the widget is for one service.
	Slots *freeTimes `json:"slots,omitempty"`
}

func (p *pages) widget(w http.ResponseWriter, r *http.Request) {
	if !p.On(app) {
		p.refuse(w, fault.NoRoute())
		return
	}
	all, err := p.services(r)
	if err != nil {
		p.refuse(w, err)
		return
	}
	data := p.widgetData(all)
	if s := all.find(r.FormValue("service")); s != nil {
		person, _ := strconv.ParseInt(r.FormValue("staff"), 10, 64)
		if s.staffName(person) == "" {
			person = 0
		}
		today := dayIn(p.desk.Now(), p.Zone)
		// Without them the widget asks itself, and says what is wrong.
		if found, err := p.slots(r, s.ID, person)(today, today.AddDate(0, 1, -today.Day())); err == nil {
			data.Slots = &found
		}
	}
	p.JSON(w, data)
}

// asked is what the details step asks.
type asked struct {
	HTML string `json:"html"`
	// Words is the version of the consents in it, as time tokens have it.
	Words string `json:"words"`
}

// questions answers with the questions of a service, as the page without script has them.
func (p *pages) questions(w http.ResponseWriter, r *http.Request) {
	all, err := p.services(r)
	s := all.find(r.FormValue("service"))
	if !p.On(app) || err == nil && s == nil {
		err = fault.NoRoute()
	}
	var b bytes.Buffer
	if err == nil {
		err = p.parts.Execute(&b, s.fields(p.Reader(r), nil, nil))
	}
	if err != nil {
		p.refuse(w, err)
		return
	}
	p.JSON(w, asked{b.String(), s.Words})
}

// refuse answers a widget as the API does.
func (p *pages) refuse(w http.ResponseWriter, err error) {
	f := fault.From(err)
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(f.Status)
	_, _ = w.Write(f.Body(""))
}

func (p *pages) widgetData(all services) widgetData {
	return widgetData{Site: p.WidgetSite(nil), Services: all.Items, Terms: all.TermsText}
}

// services reads the services that visitors can book, with the questions of their details step.
func (p *pages) services(r *http.Request) (services, error) {
	all := services{Items: []service{}}
	if err := p.Call(r, http.MethodGet, "/booking/services", nil, nil, "", &all); err != nil {
		return all, err
	}
	fields := p.desk.Fields()
	for i := range all.Items {
		all.Items[i].ask(fields)
	}
	return all, nil
}
