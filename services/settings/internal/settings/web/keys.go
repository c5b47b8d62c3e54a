package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/auth"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/web"
)

const keysPath = "/account/keys"

// keyDays are the days after which a new key can end by itself. The first is the one that is offered; 0 is never.
var keyDays = []int{90, 30, 365, 0}

// keys is the data of the page about a person's application passwords.
type keys struct {
	levels
	Keys []applicationPassword
	keyForm
	// Days and Permissions are what a new key can be given.
	Days        []int
	Permissions []string
}

// levels is embedded in the data of pages on which somebody chooses which calls wait for a person.
type levels struct{}

// Levels are what can be chosen.
func (levels) Levels() []string {
	return []string{op.ApprovalNever, op.ApprovalWrites, op.ApprovalDestructive}
}

type applicationPassword struct {
	ID, Name    string
	Password    string // of one that was just made
	Assistant   bool
	Permissions []string
	Approval    string
	LastAddress string     `json:"last_address"`
	CreatedAt   time.Time  `json:"created_at"`
	LastUsedAt  *time.Time `json:"last_used_at"`
	ExpiresAt   *time.Time `json:"expires_at"`
}

// keyForm is the form for a new key, as it was sent, and what is wrong with it.
type keyForm struct {
	Name               string
	Assistant, Limited bool
	Ends               int
	Chosen             []string
	Approval           string
	// AskPassword asks for the password as well.
	AskPassword bool
	NameWrong   string
	confirmation
}

// Permits reports whether a permission is ticked.
func (f keyForm) Permits(permission string) bool { return slices.Contains(f.Chosen, permission) }

func (p *pages) showKeys(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm() // what cannot be read is not shown
	p.keys(w, r, http.StatusOK, typedKey(r.Form))
}

// typedKey is the form for a new key as it was sent, or as it came along in the address from signing in; of no values, an empty one.
func typedKey(v url.Values) keyForm {
	f := keyForm{Name: strings.TrimSpace(v.Get("name")), Assistant: v.Get("assistant") != "", Limited: v.Get("may") == "some", Chosen: v["permission"],
		Approval: cmp.Or(v.Get("approval"), op.ApprovalNever)}
	f.Ends, _ = strconv.Atoi(cmp.Or(v.Get("days"), strconv.Itoa(keyDays[0])))
	return f
}

// keysAddress is that of the page with the form that was sent in it, for who has to sign in on the way.
func keysAddress(r *http.Request) string {
	return keeping(r, keysPath, "name", "days", "may", "permission", "assistant", "approval")
}

func (p *pages) keys(w http.ResponseWriter, r *http.Request, status int, f keyForm) {
	who, ok := p.withAccount(w, r, keysAddress(r))
	if !ok {
		return
	}
	var list struct{ Items []applicationPassword }
	if err := p.CallAs(w, r, http.MethodGet, "/me/application-passwords", nil, &list); err != nil && f.Problem == "" {
		f.Problem, status, _ = p.refusal(w, r, err)
	}
	p.Render(w, r, status, "keys", web.Page{Title: p.Reader(r).T("account_keys"), Narrow: true, Scripts: []string{"account.js"}, Alternate: languages(r),
		Data: keys{levels{}, list.Items, f, keyDays, slices.DeleteFunc(who.Capabilities, isViewing)}})
}

// setApproval changes which calls of a record below a path wait for a person, as a form has chosen it: the record's id, a slash and the choice.
func (p *pages) setApproval(w http.ResponseWriter, r *http.Request, below string) error {
	id, choice, _ := strings.Cut(r.PostFormValue("approval"), "/")
	return p.CallAs(w, r, http.MethodPatch, below+url.PathEscape(id), map[string]any{"approval": choice}, nil)
}

// changeKeys makes a key and shows its password, changes one, or revokes one. One that is gone already is no error.
func (p *pages) changeKeys(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	t := p.Reader(r)
	if id, chosen := r.PostFormValue("end"), strings.Contains(r.PostFormValue("approval"), "/"); id != "" || chosen {
		var err error
		if chosen {
			err = p.setApproval(w, r, "/me/application-passwords/")
		} else {
			err = p.CallAs(w, r, http.MethodDelete, "/me/application-passwords/"+url.PathEscape(id), nil, nil)
		}
		if err != nil && !isGone(err) {
			problem, status, _ := p.refusal(w, r, err)
			p.keys(w, r, status, keyForm{Ends: keyDays[0], confirmation: confirmation{Problem: problem}})
			return
		}
		p.leadOn(w, r, in(t, keysPath))
		return
	}
	f := typedKey(r.PostForm)
	f.AskPassword = r.PostForm.Has("password")
	made, status := p.makeKey(w, r, &f)
	if made == nil && f.AskPassword && p.noPassword(w, r) {
		p.askPassword(w, r, http.StatusOK, typed{Next: keysAddress(r)})
		return
	}
	if made == nil {
		p.keys(w, r, status, f)
		return
	}
	p.Render(w, r, status, "key", web.Page{Title: t.T("account_key_made"), Narrow: true, Data: made})
}

// makeKey makes the key that f asks for, or returns nil and says in f why not.
func (p *pages) makeKey(w http.ResponseWriter, r *http.Request, f *keyForm) (made *applicationPassword, status int) {
	t := p.Reader(r)
	ask := map[string]any{"name": f.Name, "assistant": f.Assistant, "approval": f.Approval}
	if f.Limited {
		ask["permissions"] = append(f.Chosen, auth.ViewContacts)
	}
	if f.Ends > 0 {
		ask["expires_at"] = p.options.Now().AddDate(0, 0, f.Ends)
	}
	var err error
	if f.AskPassword {
		if f.confirmation, status, err = p.confirmPassword(w, r); err != nil {
			return nil, status
		}
	}
	made = &applicationPassword{}
	err = p.CallAs(w, r, http.MethodPost, "/me/application-passwords", ask, made)
	if err == nil {
		return made, http.StatusOK
	}
	if passwordRequired(err) {
		f.AskPassword = true
		return nil, http.StatusOK
	}
	problem, status, wrong := p.refusal(w, r, err)
	f.Problem = problem
	switch refused := fault.From(err); {
	case !wrong:
	case refused.Status == http.StatusConflict:
		f.Problem = t.T("account_key_many")
	case !web.Problems(refused)["permissions"].IsZero():
		f.Problem = t.T("account_elsewhere") // the page offers none that is refused
	default:
		f.NameWrong = t.T("account_key_name_wrong")
	}
	return nil, status
}

// isViewing reports whether a permission is the one that all others require, which a limited key always has.
func isViewing(permission string) bool { return permission == auth.ViewContacts }

// isGone reports whether the API refused because there is no such record, or no session, any more.
func isGone(err error) bool {
	return slices.Contains([]int{http.StatusUnauthorized, http.StatusNotFound, http.StatusBadRequest}, fault.From(err).Status)
}
