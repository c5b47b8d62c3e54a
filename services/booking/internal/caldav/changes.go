package caldav

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"net/url"
	"strings"
	"time"
)

// Mark is how far a calendar was read. The zero value is not at all.
type Mark struct {
	Token string `json:"token"`
	CTag  string `json:"ctag"`
}

// Object is an event with all its repetitions, as a server keeps it.
type Object struct {
	// Key stands for its address: two objects of a calendar have two keys. The address may say what the event is about, the key does not.
	Key string
	// ETag is another one when the object is.
	ETag string
	File []byte
}

// Changes are what became of a calendar.
type Changes struct {
	// Whole says that Objects are all there is; else they are those that are new or different.
	Whole   bool
	Objects []Object
	// Gone are the keys of those that are not there any more.
	Gone []string
	Mark Mark
}

const (
	askMark = `<propfind xmlns="DAV:" xmlns:s="http://calendarserver.org/ns/"><prop><sync-token/><s:getctag/></prop></propfind>`
	// fetched is how many objects are asked for at once.
	fetched = 200
	// maxPages bounds the answers to one question about changes.
	maxPages = 100
)

// Changes returns what became of a calendar since mark: by the token of the server, or, with known, the objects of before, by their ETags; else the
// whole of it. Events that do not touch the time from from to to may be left out. known is asked for only if it is needed; it gives the ETags by key.
func (c *Client) Changes(ctx context.Context, calendar string, since Mark, from, to time.Time, known func() (map[string]string, error)) (Changes, error) {
	l, err := c.ask(ctx, "PROPFIND", calendar, "0", askMark)
	if err != nil {
		return Changes{}, err
	}
	p := l.one()
	mark := Mark{p.Token, p.CTag}
	if mark == since && mark != (Mark{}) {
		return Changes{Mark: mark}, nil
	}
	if since.Token != "" && mark.Token != "" {
		ch, err := c.sinceToken(ctx, calendar, since.Token)
		if err == nil || !forgotten(err) {
			ch.Mark.CTag = mark.CTag
			return ch, err
		}
	}
	if since == (Mark{}) {
		return c.whole(ctx, calendar, mark, from, to)
	}
	before, err := known()
	if err != nil {
		return Changes{}, err
	}
	return c.sinceETags(ctx, calendar, mark, from, to, before)
}

// forgotten reports whether an answer may mean that the server does not know the token any more. Servers do not agree on how they say it.
func forgotten(err error) bool {
	return errors.Is(err, ErrForbidden) || errors.Is(err, ErrChanged) || errors.Is(err, ErrMissing)
}

func (c *Client) sinceToken(ctx context.Context, calendar, token string) (Changes, error) {
	var ch Changes
	want := &wanted{seen: map[string]bool{}}
	for range maxPages {
		l, err := c.ask(ctx, "REPORT", calendar, "0", `<sync-collection xmlns="DAV:"><sync-token>`+escaped(token)+`</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>`)
		if err != nil {
			return Changes{}, err
		}
		more := false
		for _, r := range l.Responses {
			at, err := l.resolve(r.Href)
			switch {
			case err != nil:
			case is(r.Status, "507"):
				more = true
			case is(r.Status, "404"):
				ch.Gone = append(ch.Gone, keyOf(at))
			case strings.TrimSuffix(at.Path, "/") != strings.TrimSuffix(l.at.Path, "/"):
				want.add(at)
			}
		}
		token = l.Token
		if !more || token == "" {
			break
		}
	}
	ch.Mark.Token = token
	if err := c.get(ctx, calendar, want, &ch); err != nil {
		return Changes{}, err
	}
	return ch, nil
}

// wanted are the addresses of objects, each once, in order.
type wanted struct {
	seen  map[string]bool
	hrefs []string
}

func (w *wanted) add(at *url.URL) {
	if !w.seen[at.Path] {
		w.seen[at.Path] = true
		w.hrefs = append(w.hrefs, at.EscapedPath())
	}
}

func (c *Client) sinceETags(ctx context.Context, calendar string, mark Mark, from, to time.Time, before map[string]string) (Changes, error) {
	l, err := c.query(ctx, calendar, from, to)
	if err != nil {
		return Changes{}, err
	}
	ch := Changes{Mark: mark}
	want, present := &wanted{seen: map[string]bool{}}, map[string]bool{}
	for _, r := range l.Responses {
		at, err := l.resolve(r.Href)
		if err != nil {
			continue
		}
		key := keyOf(at)
		present[key] = true
		if tag := r.props().ETag; tag == "" || before[key] != tag {
			want.add(at)
		}
	}
	for key := range before {
		if !present[key] {
			ch.Gone = append(ch.Gone, key)
		}
	}
	err = c.get(ctx, calendar, want, &ch)
	return ch, err
}

// whole reads a calendar by its list and then some objects at a time: of many events no answer takes long.
func (c *Client) whole(ctx context.Context, calendar string, mark Mark, from, to time.Time) (Changes, error) {
	l, err := c.query(ctx, calendar, from, to)
	if err != nil {
		return Changes{}, err
	}
	want := &wanted{seen: map[string]bool{}}
	for _, r := range l.Responses {
		if at, err := l.resolve(r.Href); err == nil {
			want.add(at)
		}
	}
	ch := Changes{Whole: true, Mark: mark}
	err = c.get(ctx, calendar, want, &ch)
	return ch, err
}

// query asks which events touch a time, by their addresses and ETags.
func (c *Client) query(ctx context.Context, calendar string, from, to time.Time) (list, error) {
	const utc = "20060102T150405Z"
	l, err := c.ask(ctx, "REPORT", calendar, "1", `<c:calendar-query xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><prop><getetag/></prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">`+
		`<c:time-range start="`+from.UTC().Format(utc)+`" end="`+to.UTC().Format(utc)+`"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`)
	if err == nil && len(l.Responses) > maxObjects {
		err = ErrTooLarge
	}
	return l, err
}

// get adds the objects at addresses. Those that went meanwhile are gone.
func (c *Client) get(ctx context.Context, calendar string, w *wanted, ch *Changes) error {
	if len(w.hrefs) > maxObjects {
		return ErrTooLarge
	}
	for from := 0; from < len(w.hrefs); from += fetched {
		var b strings.Builder
		b.WriteString(`<c:calendar-multiget xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><prop><getetag/><c:calendar-data/></prop>`)
		for _, href := range w.hrefs[from:min(from+fetched, len(w.hrefs))] {
			b.WriteString(`<href>` + escaped(href) + `</href>`)
		}
		b.WriteString(`</c:calendar-multiget>`)
		l, err := c.ask(ctx, "REPORT", calendar, "1", b.String())
		if err != nil {
			return err
		}
		ch.take(l)
	}
	return nil
}

// take adds the objects of an answer.
func (ch *Changes) take(l list) {
	for _, r := range l.Responses {
		at, err := l.resolve(r.Href)
		if err != nil {
			continue
		}
		if p := r.props(); p.Data != "" {
			ch.Objects = append(ch.Objects, Object{keyOf(at), p.ETag, []byte(p.Data)})
		} else if is(r.Status, "404") {
			ch.Gone = append(ch.Gone, keyOf(at))
		}
	}
}

// Key is that of the event with a UID that Put has written into a calendar.
func Key(calendar, uid string) (string, error) {
	address, err := eventAt(calendar, uid)
	if err != nil {
		return "", err
	}
	at, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return keyOf(at), nil
}

func keyOf(at *url.URL) string {
	sum := sha256.Sum256([]byte(at.Path))
	return base64.RawURLEncoding.EncodeToString(sum[:15])
}

func escaped(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}
