package caldav

import (
	"context"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Calendar is a collection of events on a server.
type Calendar struct {
	// Href is its whole address.
	Href, Name string
	// Colour is #rrggbb, or empty.
	Colour   string
	Writable bool
}

// Found is what an account has.
type Found struct {
	Calendars []Calendar
	// Addresses are the mail addresses by which others invite the person.
	Addresses []string
}

const askAbout = `<propfind xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:a="http://apple.com/ns/ical/"><prop><resourcetype/><displayname/>` +
	`<current-user-principal/><current-user-privilege-set/><c:calendar-home-set/><c:calendar-user-address-set/>` +
	`<c:supported-calendar-component-set/><a:calendar-color/></prop></propfind>`

// Find returns the calendars of the account. Its address may be that of a server, of the person, of the home of their calendars or of one of them.
// The error is ErrNoCalendars for any other address.
func (c *Client) Find(ctx context.Context) (Found, error) {
	var f Found
	failed := ErrNoCalendars
	for _, address := range c.starts() {
		l, err := c.ask(ctx, "PROPFIND", address, "0", askAbout)
		if errors.Is(err, ErrSignIn) {
			return Found{}, err
		}
		if err != nil {
			if !errors.Is(err, ErrMissing) && !errors.Is(err, ErrNoCalendars) {
				failed = err
			}
			continue
		}
		if err := c.follow(ctx, l, &f); err != nil {
			return Found{}, err
		}
		if len(f.Calendars) > 0 {
			return f, nil
		}
		failed = ErrNoCalendars
	}
	return Found{}, failed
}

// starts are the addresses at which the search begins, in order.
func (c *Client) starts() []string {
	all := []string{c.address}
	if u, err := url.Parse(c.address); err == nil {
		for _, p := range []string{"/.well-known/caldav", "/"} {
			if next := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: p}).String(); !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	return all
}

// unlike reports whether an error means that an address is no server for calendars, rather than one in trouble.
func unlike(err error) bool {
	return errors.Is(err, ErrMissing) || errors.Is(err, ErrForbidden) || errors.Is(err, ErrNoCalendars)
}

// follow adds the calendars to which a resource leads: itself, those of its person, or those in it.
func (c *Client) follow(ctx context.Context, start list, f *Found) error {
	person := start
	if to := start.one().Principal.Href; len(to) > 0 && len(start.one().Homes.Href) == 0 {
		at, err := start.resolve(to[0])
		if err != nil {
			return ErrNoCalendars
		}
		if person, err = c.ask(ctx, "PROPFIND", at.String(), "0", askAbout); err != nil && !unlike(err) {
			return err
		}
	}
	f.addresses(person.one())
	homes := []string{}
	for _, home := range person.one().Homes.Href {
		if at, err := person.resolve(home); err == nil {
			homes = append(homes, at.String())
		}
	}
	// The address itself, for calendars of others and for servers that do not say who somebody is.
	if itself := start.at.String(); start.one().Type.Calendar != nil || len(homes) == 0 {
		homes = append(homes, itself)
	}
	for _, home := range homes {
		depth := "1"
		if home == start.at.String() && start.one().Type.Calendar != nil {
			depth = "0"
		}
		l, err := c.ask(ctx, "PROPFIND", home, depth, askAbout)
		if err != nil {
			return err
		}
		f.calendars(l)
	}
	return nil
}

func (f *Found) addresses(p properties) {
	for _, href := range p.Addresses.Href {
		if address, ok := strings.CutPrefix(strings.TrimSpace(href), "mailto:"); ok && !slices.Contains(f.Addresses, address) {
			f.Addresses = append(f.Addresses, address)
		}
	}
}

func (f *Found) calendars(l list) {
	for _, r := range l.Responses {
		p := r.props()
		at, err := l.resolve(r.Href)
		if err != nil || !p.events() || slices.ContainsFunc(f.Calendars, func(c Calendar) bool { return c.Href == at.String() }) {
			continue
		}
		name := strings.TrimSpace(p.Name)
		if name == "" {
			name = path.Base(at.Path)
		}
		f.Calendars = append(f.Calendars, Calendar{at.String(), name, p.colour(), p.writable()})
	}
}
