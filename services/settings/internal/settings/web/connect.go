package web

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/lang"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
	"frontdesk/services/settings/internal/oauth"
)

const (
	assistantsPath = "/account/assistants"
	connectPath    = "/account/connect"
)

// assistants is the data of the page about the assistants that a person has connected.
type assistants struct {
	levels
	Connections []connection
	// URL is what an assistant connects to.
	URL, Problem string
}

type connection struct {
	ID, Name, Host string
	Permissions    []string
	Denied         []string
	ReadOnly       bool `json:"read_only"`
	Approval       string
	LastAddress    string     `json:"last_address"`
	LastUsedAt     *time.Time `json:"last_used_at"`
}

// Not are the abilities that the person took away.
func (c connection) Not(language string) (all []ability) {
	for _, name := range c.Denied {
		all = append(all, ability{Name: name, Does: strings.ReplaceAll(strings.TrimPrefix(name, "svc/"), "-", " ")}.in(language))
	}
	return all
}

func (p *pages) showAssistants(w http.ResponseWriter, r *http.Request) {
	p.assistants(w, r, http.StatusOK, "")
}

func (p *pages) assistants(w http.ResponseWriter, r *http.Request, status int, problem string) {
	if _, ok := p.withAccount(w, r, assistantsPath); !ok {
		return
	}
	var list struct{ Items []connection }
	if err := p.CallAs(w, r, http.MethodGet, "/me/connections", nil, &list); err != nil && problem == "" {
		problem, status, _ = p.refusal(w, r, err)
	}
	p.Render(w, r, status, "assistants", web.Page{Title: p.Reader(r).T("account_assistants"), Narrow: true, Alternate: languages(r),
		Data: assistants{levels{}, list.Items, p.options.PublicURL + "/mcp", problem}})
}

// changeAssistant disconnects an assistant, or changes which of its calls wait. One that is gone already is no error.
func (p *pages) changeAssistant(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	var err error
	if r.PostFormValue("approval") != "" {
		err = p.setApproval(w, r, "/me/connections/")
	} else {
		err = p.CallAs(w, r, http.MethodDelete, "/me/connections/"+url.PathEscape(r.PostFormValue("end")), nil, nil)
	}
	if err != nil && !isGone(err) {
		problem, status, _ := p.refusal(w, r, err)
		p.assistants(w, r, status, problem)
		return
	}
	p.leadOn(w, r, in(p.Reader(r), assistantsPath))
}

// connect is the data of the page on which a person agrees that an assistant acts for them, or refuses.
type connect struct {
	levels
	Name, Host, Login string
	Permissions       []string
	Abilities         []ability
	Asks              oauth.Request
	// ReadOnly lets it change nothing.
	ReadOnly bool
	Approval string
	// Chosen are the permissions that stay ticked, and Kept the abilities.
	Chosen, Kept []string
	// Confirm is true if the person has to confirm that it is them, and AskPassword asks for the password as well.
	Confirm, AskPassword bool
	confirmation
}

// ability is one of those that a permission leads to, and what it does, in the reader's language or else in English.
type ability struct {
	Name, Does, Permission string
	// Language is that of Does.
	Language string `json:"-"`
}

// abilityTexts are what abilities do, by language and by name without svc/. English is what the services say.
var abilityTexts = func() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, language := range lang.Languages[1:] {
		raw, err := folder.ReadFile("ability/" + language + ".json")
		words := map[string]string{}
		if err := errors.Join(err, json.Unmarshal(raw, &words)); err != nil {
			panic(err) // it is compiled in
		}
		all[language] = words
	}
	return all
}()

// in says what the ability does in a language, if there is a text.
func (a ability) in(language string) ability {
	a.Language = lang.Languages[0]
	if text, ok := abilityTexts[language][strings.TrimPrefix(a.Name, "svc/")]; ok {
		a.Does, a.Language = text, language
	}
	return a
}

// Of returns the abilities that a permission leads to.
func (c connect) Of(permission string) []ability {
	return slices.DeleteFunc(slices.Clone(c.Abilities), func(a ability) bool { return a.Permission != permission })
}

// Keeps reports whether an ability is ticked.
func (c connect) Keeps(name string) bool { return slices.Contains(c.Kept, name) }

// denied are the abilities that are not ticked although their permission is.
func (c connect) denied() []string {
	names := []string{}
	for _, a := range c.Abilities {
		if (c.Permits(a.Permission) || c.Always(a.Permission)) && !c.Keeps(a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Permits reports whether a permission is ticked, Always whether it cannot be taken away.
func (c connect) Permits(permission string) bool { return slices.Contains(c.Chosen, permission) }
func (connect) Always(permission string) bool    { return isViewing(permission) }

func (p *pages) showConnect(w http.ResponseWriter, r *http.Request) {
	here := connectPath + "?" + r.URL.RawQuery
	c, ok := p.asked(w, r, oauth.Read(r.URL.Query()), here)
	if !ok {
		return
	}
	// What the person chooses would be lost on the way to the provider.
	if c.Confirm && p.noPassword(w, r) {
		p.askPassword(w, r, http.StatusOK, typed{Next: here})
		return
	}
	c.Chosen, c.Approval = c.Permissions, op.ApprovalNever
	for _, a := range c.Abilities {
		c.Kept = append(c.Kept, a.Name)
	}
	p.askToConnect(w, r, http.StatusOK, c)
}

func (p *pages) askToConnect(w http.ResponseWriter, r *http.Request, status int, c connect) {
	p.Render(w, r, status, "connect", web.Page{Title: p.Reader(r).T("account_connect"), Narrow: true, Scripts: []string{"account.js"}, Alternate: languages(r), Data: c})
}

// asked looks at what an assistant asks for. If the person cannot decide on that, it answers and returns ok false: with a page if the
// address to lead back to cannot be trusted, else with the error of OAuth there.
func (p *pages) asked(w http.ResponseWriter, r *http.Request, a oauth.Request, here string) (c connect, ok bool) {
	who, ok := p.withAccount(w, r, here)
	if !ok {
		return c, false
	}
	t := p.Reader(r)
	if who.TwoFactorMissing {
		p.leadOn(w, r, in(t, secondFactorPath))
		return c, false
	}
	check := url.Values{}
	for name, value := range a.ForAPI() {
		check.Set(name, value.(string))
	}
	// With GET, because the person comes from another site.
	err := p.CallAs(w, r, http.MethodGet, "/me/connections/check?"+check.Encode(), nil, &c)
	wrong := a.Wrong()
	if err == nil && wrong == "" {
		c.Login, c.Asks = who.Login, a
		for i, x := range c.Abilities {
			c.Abilities[i] = x.in(t.Language)
		}
		return c, true
	}
	f := fault.From(err)
	// Without this mark nobody knows whether the address is the client's.
	checked, _ := f.Data["lead_back"].(bool)
	switch {
	case err == nil:
		p.leadBack(w, r, a, wrong)
	case f.Status == http.StatusConflict:
		p.Message(w, r, f.Status, web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("account_connect_broken"), Text: t.T("account_connect_role")})
	case f.Status != http.StatusBadRequest:
		problem, status, _ := p.refusal(w, r, err)
		p.Message(w, r, status, web.Message{Icon: "rotate-cw", Tone: "bad", Title: t.T("sorry"), Text: problem})
	case !checked:
		text := "account_connect_broken_text"
		if _, wrong := web.Problems(f)["client_id"]; wrong && strings.Contains(a.One("client_id"), "://") {
			text = "account_connect_undescribed"
		}
		p.Message(w, r, f.Status, web.Message{Icon: "circle-alert", Tone: "bad", Title: t.T("account_connect_broken"), Text: t.T(text)})
	default:
		p.leadBack(w, r, a, cmp.Or(wrong, oauth.Refused(web.Problems(f))))
	}
	return c, false
}

// connect agrees to what an assistant asks for, or refuses, and leads back to it.
func (p *pages) connect(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	_ = r.ParseForm() // what cannot be read asks for nothing
	a := oauth.Read(r.PostForm)
	if len(a) == 0 {
		p.leadOn(w, r, in(p.Reader(r), assistantsPath))
		return
	}
	// Whoever signs in meanwhile comes back to the question, not to the answer.
	c, ok := p.asked(w, r, a, connectPath+"?"+url.Values(a).Encode())
	if !ok {
		return
	}
	t := p.Reader(r)
	c.Chosen, c.Kept = r.PostForm["permission"], r.PostForm["ability"]
	c.ReadOnly, c.Approval = r.PostForm.Get("answer") == "read", cmp.Or(r.PostForm.Get("approval"), op.ApprovalNever)
	if !c.ReadOnly && r.PostForm.Get("answer") != "allow" {
		p.leadBack(w, r, a, "access_denied")
		return
	}
	if c.AskPassword = r.PostForm.Has("password"); c.AskPassword {
		var status int
		var err error
		if c.confirmation, status, err = p.confirmPassword(w, r); err != nil {
			p.askToConnect(w, r, status, c)
			return
		}
	}
	agreed := a.ForAPI()
	agreed["permissions"] = append(slices.Clone(c.Chosen), c.always()...)
	agreed["denied"], agreed["read_only"], agreed["state"], agreed["approval"] = c.denied(), c.ReadOnly, a.One("state"), c.Approval
	var made struct {
		RedirectTo string `json:"redirect_to"`
	}
	err := p.CallAs(w, r, http.MethodPost, "/me/connections", agreed, &made)
	switch {
	case err == nil:
		p.sendOn(w, r, made.RedirectTo, web.Message{Icon: "check", Tone: "good", Title: t.T("account_connect_done")})
	case passwordRequired(err) && p.noPassword(w, r):
		p.askPassword(w, r, http.StatusOK, typed{Next: connectPath + "?" + url.Values(a).Encode()})
	case passwordRequired(err):
		c.AskPassword = true
		p.askToConnect(w, r, http.StatusOK, c)
	default:
		problem, status, wrong := p.refusal(w, r, err)
		switch c.Problem = problem; {
		case fault.From(err).Status == http.StatusConflict:
			c.Problem = t.T("account_connect_many")
		case wrong:
			c.Problem = t.T("account_elsewhere")
		}
		p.askToConnect(w, r, status, c)
	}
}

func (c connect) always() []string {
	return slices.DeleteFunc(slices.Clone(c.Permissions), func(p string) bool { return !isViewing(p) })
}

// leadBack leads to the assistant's address, which was checked, with an error of OAuth.
func (p *pages) leadBack(w http.ResponseWriter, r *http.Request, a oauth.Request, problem string) {
	t := p.Reader(r)
	p.sendOn(w, r, a.Back(problem, p.options.PublicURL), web.Message{Icon: "circle-alert", Tone: "soft", Title: t.T("account_connect_denied")})
}

// sendOn shows a message and leads to an address of another site. It is a page with a link, because the policy of pages lets their
// forms lead nowhere else.
func (p *pages) sendOn(w http.ResponseWriter, r *http.Request, address string, m web.Message) {
	t := p.Reader(r)
	host := ""
	if u, err := url.Parse(address); err == nil {
		host = u.Host
	}
	m.Text, m.Link, m.LinkURL = t.T("account_connect_on_text"), t.T("account_connect_on", "host", host), address
	w.Header().Set("Refresh", "0; url="+address)
	p.Message(w, r, http.StatusOK, m)
}
