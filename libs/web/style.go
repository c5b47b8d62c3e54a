package web

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/look"
)

// Look is a form style in the shape that a browser applies.
type Look struct {
	// Vars are custom properties with their values, "--svc-size": "16px".
	Vars map[string]string `json:"vars" doc:"CSS custom properties with their values."`
	// Scheme is light or dark when colours are set, else "": then the page around decides.
	Scheme string `json:"scheme,omitempty" doc:"light or dark when colours are set; else the page around decides."`
	// Font is the name of a font of ours, to be loaded.
	Font string `json:"font,omitempty" doc:"The name of a font to load."`
	// FontURL is its address.
	FontURL string `json:"font_url,omitempty" doc:"The address of that font."`
	// Icon of the main button as SVG, and the side it stands on.
	Icon      string `json:"icon,omitempty" doc:"The icon of the main button, as SVG."`
	IconRight bool   `json:"icon_right,omitempty" doc:"The icon stands behind the words."`
	// Plain: no card around.
	Plain bool `json:"plain,omitempty" doc:"There is no card around."`

	override url.Values
}

// Look is the site's form style with the properties of override over it.
func (u *UI) Look(override map[string]any) Look {
	given := url.Values{}
	for name, v := range override {
		if s := styleText(v); s != "" {
			given.Set(name, s)
		}
	}
	return u.look(given)
}

func styleText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case int:
		return strconv.Itoa(v)
	}
	return ""
}

func (u *UI) look(override url.Values) Look {
	var doc map[string]any
	u.Read("form-style", &doc)
	get := func(name string) string { return cmp.Or(override.Get(name), styleText(doc[name])) }
	l := Look{Vars: map[string]string{}, override: override}
	for _, p := range look.Properties {
		if css, ok := p.CSS(get(p.Name)); ok {
			l.Vars[p.Custom()] = css
			if p.Kind == look.Colour {
				l.Scheme = "light"
			}
		}
	}
	if bg := l.Vars["--svc-background"]; bg != "" && luminance(bg) < 0.2 {
		l.Scheme = "dark"
	}
	// A button whose text has no colour of its own stays readable.
	if bg := l.Vars["--svc-button-background"]; bg != "" && l.Vars["--svc-button-text"] == "" {
		l.Vars["--svc-button-text"] = readableOn(bg)
	}
	if name, ours := strings.CutPrefix(get("font"), "svc:"); ours && l.Vars["--svc-font"] != "" {
		l.Font, l.FontURL = "svc-"+name, u.Asset("font/"+name+".woff2")
	}
	l.Icon = string(icon(get("button_icon")))
	l.IconRight = get("button_icon_position") == "right"
	l.Plain = get("container") == "plain"
	return l
}

// css is the style as a style sheet.
func (l Look) css() string {
	var b strings.Builder
	if l.FontURL != "" {
		fmt.Fprintf(&b, "@font-face{font-family:%q;src:url(%q) format(\"woff2\");font-weight:100 900;font-display:swap}\n", l.Font, l.FontURL)
	}
	if l.Scheme != "" {
		fmt.Fprintf(&b, ":root{color-scheme:%s}\n", l.Scheme)
	}
	b.WriteString(":root{")
	for _, name := range slices.Sorted(maps.Keys(l.Vars)) {
		fmt.Fprintf(&b, "%s:%s;", name, l.Vars[name])
	}
	b.WriteString("}\n")
	return b.String()
}

// Query is the query of the style sheet's address: the properties that differ from the site's.
func (l Look) Query() string { return l.override.Encode() }

// styleSheet serves the form style. Browsers ask for it with each page: it is small, and a change counts at once.
func (u *UI) styleSheet(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/css; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	sheet := []byte(u.look(r.URL.Query()).css())
	h.Set("ETag", fmt.Sprintf(`W/"%x"`, sha256.Sum256(sheet)))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(sheet))
}

// WidgetSite is the part of the settings that a widget uses.
type WidgetSite struct {
	Look     Look   `json:"look"`
	Business string `json:"business" doc:"The name of the business."`
	Email    string `json:"email" doc:"The address of the business; empty for none."`
	Phone    string `json:"phone" doc:"The number of the business; empty for none."`
	Country  string `json:"country" doc:"The ISO code of the country of the business."`
	Currency string `json:"currency" doc:"The ISO code of the currency."`
	Timezone string `json:"timezone" doc:"The IANA zone in which the business counts its days."`
}

// WidgetSite reads the settings. Properties of style replace those of the site's form style.
func (u *UI) WidgetSite(style map[string]any) WidgetSite {
	l := u.Look(style)
	b := u.Business()
	return WidgetSite{Look: l, Business: b.Name, Email: b.Email, Phone: b.Phone, Country: b.Country, Currency: b.Currency, Timezone: u.Zone.String()}
}

// luminance is the relative luminance of #rrggbb as WCAG defines it, from 0 to 1.
func luminance(hex string) float64 {
	n, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 32)
	if err != nil {
		return 1
	}
	channel := func(shift uint) float64 {
		c := float64(n>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0)
}

// readableOn is black or white, whichever has more contrast.
func readableOn(hex string) string {
	l := luminance(hex)
	if (l+0.05)/0.05 > 1.05/(l+0.05) {
		return "#000000"
	}
	return "#ffffff"
}
