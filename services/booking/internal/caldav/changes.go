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
	// Objects are those that are new or different.
	Objects []Object
	// Gone are the keys of those that are not there any more, Seen those of others that were listed and are as before.
	Gone, Seen []string
	// Listed says that all there is was read or seen since the reading began; the rest is gone.
	Listed bool
	// Rest is where to go on if there is more. Mark is for the time when there is not.
	Rest *Reading
	Mark Mark
}

// Reading is how far a calendar is listed and read that takes more than one visit, and how much the server answers at once. The zero value is not begun.
type Reading struct {
	// Begun says that the list is begun, at Mark. It is not if the server names the changes itself.
	Begun bool `json:"begun"`
	Mark  Mark `json:"mark"`
	// From is where the list goes on, and To its end.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Days are how many an answer lists, and Objects how many it has; zero for as many as there are, or fetched.
	Days    int `json:"days"`
	Objects int `json:"objects"`
	// Slow counts the answers that did not come in time, since the last one that did.
	Slow int `json:"slow"`
}

const (
	askMark = `<propfind xmlns="DAV:" xmlns:s="http://calendarserver.org/ns/"><prop><sync-token/><s:getctag/></prop></propfind>`
	// fetched is how many objects are asked for at once, and fewestDays how many an answer lists at least.
	fetched, fewestDays = 200, 14
	// maxPages bounds the answers to one question about changes.
	maxPages = 100
	// patience is how many answers of a server may come too late, one after the other: a server may read thousands of files before it answers for the first
	// time, goes on when nobody waits any more, and remembers.
	patience = 10
)

// Changes returns what became of a calendar since mark: by the token of the server, or by a list of all there is. rest is how far the visit before came, which
// was at the same mark. Events that do not touch the time from from to to may be left out. known is asked for only if it is needed; it gives the ETags of
// objects that need not be read again, by key.
//
// A visit ends at until, or when the context does, with what it has. An answer that takes too long ends it as well, and makes those of the next visit shorter;
// it is an error when even those do not come. What was read before an error is there beside it.
func (c *Client) Changes(ctx context.Context, calendar string, since Mark, rest Reading, from, to, until time.Time, known func() (map[string]string, error)) (Changes, error) {
	v := &visit{Client: c, calendar: calendar, until: until, reading: rest, known: known}
	err := v.changes(ctx, since, from, to)
	if err == nil {
		return v.Changes, nil
	}
	v.Rest = &v.reading
	switch {
	case errors.Is(err, errEnd), ctx.Err() != nil:
		err = nil
	case isTimeout(err):
		if v.reading.Slow++; v.reading.Slow < patience {
			err = nil
		} else {
			v.reading.Slow = 0
		}
	}
	return v.Changes, err
}

// visit reads what became of a calendar, until its time is over.
type visit struct {
	*Client
	Changes
	calendar string
	until    time.Time
	reading  Reading
	known    func() (map[string]string, error)
}

// errEnd says that the time of a visit is over.
var errEnd = errors.New("the visit has ended")

func isTimeout(err error) bool {
	var timeout interface{ Timeout() bool }
	return errors.As(err, &timeout) && timeout.Timeout()
}

// report makes a request unless the visit is over.
func (v *visit) report(ctx context.Context, method, depth, body string) (list, error) {
	if !time.Now().Before(v.until) {
		return list{}, errEnd
	}
	l, err := v.ask(ctx, method, v.calendar, depth, body)
	if err == nil {
		v.reading.Slow = 0
	}
	return l, err
}

func (v *visit) changes(ctx context.Context, since Mark, from, to time.Time) error {
	if !v.reading.Begun {
		l, err := v.report(ctx, "PROPFIND", "0", askMark)
		if err != nil {
			return err
		}
		p := l.one()
		v.Mark = Mark{p.Token, p.CTag}
		if v.Mark == since && since != (Mark{}) {
			return nil
		}
		if since.Token != "" && v.Mark.Token != "" {
			if err := v.sinceToken(ctx, since.Token); err == nil || !forgotten(err) {
				return err
			}
		}
		v.reading.Begun, v.reading.Mark, v.reading.From, v.reading.To = true, v.Mark, from, to
	}
	if err := v.list(ctx); err != nil {
		return err
	}
	v.Listed, v.Mark = true, v.reading.Mark
	return nil
}

// forgotten reports whether an answer may mean that the server does not know the token any more. Servers do not agree on how they say it.
func forgotten(err error) bool {
	return errors.Is(err, ErrForbidden) || errors.Is(err, ErrChanged) || errors.Is(err, ErrMissing)
}

func (v *visit) sinceToken(ctx context.Context, token string) error {
	before, err := v.known()
	if err != nil {
		return err
	}
	want := &wanted{seen: map[string]bool{}}
	for range maxPages {
		l, err := v.report(ctx, "REPORT", "0", `<sync-collection xmlns="DAV:"><sync-token>`+escaped(token)+`</sync-token><sync-level>1</sync-level><prop><getetag/></prop></sync-collection>`)
		if err != nil {
			return err
		}
		more := false
		for _, r := range l.Responses {
			at, err := l.resolve(r.Href)
			switch {
			case err != nil:
			case is(r.Status, "507"):
				more = true
			case is(r.Status, "404"):
				v.Gone = append(v.Gone, keyOf(at))
			case strings.TrimSuffix(at.Path, "/") != strings.TrimSuffix(l.at.Path, "/"):
				if tag := r.props().ETag; tag == "" || before[keyOf(at)] != tag {
					want.add(at)
				}
			}
		}
		token = l.Token
		if !more || token == "" {
			break
		}
	}
	v.Mark.Token = token
	return v.get(ctx, want)
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

// list reads what is new or different of what there is, some days at a time.
func (v *visit) list(ctx context.Context) error {
	before, err := v.known()
	if err != nil {
		return err
	}
	for r := &v.reading; r.From.Before(r.To); {
		end := r.To
		if r.Days > 0 && r.From.AddDate(0, 0, r.Days).Before(end) {
			end = r.From.AddDate(0, 0, r.Days)
		}
		l, err := v.query(ctx, r.From, end)
		if err != nil {
			if isTimeout(err) {
				r.Days = max(int(end.Sub(r.From).Hours()/24)/2, fewestDays)
			}
			return err
		}
		want := &wanted{seen: map[string]bool{}}
		for _, r := range l.Responses {
			at, err := l.resolve(r.Href)
			if err != nil {
				continue
			}
			if tag := r.props().ETag; tag == "" || before[keyOf(at)] != tag {
				want.add(at)
			} else {
				v.Seen = append(v.Seen, keyOf(at))
			}
		}
		if err := v.get(ctx, want); err != nil {
			return err
		}
		for _, o := range v.Objects {
			before[o.Key] = o.ETag
		}
		r.From = end
	}
	return nil
}

// query asks which events touch a time, by their addresses and ETags.
func (v *visit) query(ctx context.Context, from, to time.Time) (list, error) {
	const utc = "20060102T150405Z"
	l, err := v.report(ctx, "REPORT", "1", `<c:calendar-query xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><prop><getetag/></prop><c:filter><c:comp-filter name="VCALENDAR"><c:comp-filter name="VEVENT">`+
		`<c:time-range start="`+from.UTC().Format(utc)+`" end="`+to.UTC().Format(utc)+`"/></c:comp-filter></c:comp-filter></c:filter></c:calendar-query>`)
	if err == nil && len(l.Responses) > maxObjects {
		err = ErrTooLarge
	}
	return l, err
}

// get adds the objects at addresses, some at a time. Those that went meanwhile are gone.
func (v *visit) get(ctx context.Context, w *wanted) error {
	if len(w.hrefs) > maxObjects {
		return ErrTooLarge
	}
	if v.reading.Objects == 0 {
		v.reading.Objects = fetched
	}
	for left := w.hrefs; len(left) > 0; {
		n := min(v.reading.Objects, len(left))
		var b strings.Builder
		b.WriteString(`<c:calendar-multiget xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav"><prop><getetag/><c:calendar-data/></prop>`)
		for _, href := range left[:n] {
			b.WriteString(`<href>` + escaped(href) + `</href>`)
		}
		b.WriteString(`</c:calendar-multiget>`)
		l, err := v.report(ctx, "REPORT", "1", b.String())
		if err != nil {
			if isTimeout(err) {
				v.reading.Objects = max(n/4, 1)
			}
			return err
		}
		v.take(l)
		left = left[n:]
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
