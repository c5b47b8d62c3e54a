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

// managePage is what the page behind a mail's link shows.
type managePage struct {
	Step        string // open, show, cancel, move, move-confirm, message
	Token, Held string
	Appointment appointment
	Business    web.Business
	May         bool

	Wrong, Reach            bool
	Icon, Tone, Title, Text string
	Month                   month
	At                      time.Time
	Alternatives            []alternative
}

// open asks for the code of the mail. The link carries it in its fragment, which no server sees: a script hands it in, and
// whoever has none pastes it. Programs that follow links of mails see nothing here and change nothing.
func (p *pages) open(w http.ResponseWriter, r *http.Request) {
	p.renderManage(w, r, http.StatusOK, managePage{Step: "open"})
}

var inLink = regexp.MustCompile(`(?:^|[#?&])token=([A-Za-z0-9_.~-]+)`)

func (p *pages) manage(w http.ResponseWriter, r *http.Request) {
	m := managePage{Token: r.PostFormValue("token"), Held: r.PostFormValue("held"), Business: p.Business()}
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
		m.Step = "cancel"
		p.renderManage(w, r, http.StatusOK, m)
	case "cancel-now":
		err := p.Call(r, http.MethodPost, "/booking/manage/cancel", nil, map[string]any{"token": m.Token, "reason": oneKindOfBreak(r.PostFormValue("reason"))}, "", &m.Appointment)
		if err != nil {
			p.refuseManage(w, r, m, fault.From(err))
			return
		}
		t := p.Reader(r)
		m.Step, m.Icon, m.Tone, m.Title, m.Text = "message", "calendar-x", "soft", t.T("cancelled"), t.T("cancelled_text")
		p.renderManage(w, r, http.StatusOK, m)
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
func (p *pages) hold(m *managePage) {
	raw, err := json.Marshal(note{m.Appointment, p.desk.Now().Add(heldFor)})
	if err != nil {
		return
	}
	m.Held = base64.RawURLEncoding.EncodeToString(append(p.sign(m.Token, raw), raw...))
}

// held takes the appointment back, and reports whether it is one that hold put there for this token a while ago.
func (p *pages) held(m *managePage) bool {
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

func (p *pages) showAppointment(w http.ResponseWriter, r *http.Request, m managePage) {
	t := p.Reader(r)
	rules, err := p.desk.Rules(r.Context())
	if err != nil {
		p.failed(w, r, err)
		return
	}
	upcoming := m.Appointment.Status == "pending" || m.Appointment.Status == "confirmed"
	last := m.Appointment.StartsAt.Add(-time.Duration(rules.CancelNoticeHours) * time.Hour)
	m.Step, m.May = "show", false
	switch {
	case !upcoming:
	case !rules.ClientChanges:
		m.Text = t.T("changes_off")
	case p.desk.Now().After(last):
		m.Text = p.tooLate(t, rules)
	default:
		m.May = true
	}
	p.renderManage(w, r, http.StatusOK, m)
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

func (p *pages) chooseMove(w http.ResponseWriter, r *http.Request, m managePage) {
	m.Step = "move"
	if at, err := time.Parse(time.RFC3339, r.PostFormValue("at")); err == nil && !r.PostForm.Has("month") && !r.PostForm.Has("day") {
		m.Step, m.At = "move-confirm", at
		p.renderManage(w, r, http.StatusOK, m)
		return
	}
	p.showMonths(w, r, http.StatusOK, m, firstOf(r.PostFormValue("day"), r.PostFormValue("month")))
}

// showMonths offers the times of the same person.
func (p *pages) showMonths(w http.ResponseWriter, r *http.Request, status int, m managePage, asked string) {
	t := p.Reader(r)
	found, err := p.month(t, p.moves(r, m), asked)
	if f := fault.From(err); err != nil && f.Data["reason"] == "staff_left" {
		m.Step, m.Icon, m.Tone, m.Title, m.Text, m.Reach = "message", "info", "soft", t.T("no_move"), t.T("no_move_text"), true
		p.renderManage(w, r, http.StatusOK, m)
		return
	}
	if err != nil {
		p.refuseManage(w, r, m, fault.From(err))
		return
	}
	m.Month = found
	p.renderManage(w, r, status, m)
}

func (p *pages) moveNow(w http.ResponseWriter, r *http.Request, m managePage) {
	t := p.Reader(r)
	at, err := time.Parse(time.RFC3339, r.PostFormValue("at"))
	if err != nil {
		m.Step = "move"
		p.showMonths(w, r, http.StatusOK, m, "")
		return
	}
	was := m.Appointment
	err = p.Call(r, http.MethodPost, "/booking/manage/reschedule", nil, map[string]any{"token": m.Token, "starts_at": at.UTC().Format(time.RFC3339), "staff": m.Appointment.Staff.UserID}, "", &m.Appointment)
	if err == nil {
		m.Step, m.Icon, m.Tone, m.Title, m.Text = "message", "calendar-clock", "good", t.T("moved"), t.T("moved_text")
		p.renderManage(w, r, http.StatusOK, m)
		return
	}
	f := fault.From(err)
	if f.Code != "svc_slot_taken" {
		p.refuseManage(w, r, m, f)
		return
	}
	m.Appointment, m.Step, m.Title = was, "move", t.T("taken")
	m.Alternatives = p.alternatives(f)
	m.Text = t.T("taken_choose")
	if len(m.Alternatives) == 0 {
		m.Text = t.T("taken_other")
	}
	p.showMonths(w, r, f.Status, m, at.In(p.Zone).Format(dayLayout))
}

// refuseManage shows why a link or an action is refused. It does not reveal whether an unknown token belongs to an
// appointment.
func (p *pages) refuseManage(w http.ResponseWriter, r *http.Request, m managePage, f *fault.Fault) {
	t := p.Reader(r)
	show := managePage{Step: "message", Icon: "info", Tone: "soft", Business: m.Business, Reach: true, Appointment: m.Appointment}
	reason, _ := f.Data["reason"].(string)
	switch {
	case f.Code == "svc_token_expired":
		show.Appointment = appointment{}
		show.Icon, show.Title, show.Text = "link-2-off", t.T("link_used"), t.T("link_used_text")
	case f.Code == "svc_invalid_token" || f.Code == "svc_invalid_param":
		show = managePage{Step: "open", Wrong: true, Title: t.T("link_unknown"), Text: t.T("link_unknown_text")}
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

func (p *pages) renderManage(w http.ResponseWriter, r *http.Request, status int, m managePage) {
	t := p.Reader(r)
	page := web.Page{Title: t.T("manage_title"), Narrow: m.Step != "move", Data: m, Scripts: []string{"manage.js"}}
	if r.Method == http.MethodGet {
		page.Alternate = func(language string) string { return "/manage?lang=" + language }
	}
	p.Render(w, r, status, "manage", page)
}
