package site

import (
	"context"
	"net/http"
	netmail "net/mail"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/currency"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/typed"
)

// Business is who the site belongs to.
type Business struct {
	Name        string `json:"name" doc:"The name of the business."`
	Email       string `json:"email" doc:"Address for clients; it cannot be changed here."`
	VATNumber   string `json:"vat_number" doc:"The VAT number; empty for none."`
	AddressLine string `json:"address_line" doc:"Street and number; empty for none."`
	PostalCode  string `json:"postal_code" doc:"The postal code; empty for none."`
	City        string `json:"city" doc:"The town; empty for none."`
	Phone       string `json:"phone" doc:"The number of the business; empty for none."`
	Website     string `json:"website" doc:"The web address; empty for none."`
}

// generalDoc is the document general as it is stored.
type generalDoc struct {
	Business Business `json:"business"`
	Currency string   `json:"currency"`
	Country  string   `json:"country"`
	IPHeader string   `json:"ip_header"`
}

// country is a country whose calling code numbers that start with 0 can get.
type country struct {
	Code        string `json:"code" doc:"The ISO code."`
	Name        string `json:"name" doc:"The name in English."`
	CallingCode string `json:"calling_code" doc:"What its telephone numbers begin with."`
}

var countries = []country{
	{"BE", "Belgium", "+32"}, {"NL", "Netherlands", "+31"}, {"FR", "France", "+33"}, {"DE", "Germany", "+49"},
	{"AT", "Austria", "+43"}, {"CH", "Switzerland", "+41"}, {"GB", "United Kingdom", "+44"},
}

const (
	forwardedFor = "X-Forwarded-For"
	realIP       = "X-Real-IP"
)

// ipHeaders are the headers in which proxies pass the visitor's address on.
var ipHeaders = []string{forwardedFor, realIP, "CF-Connecting-IP", "True-Client-IP", "Fastly-Client-IP", "X-Client-IP"}

// general is the general settings.
type general struct {
	Business      Business  `json:"business"`
	ReplyTo       string    `json:"reply_to" doc:"Where answers to the site's mails go."`
	Currency      string    `json:"currency" doc:"ISO 4217."`
	Country       string    `json:"country" doc:"Gives phone numbers that start with 0 their calling code; empty leaves numbers as typed."`
	Countries     []country `json:"countries" doc:"Countries that can be chosen."`
	IPHeader      string    `json:"ip_header" doc:"Proxy header that carries the visitor's address; empty is the direct connection."`
	IPHeaders     []string  `json:"ip_headers" doc:"Headers that can be chosen."`
	IPHeadersSeen []string  `json:"ip_headers_seen" doc:"Those that a proxy sent along with this request."`
	Timezone      string    `json:"timezone" doc:"IANA zone of the business; the installation sets it."`
	WeekStart     int       `json:"week_start" doc:"ISO weekday, 1 is Monday."`
	document.Stamp
}

// RecordID names the document in the audit log.
func (general) RecordID() string { return document.General }

func (r *Room) general(doc generalDoc, version int64, seen []string) general {
	return general{Stamp: document.At(version), Business: doc.Business, ReplyTo: doc.Business.Email, Currency: doc.Currency, Country: doc.Country, Countries: countries,
		IPHeader: doc.IPHeader, IPHeaders: ipHeaders, IPHeadersSeen: seen, Timezone: r.Config.Timezone, WeekStart: 1}
}

// publishedGeneral is the general settings as other services read them. Only settings knows the knobs of mail.
type publishedGeneral struct {
	general
	MailFrom string `json:"mail_from"` // without a name
}

func (r *Room) publishGeneral(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc generalDoc
	version, err := document.Read(ctx, tx, document.General, &doc)
	if err != nil {
		return err
	}
	return document.Publish(ctx, tx, document.General, version, changed, publishedGeneral{r.general(doc, version, []string{}), r.mailFrom()})
}

// ReadBusiness reads who the site belongs to.
func ReadBusiness(ctx context.Context, tx *db.Tx) (Business, error) {
	var doc generalDoc
	_, err := document.Read(ctx, tx, document.General, &doc)
	return doc.Business, err
}

func (r *Room) getGeneral(ctx context.Context, tx *db.Tx, _ op.None) (general, error) {
	var doc generalDoc
	version, err := document.Read(ctx, tx, document.General, &doc)
	return r.general(doc, version, r.seenIPHeaders(op.Header(ctx))), err
}

// businessChange names what changes of the business; the rest stays.
type businessChange struct {
	Name        opt.Value[string] `json:"name,omitzero" maxLength:"190" doc:"The name of the business."`
	Email       opt.Value[string] `json:"email,omitzero" doc:"Read-only."`
	VATNumber   opt.Value[string] `json:"vat_number,omitzero" maxLength:"30" nullable:"true" doc:"The VAT number; empty for none."`
	AddressLine opt.Value[string] `json:"address_line,omitzero" maxLength:"255" nullable:"true" doc:"Street and number; empty for none."`
	PostalCode  opt.Value[string] `json:"postal_code,omitzero" maxLength:"20" nullable:"true" doc:"The postal code; empty for none."`
	City        opt.Value[string] `json:"city,omitzero" maxLength:"100" nullable:"true" doc:"The town; empty for none."`
	Phone       opt.Value[string] `json:"phone,omitzero" maxLength:"50" nullable:"true" doc:"The telephone number in international form; empty for none."`
	Website     opt.Value[string] `json:"website,omitzero" maxLength:"2048" nullable:"true" doc:"The web address; empty for none."`
}

// apply writes the change into b, and says what is wrong with it. Texts lose the blanks around them.
func (c businessChange) apply(b *Business) fault.Problems {
	wrong := fault.Problems{}
	if c.Email.Set {
		wrong.Add("business.email", fault.NewProblem("read_only", "cannot be changed here"))
	}
	for _, f := range []struct {
		name string
		from opt.Value[string]
		to   *string
	}{{"name", c.Name, &b.Name}, {"vat_number", c.VATNumber, &b.VATNumber}, {"address_line", c.AddressLine, &b.AddressLine},
		{"postal_code", c.PostalCode, &b.PostalCode}, {"city", c.City, &b.City}, {"phone", c.Phone, &b.Phone}, {"website", c.Website, &b.Website}} {
		if f.from.Set {
			*f.to = strings.TrimSpace(f.from.V)
			wrong.Add("business."+f.name, typed.Line(*f.to))
		}
	}
	if c.Name.Set && !strings.ContainsFunc(b.Name, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
		wrong.Add("business.name", fault.Empty())
	}
	if c.Website.Set && b.Website != "" {
		var problem fault.Problem
		b.Website, problem = typed.Website(b.Website)
		wrong.Add("business.website", problem)
	}
	return wrong
}

// updateGeneral changes the general settings; keys that are left out stay.
func (r *Room) updateGeneral(ctx context.Context, tx *db.Tx, in struct {
	Business businessChange    `json:"business,omitzero"`
	Currency opt.Value[string] `json:"currency,omitzero" doc:"ISO 4217 code."`
	Country  opt.Value[string] `json:"country,omitzero" enum:"BE,NL,FR,DE,AT,CH,GB," nullable:"true" doc:"Empty for none."`
	IPHeader opt.Value[string] `json:"ip_header,omitzero" by:"person" maxLength:"50" nullable:"true" doc:"Choose only the header of a proxy that the site is behind: anyone can send it."`
}) (general, error) {
	doc, version, err := document.Change(ctx, tx, document.General, r.publishGeneral, func(doc *generalDoc) error {
		wrong := in.Business.apply(&doc.Business)
		if in.Currency.Set {
			doc.Currency = in.Currency.V
			if unit, err := currency.ParseISO(doc.Currency); err != nil || unit.String() != doc.Currency || doc.Currency == "XXX" {
				wrong.Add("currency", fault.Format("currency", "a currency code of ISO 4217", "EUR"))
			}
		}
		in.Country.Apply(&doc.Country)
		if in.IPHeader.Set {
			name := http.CanonicalHeaderKey(in.IPHeader.V)
			i := slices.IndexFunc(ipHeaders, func(h string) bool { return http.CanonicalHeaderKey(h) == name })
			switch {
			case i >= 0:
				doc.IPHeader = ipHeaders[i]
			case name == "":
				doc.IPHeader = ""
			default:
				wrong.Add("ip_header", fault.NewProblem("not_one_of", "must be one of "+strings.Join(ipHeaders, ", ")+", or empty", "allowed", ipHeaders))
			}
		}
		return wrong.Err()
	})
	if err != nil {
		return general{}, err
	}
	return r.general(doc, version, r.seenIPHeaders(op.Header(ctx))), nil
}

// Proxy is the header that is trusted with the visitor's address, empty for none, and the headers that a proxy has sent along with this
// request.
func (r *Room) Proxy(ctx context.Context, tx *db.Tx) (header string, seen []string, err error) {
	var doc generalDoc
	_, err = document.Read(ctx, tx, document.General, &doc)
	return doc.IPHeader, seenIPHeaders(op.Header(ctx)), err
}

// seenIPHeaders are the headers that one of our proxies before the gateway sent.
func (r *Room) seenIPHeaders(h http.Header) []string {
	if _, ours := r.Auth.Peer(h); !ours {
		return []string{}
	}
	return seenIPHeaders(h)
}

// seenIPHeaders are the headers that the gateway has not made itself. It appends its peer to X-Forwarded-For, and gives it as
// X-Real-IP where a request has none.
func seenIPHeaders(h http.Header) []string {
	hops := strings.Split(strings.Join(h.Values(forwardedFor), ","), ",")
	peer := strings.TrimSpace(hops[len(hops)-1])
	seen := []string{}
	for _, name := range ipHeaders {
		value := strings.TrimSpace(h.Get(name))
		byGateway := name == forwardedFor && len(hops) == 1 || name == realIP && value == peer
		if value != "" && !byGateway {
			seen = append(seen, name)
		}
	}
	return seen
}

// mailFrom is the address that mails come from, without its name.
func (r *Room) mailFrom() string {
	a, err := netmail.ParseAddress(r.Config.MailFrom)
	if err != nil {
		return "" // the start of the process has checked it
	}
	return a.Address
}

// siteFacts is what everybody on the team may know of the business and its portal.
type siteFacts struct {
	Name       string  `json:"name" doc:"The name of the business."`
	Timezone   string  `json:"timezone" doc:"IANA zone of the business."`
	WeekStart  int     `json:"week_start" doc:"ISO weekday, 1 is Monday."`
	Currency   string  `json:"currency" doc:"ISO 4217."`
	Country    string  `json:"country" doc:"The ISO code of the country."`
	IdleHours  int     `json:"idle_hours" doc:"Hours without a request after which a session ends."`
	PoweredBy  bool    `json:"powered_by" doc:"Pages name the product."`
	Path       string  `json:"path" doc:"Path of the portal."`
	PortalURL  string  `json:"portal_url" doc:"The address of the portal."`
	BookingURL *string `json:"booking_url" doc:"The stand-alone booking page; null while it is off."`
	LogoURL    *string `json:"logo_url" doc:"The address of the logo; null without one."`
}

// getSite needs no right to change settings, so that the portal can show money, times and its own address to everybody.
func (r *Room) getSite(ctx context.Context, tx *db.Tx, _ op.None) (siteFacts, error) {
	var general generalDoc
	if _, err := document.Read(ctx, tx, document.General, &general); err != nil {
		return siteFacts{}, err
	}
	var doc portalDoc
	if _, err := document.Read(ctx, tx, document.Portal, &doc); err != nil {
		return siteFacts{}, err
	}
	g, p := r.general(general, 0, nil), r.portal(doc, db.Actor{}, false, nil)
	return siteFacts{Name: g.Business.Name, Timezone: g.Timezone, WeekStart: g.WeekStart, Currency: g.Currency, Country: g.Country, IdleHours: p.IdleHours,
		PoweredBy: p.PoweredBy, Path: p.Path, PortalURL: p.URL, BookingURL: p.BookingURL, LogoURL: p.LogoURL}, nil
}
