package panel

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

//go:embed page static
var files embed.FS

// pages are the templates of the pages, each with the layout.
var pages = func() map[string]*template.Template {
	all := map[string]*template.Template{}
	for _, name := range []string{"overview", "service", "instances", "apps", "routes", "parked", "replay", "message"} {
		all[name] = template.Must(template.ParseFS(files, "page/layout.html", "page/"+name+".html"))
	}
	return all
}()

// screen is what every page has.
type screen struct {
	Title, Path string
	Services    []serviceView
	At          string
	Controller  string // this one
	Began       string // its hour
	Controllers int    // that run
	Data        any
}

// Handler serves the pages and what they load. It is for an admin port: whoever reaches it may read all and replay parked messages.
func (p *Panel) Handler() http.Handler {
	mux := http.NewServeMux()
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	mux.HandleFunc("GET /{$}", p.overview)
	mux.HandleFunc("GET /services/{service}", p.showService)
	mux.HandleFunc("GET /instances", func(w http.ResponseWriter, r *http.Request) { p.show(w, r, 200, "instances", "Instances", nil) })
	mux.HandleFunc("GET /apps", func(w http.ResponseWriter, r *http.Request) {
		p.show(w, r, 200, "apps", "Apps", p.source.Gateway())
	})
	mux.HandleFunc("GET /routes", p.routes)
	mux.HandleFunc("GET /parked-messages", p.parked)
	mux.HandleFunc("GET /parked-messages/{service}/{id}", p.askToReplay)
	mux.HandleFunc("POST /parked-messages/{service}/{id}/replay", p.doReplay)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { p.missing(w, r, "There is no such page.") })
	return guarded(mux)
}

// guarded sets the headers of every answer: a page loads its own script and style, sends forms to itself, and is in no frame.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// show answers with a page.
func (p *Panel) show(w http.ResponseWriter, r *http.Request, status int, name, title string, data any) {
	now := p.now()
	p.mu.Lock()
	s := screen{Title: title, Path: r.URL.Path, Services: p.services(now), At: now.UTC().Format(time.TimeOnly) + " UTC", Began: clock(p.began), Data: data}
	for _, v := range s.Services {
		if v.Name == Controller {
			s.Controllers = v.Up
			if i := slices.IndexFunc(v.Instances, func(i instanceView) bool { return i.Gather != nil }); i >= 0 {
				s.Controller = v.Instances[i].Name
			}
		}
	}
	p.mu.Unlock()
	var b bytes.Buffer
	if err := pages[name].ExecuteTemplate(&b, "layout", s); err != nil {
		slog.ErrorContext(r.Context(), "page", "page", name, "error", err)
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = b.WriteTo(w)
}

func (p *Panel) missing(w http.ResponseWriter, r *http.Request, sentence string) {
	p.show(w, r, http.StatusNotFound, "message", "Not found", sentence)
}

func (p *Panel) overview(w http.ResponseWriter, r *http.Request) {
	p.show(w, r, http.StatusOK, "overview", "Overview", p.source.Gateway())
}

// spans are the times over which the operations of a service can be counted.
var spans = []span{{"5m", "5 minutes", 5 * time.Minute}, {"15m", "15 minutes", 15 * time.Minute}, {"1h", "hour", time.Hour}}

type span struct {
	Key, Name string
	long      time.Duration
}

// servicePage is a service with its last hour.
type servicePage struct {
	serviceView
	Groups     []group
	Operations []operationView
	Topics     []topicView
	Figures    []figureView
	Span       span
	Spans      []span
}

// group is some plots under a heading.
type group struct {
	Name  string
	Plots []*plot
}

func (p *Panel) showService(w http.ResponseWriter, r *http.Request) {
	name, now := r.PathValue("service"), p.now()
	page := servicePage{Spans: spans, Span: spans[0]}
	if i := slices.IndexFunc(spans, func(s span) bool { return s.Key == r.URL.Query().Get("over") }); i >= 0 {
		page.Span = spans[i]
	}
	p.mu.Lock()
	views := p.services(now)
	i := slices.IndexFunc(views, func(v serviceView) bool { return v.Name == name })
	if i >= 0 {
		h := p.history(now, name)
		page.serviceView, page.Groups, page.Operations, page.Topics, page.Figures = views[i], h.groups(), h.operations(page.Span.long), h.topics(), h.all()
	}
	p.mu.Unlock()
	if i < 0 {
		p.missing(w, r, "There is no such service.")
		return
	}
	p.show(w, r, http.StatusOK, "service", strings.ToUpper(name[:1])+name[1:], page)
}

// groups are the plots of a service. What it does not measure is left out.
func (h history) groups() []group {
	of := func(name string, f figure) curve { return curve{name, h.values(f)} }
	calls, events, waits := h.quantiles(callsIn, .5, .95, .99), h.quantiles(eventsIn, .5, .95), h.quantiles(waitsIn, .5, .95)
	all := []group{
		{"Requests", []*plot{
			draw("Requests per second", perSecond, curve{"done", h.rates(done)}, curve{"refused", h.rates(refused)}, curve{"failed", h.rates(failed)}),
			draw("Time of a request", seconds, curve{"p50", calls[0]}, curve{"p95", calls[1]}, curve{"p99", calls[2]}),
			draw("Answered by no service, per second", perSecond, of("answers", unserved)),
			draw("Open streams", plain, of("streams", streams)),
		}},
		{"Events", []*plot{
			draw("Messages not handled yet", plain, of("all partitions", lag)),
			draw("Age of the message in hand", seconds, of("worst partition", lagSeconds)),
			draw("From an event to its effect here", seconds, curve{"p50", events[0]}, curve{"p95", events[1]}),
			draw("Outbox: messages that wait", plain, of("waiting", outboxWaiting)),
			draw("Outbox: age of the oldest", seconds, of("age", outboxAge)),
			draw("Outbox: all rows", plain, of("rows", outboxRows)),
			draw("Copies in memory: age of the oldest", seconds, of("worst copy", tableAge)),
			draw("Parked messages", plain, of("parked", parked)),
		}},
		{"Queues", []*plot{
			draw("Mails that wait", plain, of("mails", mailsWaiting)),
			draw("Age of the oldest mail", seconds, of("age", mailsAge)),
			draw("Webhook deliveries that wait", plain, of("deliveries", webhooksWaiting), of("paused webhooks", webhooksPaused)),
			draw("Webhook attempts per second", perSecond, of("delivered", attemptsDelivered), of("failed", attemptsFailed)),
			draw("Age of the oldest first attempt", seconds, of("age", webhooksAge)),
			draw("Submissions without a contact yet", plain, of("submissions", submissionsPending)),
			draw("Age of the oldest of them", seconds, of("age", submissionsAge)),
			draw("Imports", plain, of("that wait or run", importsOpen)),
			draw("Rows of imports left", plain, of("rows", importRows)),
			draw("Reminders overdue", plain, of("reminders", remindersOverdue)),
			draw("Clients not confirmed by contacts", plain, of("clients", unanswered)),
		}},
		{"Processes", []*plot{
			draw("Connections of the pool", plain, of("used", poolUsed), of("work that waits", poolWaiting), of("limit", poolMax)),
			draw("Wait for a connection", seconds, curve{"p50", waits[0]}, curve{"p95", waits[1]}),
			draw("Memory", size, of("resident", memory), of("heap", heap)),
			draw("Processor", share, of("of one core", processor)),
			draw("Goroutines", plain, of("goroutines", goroutines)),
		}},
	}
	for i := range all {
		all[i].Plots = slices.DeleteFunc(all[i].Plots, func(p *plot) bool { return p == nil })
	}
	return slices.DeleteFunc(all, func(g group) bool { return len(g.Plots) == 0 })
}

// routesPage are the routes whose method, path or service contain Search.
type routesPage struct {
	Gateway
	Search     string
	Shown, All int
}

func (p *Panel) routes(w http.ResponseWriter, r *http.Request) {
	page := routesPage{Gateway: p.source.Gateway(), Search: strings.TrimSpace(r.URL.Query().Get("search"))}
	page.All = len(page.Routes)
	page.Routes = slices.DeleteFunc(slices.Clone(page.Routes), func(x Route) bool {
		return !strings.Contains(strings.ToLower(x.Method+" "+x.Path+" "+x.Service+" "+x.App), strings.ToLower(page.Search))
	})
	page.Shown = len(page.Routes)
	p.show(w, r, http.StatusOK, "routes", "Routes", page)
}

// parkedPage is what is parked. Replayed names a message that was replayed just now.
type parkedPage struct {
	Services []parkedView
	Replayed string
}

func (p *Panel) parked(w http.ResponseWriter, r *http.Request) {
	page := parkedPage{Services: make([]parkedView, len(p.source.Services)), Replayed: r.URL.Query().Get("replayed")}
	var asking sync.WaitGroup
	for n, service := range p.source.Services {
		asking.Go(func() { page.Services[n] = p.parkedOf(r.Context(), service) })
	}
	asking.Wait()
	p.show(w, r, http.StatusOK, "parked", "Parked messages", page)
}

// replayPage asks whether to replay a message; Outcome is that of the last try if it failed, Problem the reason.
type replayPage struct {
	parkedMessage
	Service, Outcome, Problem string
}

const staysParked = "It stays parked"

// find returns a parked message of a service. If the message is gone or the service does not answer, it writes the page that says so.
func (p *Panel) find(w http.ResponseWriter, r *http.Request) (page replayPage, found bool) {
	page.Service = r.PathValue("service")
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil || !slices.Contains(p.source.Services, page.Service) {
		p.missing(w, r, "There is no such message.")
		return page, false
	}
	parked := p.parkedOf(r.Context(), page.Service)
	i := slices.IndexFunc(parked.Messages, func(m parkedMessage) bool { return m.ID == id })
	switch {
	case parked.Problem != "":
		p.show(w, r, http.StatusBadGateway, "message", "Parked messages cannot be read", parked.Problem+".")
	case i < 0:
		p.missing(w, r, "This message is not parked any more: somebody has replayed it, or it was about a person who was erased.")
	default:
		page.parkedMessage = parked.Messages[i]
		return page, true
	}
	return page, false
}

func (p *Panel) askToReplay(w http.ResponseWriter, r *http.Request) {
	if page, found := p.find(w, r); found {
		p.show(w, r, http.StatusOK, "replay", "Replay a message", page)
	}
}

func (p *Panel) doReplay(w http.ResponseWriter, r *http.Request) {
	page, found := p.find(w, r)
	if !found {
		return
	}
	err := p.replay(r.Context(), page.Service, page.ID)
	slog.InfoContext(r.Context(), "replay of a parked message", "service", page.Service, "id", page.ID, "topic", page.Topic, "from", r.RemoteAddr, "error", err)
	switch {
	case errors.Is(err, errUnsure):
		page.Outcome, page.Problem = "It may have been handled", err.Error()+". The list of parked messages has it if it was not"
		p.show(w, r, http.StatusGatewayTimeout, "replay", "The service has not answered", page)
	case errors.Is(err, errNobody):
		page.Outcome, page.Problem = staysParked, err.Error()
		p.show(w, r, http.StatusBadGateway, "replay", "The service cannot be reached", page)
	case err != nil:
		// The message has the error of this try by now.
		if page, found = p.find(w, r); found {
			page.Outcome, page.Problem = staysParked, err.Error()
			p.show(w, r, http.StatusConflict, "replay", "The message stays parked", page)
		}
	default:
		http.Redirect(w, r, "/parked-messages?replayed="+url.QueryEscape(fmt.Sprintf("%s %d", page.Service, page.ID)), http.StatusSeeOther)
	}
}
