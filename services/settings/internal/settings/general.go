package settings

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/currency"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
)

// Business is who the site belongs to.
type Business struct {
	Name        string `json:"name"`
	Email       string `json:"email" doc:"Address for clients; it cannot be changed here."`
	VATNumber   string `json:"vat_number"`
	AddressLine string `json:"address_line"`
	PostalCode  string `json:"postal_code"`
	City        string `json:"city"`
	Phone       string `json:"phone"`
	Website     string `json:"website"`
}

// generalDoc is the document general as it is kept.
type generalDoc struct {
	Business Business `json:"business"`
	Currency string   `json:"currency"`
	Country  string   `json:"country"`
	IPHeader string   `json:"ip_header"`
}

// Country is a country whose calling code numbers that start with 0 can get.
type Country struct {
	Code        string `json:"code"`
	Name        string `json:"name"`
	CallingCode string `json:"calling_code"`
}

var countries = []Country{
	{"BE", "Belgium", "+32"}, {"NL", "Netherlands", "+31"}, {"FR", "France", "+33"}, {"DE", "Germany", "+49"},
	{"AT", "Austria", "+43"}, {"CH", "Switzerland", "+41"}, {"GB", "United Kingdom", "+44"},
}

// ipHeaders are the headers in which proxies hand the visitor's address on.
var ipHeaders = []string{"X-Forwarded-For", "X-Real-IP", "CF-Connecting-IP", "True-Client-IP", "Fastly-Client-IP", "X-Client-IP"}

// General is the general settings.
type General struct {
	Business      Business  `json:"business"`
	ReplyTo       string    `json:"reply_to" doc:"Where answers to the site's mails go."`
	Currency      string    `json:"currency" doc:"ISO 4217."`
	Country       string    `json:"country" doc:"Gives phone numbers that start with 0 their calling code; empty leaves numbers as typed."`
	Countries     []Country `json:"countries" doc:"Countries that can be chosen."`
	IPHeader      string    `json:"ip_header" doc:"Proxy header that carries the visitor's address; empty is the direct connection."`
	IPHeaders     []string  `json:"ip_headers" doc:"Headers that can be chosen."`
	IPHeadersSeen []string  `json:"ip_headers_seen" doc:"Those that a proxy sent along with this request."`
	Timezone      string    `json:"timezone" doc:"IANA zone of the business; the installation sets it."`
	WeekStart     int       `json:"week_start" doc:"ISO weekday, 1 is Monday."`
}

func (s *service) general(doc generalDoc, seen []string) General {
	return General{Business: doc.Business, ReplyTo: doc.Business.Email, Currency: doc.Currency, Country: doc.Country, Countries: countries,
		IPHeader: doc.IPHeader, IPHeaders: ipHeaders, IPHeadersSeen: seen, Timezone: s.Config.Timezone, WeekStart: 1}
}

func (s *service) publishGeneral(ctx context.Context, tx *db.Tx, changed []string) error {
	var doc generalDoc
	version, err := readDocument(ctx, tx, docGeneral, &doc)
	if err != nil {
		return err
	}
	return publishSite(ctx, tx, docGeneral, version, changed, s.general(doc, []string{}))
}

func (s *service) getGeneral(ctx context.Context, tx *db.Tx, _ struct{}) (General, error) {
	var doc generalDoc
	_, err := readDocument(ctx, tx, docGeneral, &doc)
	return s.general(doc, seenIPHeaders(op.Header(ctx))), err
}

// BusinessChange names what changes of the business; the rest stays.
type BusinessChange struct {
	Name        opt.Value[string] `json:"name,omitzero" maxLength:"190"`
	Email       opt.Value[string] `json:"email,omitzero" doc:"Read-only."`
	VATNumber   opt.Value[string] `json:"vat_number,omitzero" maxLength:"30"`
	AddressLine opt.Value[string] `json:"address_line,omitzero" maxLength:"255"`
	PostalCode  opt.Value[string] `json:"postal_code,omitzero" maxLength:"20"`
	City        opt.Value[string] `json:"city,omitzero" maxLength:"100"`
	Phone       opt.Value[string] `json:"phone,omitzero" maxLength:"50"`
	Website     opt.Value[string] `json:"website,omitzero" maxLength:"2048"`
}

func (s *service) updateGeneral(ctx context.Context, tx *db.Tx, in struct {
	Business *BusinessChange `json:"business,omitempty"`
	Currency *string         `json:"currency,omitempty" doc:"ISO 4217 code."`
	Country  *string         `json:"country,omitempty" enum:"BE,NL,FR,DE,AT,CH,GB," doc:"Empty for none."`
	IPHeader *string         `json:"ip_header,omitempty" maxLength:"50" doc:"Choose only the header of a proxy that the site is behind: anyone can send it."`
}) (General, error) {
	var doc generalDoc
	if _, err := lockDocument(ctx, tx, docGeneral, &doc); err != nil {
		return General{}, err
	}
	before := doc
	if b := in.Business; b != nil {
		if b.Email.Set {
			return General{}, fault.Param("business.email", "cannot be changed here")
		}
		for _, f := range []struct {
			name string
			from opt.Value[string]
			to   *string
			most int
		}{
			{"name", b.Name, &doc.Business.Name, 190}, {"vat_number", b.VATNumber, &doc.Business.VATNumber, 30},
			{"address_line", b.AddressLine, &doc.Business.AddressLine, 255}, {"postal_code", b.PostalCode, &doc.Business.PostalCode, 20},
			{"city", b.City, &doc.Business.City, 100}, {"phone", b.Phone, &doc.Business.Phone, 50}, {"website", b.Website, &doc.Business.Website, 2048},
		} {
			if !f.from.Set {
				continue
			}
			v := strings.TrimSpace(f.from.V)
			if len([]rune(v)) > f.most {
				return General{}, fault.Param("business."+f.name, "must have at most %d characters", f.most)
			}
			*f.to = v
		}
		if !strings.ContainsFunc(doc.Business.Name, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }) {
			return General{}, fault.Param("business.name", "must not be empty")
		}
		if w := doc.Business.Website; w != "" && !strings.HasPrefix(w, "http://") && !strings.HasPrefix(w, "https://") {
			doc.Business.Website = "https://" + w
		}
	}
	if in.Currency != nil {
		unit, err := currency.ParseISO(*in.Currency)
		if err != nil || unit.String() != *in.Currency || *in.Currency == "XXX" {
			return General{}, fault.Param("currency", "must be a currency code of ISO 4217")
		}
		doc.Currency = *in.Currency
	}
	if in.Country != nil {
		doc.Country = *in.Country
	}
	if in.IPHeader != nil {
		name := http.CanonicalHeaderKey(*in.IPHeader)
		i := slices.IndexFunc(ipHeaders, func(h string) bool { return http.CanonicalHeaderKey(h) == name })
		if i < 0 && name != "" {
			return General{}, fault.Param("ip_header", "must be one of %s, or empty", strings.Join(ipHeaders, ", "))
		}
		doc.IPHeader = ""
		if i >= 0 {
			doc.IPHeader = ipHeaders[i]
		}
	}
	if doc != before {
		if _, err := writeDocument(ctx, tx, docGeneral, doc); err != nil {
			return General{}, err
		}
		if err := s.publishGeneral(ctx, tx, differences(before, doc)); err != nil {
			return General{}, err
		}
	}
	return s.general(doc, seenIPHeaders(op.Header(ctx))), nil
}

// seenIPHeaders are the headers that a proxy before the gateway sent. The gateway itself always adds one
// hop to X-Forwarded-For.
func seenIPHeaders(h http.Header) []string {
	seen := []string{}
	for _, name := range ipHeaders {
		values := h.Values(name)
		hops := 0
		for _, v := range values {
			hops += len(strings.Split(v, ","))
		}
		if hops > 1 || hops == 1 && name != "X-Forwarded-For" {
			seen = append(seen, name)
		}
	}
	return seen
}
