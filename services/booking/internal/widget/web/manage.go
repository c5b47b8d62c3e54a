package web

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

// managed is the appointment behind a mail's link, with what a page's form passes on.
type managed struct {
	Token, Held string
	Appointment appointment
	Business    web.Business
}

// The steps of the page behind a mail's link: each is what its part of the template shows.
type (
	openStep struct{ Wrong bool } // the code before is not one of ours

	showStep struct {
		managed
		May bool   // the client may change it
		Why string // they may not
	}

	cancelStep struct{ managed }

	moveStep struct {
		managed
		Month  month
		Notice notice
	}

	confirmStep struct {
		managed
		At time.Time
	}

	// messageStep says what became of an act. An appointment without a service is not shown.
	messageStep struct {
		managed
		Icon, Tone, Title, Text string
		Reach                   bool // how to reach the business
	}
)

func (openStep) Step() string    { return "open" }
func (showStep) Step() string    { return "show" }
func (cancelStep) Step() string  { return "cancel" }
func (moveStep) Step() string    { return "move" }
func (confirmStep) Step() string { return "move-confirm" }
func (messageStep) Step() string { return "message" }

// open asks for the code of the mail. The link carries it in its fragment, which no server sees: a script hands it in, and
// whoever has none pastes it. Programs that follow links of mails see nothing here and change nothing.
func (p *pages) open(w http.ResponseWriter, r *http.Request) {
	p.renderManage(w, r, http.StatusOK, openStep{})
}

var inLink = regexp.MustCompile(`(?:^|[#?&])token=([A-Za-z0-9_.~-]+)`)

func (p *pages) manage(w http.ResponseWriter, r *http.Request) {
	m := managed{Token: r.PostFormValue("token"), Held: r.PostFormValue("held"), Business: p.Business()}
	if found := inLink.FindStringSubmatch(m.Token); found != nil {
		m.Token = found[1]
	}
	do := r.PostFormValue("do")
	if r.PostForm.Has("back") {
		do = ""
	}
	if !p.held(&m) {
		// Steps between show and act need no second look at the appointment: it is passed along, and counts for nothing.
		err := p.Call(r, http.MethodPost, "/booking/manage", nil, map[string]any{"token": m.Token}, "", &m.Appointment)
		if err != nil {
			p.refuseManage(w, r, m, fault.From(err))
			return
		}
		p.hold(&m)
	}
	switch do {
	case "cancel":
		p.renderManage(w, r, http.StatusOK, cancelStep{m})
	case "cancel-now":
		err := p.Call(r, http.MethodPost, "/booking/manage/cancel", nil, map[string]any{"token": m.Token, "reason": oneKindOfBreak(r.PostFormValue("reason"))}, "", &m.Appointment)
		if err != nil {
			p.refuseManage(w, r, m, fault.From(err))
			return
		}
		t := p.Reader(r)
		p.renderManage(w, r, http.StatusOK, messageStep{managed: m, Icon: "calendar-x", Tone: "soft", Title: t.T("cancelled"), Text: t.T("cancelled_text")})
	case "move":
		p.chooseMove(w, r, m)
	case "move-now":
		p.moveNow(w, r, m)
	default:
		p.showAppointment(w, r, m)
	}
}

// oneKindOfBreak is what was typed into a field of several lines as the visitor counted it: a form sends each break as two
// characters.
func oneKindOfBreak(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// heldFor is how long a page's form vouches for the appointment that it shows.
const heldFor = 30 * time.Minute

// note is what a page's form carries from one step to the next.
type note struct {
	Appointment appointment
	Until       time.Time
}

// hold puts the appointment into the page's form, signed for its token and for a while.
func (p *pages) hold(m *managed) {
	raw, err := json.Marshal(note{m.Appointment, p.desk.Now().Add(heldFor)})
	if err != nil {
		return
	}
	m.Held = base64.RawURLEncoding.EncodeToString(append(p.sign(m.Token, raw), raw...))
}

// held takes the appointment back, and reports whether it is one that hold put there for this token a while ago.
func (p *pages) held(m *managed) bool {
	signed, err := base64.RawURLEncoding.DecodeString(m.Held)
	if err != nil || len(signed) < sha256.Size {
		return false
	}
	mac, raw := signed[:sha256.Size], signed[sha256.Size:]
	var n note
	if !hmac.Equal(mac, p.sign(m.Token, raw)) || json.Unmarshal(raw, &n) != nil || p.desk.Now().After(n.Until) {
		return false
	}
	m.Appointment = n.Appointment
	return true
}

func (p *pages) sign(token string, raw []byte) []byte {
	mac := hmac.New(sha256.New, p.desk.Key)
	mac.Write([]byte(token))
	mac.Write([]byte{0})
	mac.Write(raw)
	return mac.Sum(nil)
}

func (p *pages) showAppointment(w http.ResponseWriter, r *http.Request, m managed) {
	t := p.Reader(r)
	rules, err := p.desk.Rules(r.Context())
	if err != nil {
		p.failed(w, r, err)
		return
	}
	upcoming := m.Appointment.Status == "pending" || m.Appointment.Status == "confirmed"
	last := m.Appointment.StartsAt.Add(-time.Duration(rules.CancelNoticeHours) * time.Hour)
	show := showStep{managed: m}
	switch {
	case !upcoming:
	case !rules.ClientChanges:
		show.Why = t.T("changes_off")
	case p.desk.Now().After(last):
		show.Why = p.tooLate(t, rules)
	default:
		show.May = true
	}
	p.renderManage(w, r, http.StatusOK, show)
}

func (p *pages) tooLate(t *web.Reader, rules Rules) string {
	if rules.LateCancelText != "" {
		return rules.LateCancelText
	}
	if rules.CancelNoticeHours == 0 {
		return t.T("begun")
	}
	return t.N("too_late", rules.CancelNoticeHours)
}

func (p *pages) chooseMove(w http.ResponseWriter, r *http.Request, m managed) {
	if at, err := time.Parse(time.RFC3339, r.PostFormValue("at")); err == nil && !r.PostForm.Has("month") && !r.PostForm.Has("day") {
		p.renderManage(w, r, http.StatusOK, confirmStep{m, at})
		return
	}
	p.showMonths(w, r, http.StatusOK, moveStep{managed: m}, firstOf(r.PostFormValue("day"), r.PostFormValue("month")))
}

// showMonths offers the times of the same person.
func (p *pages) showMonths(w http.ResponseWriter, r *http.Request, status int, m moveStep, asked string) {
	t := p.Reader(r)
	found, err := p.month(t, p.moves(r, m.managed), asked)
	if f := fault.From(err); err != nil && f.Data["reason"] == "staff_left" {
		p.renderManage(w, r, http.StatusOK, messageStep{managed: m.managed, Icon: "info", Tone: "soft", Title: t.T("no_move"), Text: t.T("no_move_text"), Reach: true})
		return
	}
	if err != nil {
		p.refuseManage(w, r, m.managed, fault.From(err))
		return
	}
	m.Month = found
	p.renderManage(w, r, status, m)
}

func (p *pages) moveNow(w http.ResponseWriter, r *http.Request, m managed) {
	t := p.Reader(r)
	at, err := time.Parse(time.RFC3339, r.PostFormValue("at"))
	if err != nil {
		p.showMonths(w, r, http.StatusOK, moveStep{managed: m}, "")
		return
	}
	now := m
	err = p.Call(r, http.MethodPost, "/booking/manage/reschedule", nil, map[string]any{"token": m.Token, "starts_at": at.UTC().Format(time.RFC3339), "staff": m.Appointment.Staff.UserID}, "", &now.Appointment)
	if err == nil {
		p.renderManage(w, r, http.StatusOK, messageStep{managed: now, Icon: "calendar-clock", Tone: "good", Title: t.T("moved"), Text: t.T("moved_text")})
		return
	}
	f := fault.From(err)
	if f.Code != "svc_slot_taken" {
		p.refuseManage(w, r, m, f)
		return
	}
	p.showMonths(w, r, f.Status, moveStep{managed: m, Notice: p.taken(t, f)}, at.In(p.Zone).Format(dayLayout))
}

// refuseManage shows why a link or an action is refused. It does not reveal whether an unknown token belongs to an
// appointment.
func (p *pages) refuseManage(w http.ResponseWriter, r *http.Request, m managed, f *fault.Fault) {
	t := p.Reader(r)
	show := messageStep{managed: managed{Appointment: m.Appointment, Business: m.Business}, Icon: "info", Tone: "soft", Reach: true}
	reason, _ := f.Data["reason"].(string)
	switch {
	case f.Code == "svc_token_expired":
		show.Appointment = appointment{}
		show.Icon, show.Title, show.Text = "link-2-off", t.T("link_used"), t.T("link_used_text")
	case f.Code == "svc_invalid_token" || f.Code == "svc_invalid_param":
		p.renderManage(w, r, f.Status, openStep{Wrong: true})
		return
	case reason == "changes_off":
		show.Title, show.Text = t.T("no_change"), t.T("changes_off")
	case reason == "too_late":
		rules, err := p.desk.Rules(r.Context())
		if err != nil {
			p.failed(w, r, err)
			return
		}
		show.Icon, show.Title, show.Text = "clock", t.T("late_title"), p.tooLate(t, rules)
	case f.Code == "svc_invalid_status":
		show.Title, show.Text = t.T("no_change"), t.T("changed_meanwhile")
		show.Appointment = appointment{}
	default:
		p.failed(w, r, f)
		return
	}
	p.renderManage(w, r, f.Status, show)
}

func (p *pages) renderManage(w http.ResponseWriter, r *http.Request, status int, step any) {
	_, months := step.(moveStep)
	page := web.Page{Title: p.Reader(r).T("manage_title"), Narrow: !months, Data: step, Scripts: []string{"manage.js"}}
	if r.Method == http.MethodGet {
		page.Alternate = func(language string) string { return "/manage?lang=" + language }
	}
	p.Render(w, r, status, "manage", page)
}
