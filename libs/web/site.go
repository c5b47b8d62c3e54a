package web

import (
	"cmp"
	"html/template"
	"net/http"
	"net/url"
	"time"
)

// Site gives pages the settings of the site and its public API.
type Site struct {
	// Read decodes the site document under key into v, as app.Site does.
	Read func(key string, v any)
	// On reports whether an app is switched on.
	On func(app string) bool
	// PublicURL is the address of the site, without a slash at its end.
	PublicURL string
	// Zone is that of the business.
	Zone *time.Location
	// API serves /v1. Pages act through its public operations, so that limits, audit and refusals are the same.
	API http.Handler
}

// UI renders the pages of one service and serves its assets.
type UI struct {
	Site
	service string
	assets  map[string]asset
	texts   map[string]texts
	pages   map[string]*template.Template
}

// Business is the business as the general settings have it.
type Business struct {
	Name, Email, Phone string
	Country, Currency  string
}

// Business reads the general settings. The name is never empty.
func (u *UI) Business() Business {
	var g struct {
		Business struct{ Name, Email, Phone string }
		Country  string
		Currency string
	}
	u.Read("general", &g)
	return Business{cmp.Or(g.Business.Name, "Frontdesk"), g.Business.Email, g.Business.Phone, g.Country, g.Currency}
}

// Logo is where the business's logo stands on this host, whatever host the portal has; "" without a logo.
func (u *UI) Logo() string {
	var portal struct {
		LogoURL string `json:"logo_url"`
	}
	u.Read("portal", &portal)
	logo, err := url.Parse(portal.LogoURL)
	if err != nil {
		return ""
	}
	return logo.Path
}

func (u *UI) prefix() string { return "/_ui/" + u.service + "/" }

// Asset is the address of a file, with the hash of its content so that it can be kept for ever; "" when the build
// has not made it.
func (u *UI) Asset(name string) string {
	a, ok := u.assets[name]
	if !ok {
		return ""
	}
	return u.prefix() + name + "?v=" + a.hash
}
