package caldav

import (
	"net/url"
	"regexp"
	"strings"
)

// list is an answer about several resources (RFC 4918, 13).
type list struct {
	at        *url.URL
	Responses []response `xml:"DAV: response"`
	Token     string     `xml:"DAV: sync-token"`
}

type response struct {
	Href   string `xml:"DAV: href"`
	Status string `xml:"DAV: status"`
	Found  []struct {
		Status string     `xml:"DAV: status"`
		Props  properties `xml:"DAV: prop"`
	} `xml:"DAV: propstat"`
}

type hrefs struct {
	Href []string `xml:"DAV: href"`
}

type properties struct {
	Type struct {
		Calendar *struct{} `xml:"urn:ietf:params:xml:ns:caldav calendar"`
	} `xml:"DAV: resourcetype"`
	Principal  hrefs  `xml:"DAV: current-user-principal"`
	Homes      hrefs  `xml:"urn:ietf:params:xml:ns:caldav calendar-home-set"`
	Addresses  hrefs  `xml:"urn:ietf:params:xml:ns:caldav calendar-user-address-set"`
	Name       string `xml:"DAV: displayname"`
	Colour     string `xml:"http://apple.com/ns/ical/ calendar-color"`
	Components *struct {
		Comp []struct {
			Name string `xml:"name,attr"`
		} `xml:"urn:ietf:params:xml:ns:caldav comp"`
	} `xml:"urn:ietf:params:xml:ns:caldav supported-calendar-component-set"`
	Privileges *struct {
		Privilege []struct {
			All     *struct{} `xml:"DAV: all"`
			Write   *struct{} `xml:"DAV: write"`
			Content *struct{} `xml:"DAV: write-content"`
			Bind    *struct{} `xml:"DAV: bind"`
		} `xml:"DAV: privilege"`
	} `xml:"DAV: current-user-privilege-set"`
	CTag  string `xml:"http://calendarserver.org/ns/ getctag"`
	ETag  string `xml:"DAV: getetag"`
	Token string `xml:"DAV: sync-token"`
	Data  string `xml:"urn:ietf:params:xml:ns:caldav calendar-data"`
}

// props are the properties that were found.
func (r response) props() properties {
	for _, f := range r.Found {
		if f.Status == "" || is(f.Status, "200") {
			return f.Props
		}
	}
	return properties{}
}

// is reports whether a status line has a code.
func is(line, code string) bool {
	fields := strings.Fields(line)
	return len(fields) > 1 && fields[1] == code
}

// resolve is the whole address of a reference in the list.
func (l list) resolve(href string) (*url.URL, error) { return l.at.Parse(strings.TrimSpace(href)) }

// one are the properties of the only resource in the list; those of none if there are several.
func (l list) one() properties {
	if len(l.Responses) != 1 {
		return properties{}
	}
	return l.Responses[0].props()
}

// writable reports whether events may be put there. Servers that do not say are tried.
func (p properties) writable() bool {
	if p.Privileges == nil {
		return true
	}
	for _, v := range p.Privileges.Privilege {
		if v.All != nil || v.Write != nil || v.Content != nil || v.Bind != nil {
			return true
		}
	}
	return false
}

// events reports whether it is a collection in which events may be.
func (p properties) events() bool {
	if p.Type.Calendar == nil {
		return false
	}
	if p.Components == nil || len(p.Components.Comp) == 0 {
		return true
	}
	for _, c := range p.Components.Comp {
		if strings.EqualFold(c.Name, "VEVENT") {
			return true
		}
	}
	return false
}

var hex = regexp.MustCompile(`^#[0-9a-fA-F]{6}`)

// colour is that of the calendar as #rrggbb, or empty. Apple adds how transparent it is.
func (p properties) colour() string {
	return strings.ToLower(hex.FindString(strings.TrimSpace(p.Colour)))
}
