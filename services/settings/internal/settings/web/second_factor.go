package web

import (
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/boombuler/barcode/qr"

	"frontdesk/libs/fault"
	"frontdesk/libs/web"
)

const secondFactorPath = "/account/second-factor"

// secret sets up an authenticator. It travels through the browser, encrypted, until a code confirms it.
type secret struct {
	Secret     string `json:"secret"`
	OtpauthURL string `json:"otpauth_url"`
}

// Groups is the secret in groups of four, which are easier to type.
func (s secret) Groups() string {
	var b strings.Builder
	for i, r := range s.Secret {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Address opens an authenticator on the same device. Only the API makes it, so it is safe in an attribute.
func (s secret) Address() template.URL {
	return template.URL(s.OtpauthURL) //nolint:gosec // see above
}

// Picture is the address as a QR code: a quiet zone of four around modules of one.
func (s secret) Picture() (template.HTML, error) {
	code, err := qr.Encode(s.OtpauthURL, qr.M, qr.Auto)
	if err != nil {
		return "", err
	}
	size := code.Bounds().Dx()
	var path strings.Builder
	for y := range size {
		for x := range size {
			if r, _, _, _ := code.At(x, y).RGBA(); r == 0 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x, y)
			}
		}
	}
	//nolint:gosec // numbers only
	return template.HTML(fmt.Sprintf(`<svg viewBox="-4 -4 %[1]d %[1]d" shape-rendering="crispEdges"><path fill="#fff" d="M-4-4h%[1]dv%[1]dh-%[1]dz"/><path d="%[2]s"/></svg>`,
		size+8, path.String())), nil
}

// factor is the data of the pages about the second factor. With a Secret the page asks to confirm it.
type factor struct {
	secret
	Sealed             string
	On                 bool
	CodeWrong, Problem string
}

func (p *pages) showSecondFactor(w http.ResponseWriter, r *http.Request) {
	if who, ok := p.withAccount(w, r, secondFactorPath); ok {
		p.secondFactor(w, r, http.StatusOK, factor{On: who.TwoFactor})
	}
}

func (p *pages) secondFactor(w http.ResponseWriter, r *http.Request, status int, f factor) {
	title := "account_factor_set_up"
	if f.On {
		title = "account_factor_turn_off"
	}
	if f.Secret != "" {
		f.Sealed = p.seal(f.secret)
	}
	p.Render(w, r, status, "factor", web.Page{Title: p.Reader(r).T(title), Narrow: true, Alternate: languages(r), Data: f})
}

// changeSecondFactor makes a secret, confirms it, or turns the second factor off.
func (p *pages) changeSecondFactor(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	t := p.Reader(r)
	code := map[string]string{"code": strings.TrimSpace(r.PostFormValue("code"))}
	var f factor
	var err error
	switch r.PostFormValue("act") {
	case "start":
		if err = p.CallAs(w, r, http.MethodPost, "/auth/two-factor", nil, &f.secret); err == nil {
			p.secondFactor(w, r, http.StatusOK, f)
			return
		}
	case "confirm":
		var codes struct {
			RecoveryCodes []string `json:"recovery_codes"`
		}
		if !p.unseal(r.PostFormValue("secret"), &f.secret) {
			break
		}
		if err = p.CallAs(w, r, http.MethodPost, "/auth/two-factor/confirm", code, &codes); err == nil {
			p.Render(w, r, http.StatusOK, "codes", web.Page{Title: t.T("account_factor_done"), Narrow: true, Data: codes.RecoveryCodes})
			return
		}
	case "end":
		f.On = true
		if err = p.CallAs(w, r, http.MethodDelete, "/auth/two-factor", code, nil); err == nil {
			p.Message(w, r, http.StatusOK, web.Message{Icon: "check", Tone: "good", Title: t.T("account_factor_ended"), Text: t.T("account_factor_off_text"),
				Link: t.T("account_factor_back"), LinkURL: in(t, accountPath)})
			return
		}
	}
	if passwordRequired(err) {
		p.askPassword(w, r, http.StatusOK, typed{Next: in(t, secondFactorPath)})
		return
	}
	if err == nil || slices.Contains([]int{http.StatusUnauthorized, http.StatusConflict}, fault.From(err).Status) {
		// The state has changed since the page was shown.
		p.leadOn(w, r, in(t, secondFactorPath))
		return
	}
	problem, status, wrong := p.refusal(w, r, err)
	if f.Problem = problem; wrong {
		f.CodeWrong = t.T("account_factor_wrong")
	}
	p.secondFactor(w, r, status, f)
}
