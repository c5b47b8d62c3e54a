package ics_test

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	ical "github.com/emersion/go-ical"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/libs/ics"
)

var visit = ics.Event{
	Method: ics.Request, UID: "0190f7a2@frontdesk", Sequence: 2,
	Stamp:   time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
	Start:   time.Date(2026, 3, 29, 0, 30, 0, 0, time.FixedZone("CET", 3600)),
	End:     time.Date(2026, 3, 29, 3, 30, 0, 0, time.FixedZone("CEST", 7200)),
	Summary: "Haircut", Description: "First line\nSecond, line; with \\ marks", Location: "Rue de la Loi 1, Brussels",
	URL:       "https://meet.example.com/room?a=1&b=2",
	Organizer: ics.Person{Name: "Salon Lumière", Email: "salon@example.com"},
	Attendee:  ics.Person{Name: "Ann Peeters", Email: "ann+cut@example.com"},
}

// line is a content line as RFC 5545 (3.1) has it.
type line struct {
	name   string
	params map[string]string
	value  string
}

// read is a small reader of its own, written after the grammar of RFC 5545: CRLF line ends, at most 75
// octets a line, unfolding, parameters bare or in quotes, one VEVENT in one VCALENDAR.
func read(file []byte) (calendar, event map[string]line, err error) {
	raw := string(file)
	if !utf8.ValidString(raw) || !strings.HasSuffix(raw, "\r\n") || strings.Count(raw, "\r") != strings.Count(raw, "\r\n") ||
		strings.Count(raw, "\n") != strings.Count(raw, "\r\n") {
		return nil, nil, fmt.Errorf("line ends: %q", raw)
	}
	for l := range strings.SplitSeq(raw, "\r\n") {
		if len(l) > 75 || strings.ContainsFunc(l, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return nil, nil, fmt.Errorf("line: %q", l)
		}
	}
	token := regexp.MustCompile(`^[A-Z0-9-]+$`)
	bare := regexp.MustCompile(`^[^";:,\x00-\x1f\x7f]*$`)
	calendar, event = map[string]line{}, map[string]line{}
	var open []string
	unfolded := strings.ReplaceAll(strings.TrimSuffix(raw, "\r\n"), "\r\n ", "")
	for text := range strings.SplitSeq(unfolded, "\r\n") {
		head, value, quoted := "", "", false
		for i, r := range text {
			if r == '"' {
				quoted = !quoted
			}
			if r == ':' && !quoted {
				head, value = text[:i], text[i+1:]
				break
			}
		}
		parts := strings.Split(head, ";")
		l := line{name: parts[0], params: map[string]string{}, value: value}
		if !token.MatchString(l.name) {
			return nil, nil, fmt.Errorf("name in %q", text)
		}
		for _, p := range parts[1:] {
			key, v, ok := strings.Cut(p, "=")
			if inner, found := strings.CutPrefix(v, `"`); found {
				v = strings.TrimSuffix(inner, `"`)
			} else if !bare.MatchString(v) {
				return nil, nil, fmt.Errorf("parameter %q", p)
			}
			if _, twice := l.params[key]; !ok || twice || !token.MatchString(key) {
				return nil, nil, fmt.Errorf("parameter %q", p)
			}
			l.params[key] = v
		}
		switch l.name {
		case "BEGIN":
			open = append(open, value)
			continue
		case "END":
			if len(open) == 0 || open[len(open)-1] != value {
				return nil, nil, fmt.Errorf("%q ends what is not open", value)
			}
			open = open[:len(open)-1]
			continue
		}
		into := calendar
		switch strings.Join(open, "/") {
		case "VCALENDAR":
		case "VCALENDAR/VEVENT":
			into = event
		default:
			return nil, nil, fmt.Errorf("%q stands in %v", text, open)
		}
		if _, twice := into[l.name]; twice {
			return nil, nil, fmt.Errorf("%s comes twice", l.name)
		}
		into[l.name] = l
	}
	if len(open) != 0 {
		return nil, nil, fmt.Errorf("%v is left open", open)
	}
	return calendar, event, nil
}

// plain undoes the escapes of a TEXT value.
func plain(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\N`, "\n", `\;`, `;`, `\,`, `,`).Replace(s)
}

func TestAConfirmationAsksTheCalendarToAddTheVisit(t *testing.T) {
	file, err := visit.File()
	require.NoError(t, err)
	cal, event, err := read(file)
	require.NoError(t, err)

	require.Equal(t, "2.0", cal["VERSION"].value)
	require.Equal(t, "REQUEST", cal["METHOD"].value)
	require.NotEmpty(t, cal["PRODID"].value)
	require.Equal(t, "0190f7a2@frontdesk", event["UID"].value)
	require.Equal(t, "2", event["SEQUENCE"].value)
	require.Equal(t, "20260301T080000Z", event["DTSTAMP"].value)
	require.Equal(t, "20260328T233000Z", event["DTSTART"].value, "UTC, whatever zone it was given in")
	require.Equal(t, "20260329T013000Z", event["DTEND"].value)
	require.Equal(t, "CONFIRMED", event["STATUS"].value)
	require.Equal(t, "Haircut", plain(event["SUMMARY"].value))
	require.Equal(t, visit.Description, plain(event["DESCRIPTION"].value))
	require.Equal(t, visit.Location, plain(event["LOCATION"].value))
	require.Equal(t, visit.URL, event["URL"].value)
	require.Equal(t, line{"ORGANIZER", map[string]string{"CN": "Salon Lumière"}, "mailto:salon@example.com"}, event["ORGANIZER"])
	require.Equal(t, "mailto:ann+cut@example.com", event["ATTENDEE"].value)
	require.Equal(t, "Ann Peeters", event["ATTENDEE"].params["CN"])
	require.Equal(t, "FALSE", strings.ToUpper(event["ATTENDEE"].params["RSVP"]))
}

func TestACancellationTakesTheSameVisitOut(t *testing.T) {
	gone := visit
	gone.Method, gone.Sequence = ics.Cancel, 3
	gone.Location, gone.URL, gone.Description = "", "", ""
	file, err := gone.File()
	require.NoError(t, err)
	cal, event, err := read(file)
	require.NoError(t, err)
	require.Equal(t, "CANCEL", cal["METHOD"].value)
	require.Equal(t, "CANCELLED", event["STATUS"].value)
	require.Equal(t, "0190f7a2@frontdesk", event["UID"].value)
	require.Equal(t, "3", event["SEQUENCE"].value)
	require.NotContains(t, event, "LOCATION")
	require.NotContains(t, event, "URL")
	require.NotContains(t, event, "DESCRIPTION")
}

func TestTextOfAnyKindStaysInItsPlace(t *testing.T) {
	hostile := "x\r\nATTENDEE:mailto:eve@example.com\nEND:VEVENT\u2028\u0085\x00\"';:,\\^\xff 日本語 " + strings.Repeat("é", 200)
	e := visit
	e.Summary, e.Description, e.Location = hostile, hostile, hostile
	e.Organizer.Name, e.Attendee.Name, e.UID = hostile, hostile, "u\r\nX:1"
	file, err := e.File()
	require.NoError(t, err)
	_, event, err := read(file)
	require.NoError(t, err)
	require.Equal(t, "u X:1", event["UID"].value)
	require.Equal(t, "mailto:ann+cut@example.com", event["ATTENDEE"].value)
	require.NotContains(t, plain(event["SUMMARY"].value), "\n")
	require.Contains(t, plain(event["SUMMARY"].value), `"';:,\^� 日本語`)
	require.Contains(t, event["ATTENDEE"].params["CN"], "日本語")
	require.NotContains(t, event, "X")
}

func TestAnotherReaderTakesEveryFileAndFindsTheSame(t *testing.T) {
	word := rapid.StringMatching(`[\p{L}\p{N}\p{P}\p{S}]{1,30}`)
	rapid.Check(t, func(t *rapid.T) {
		e := visit
		e.Method = rapid.SampledFrom([]ics.Method{ics.Request, ics.Cancel}).Draw(t, "method")
		e.Sequence = rapid.IntRange(0, 1<<20).Draw(t, "sequence")
		e.Start = time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "start"), 0)
		e.End = e.Start.Add(time.Duration(rapid.IntRange(1, 1440).Draw(t, "minutes")) * time.Minute)
		e.Description = strings.Join(rapid.SliceOfN(word, 1, 9).Draw(t, "words"), rapid.SampledFrom([]string{" ", "\n", "\n\n"}).Draw(t, "space"))
		file, err := e.File()
		require.NoError(t, err)
		cal, err := ical.NewDecoder(bytes.NewReader(file)).Decode()
		require.NoError(t, err)
		require.Equal(t, string(e.Method), cal.Props.Get(ical.PropMethod).Value)
		require.Len(t, cal.Events(), 1)
		found := cal.Events()[0]
		start, err := found.DateTimeStart(time.UTC)
		require.NoError(t, err)
		end, err := found.DateTimeEnd(time.UTC)
		require.NoError(t, err)
		require.True(t, start.Equal(e.Start) && end.Equal(e.End))
		sequence, err := found.Props.Get(ical.PropSequence).Int()
		require.NoError(t, err)
		require.Equal(t, e.Sequence, sequence)
		description, err := found.Props.Text(ical.PropDescription)
		require.NoError(t, err)
		require.Equal(t, e.Description, description)
		require.NoError(t, ical.NewEncoder(io.Discard).Encode(cal), "what the other library checks before it writes")
	})
}

func TestNamesKeepTheirApostrophe(t *testing.T) {
	e := visit
	e.Attendee.Name = `O'Brien, Sean "Jack"`
	file, err := e.File()
	require.NoError(t, err)
	_, event, err := read(file)
	require.NoError(t, err)
	require.Equal(t, "O’Brien Sean Jack", event["ATTENDEE"].params["CN"])
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*ics.Event){
		"no UID":               func(e *ics.Event) { e.UID = "\r\n" },
		"no summary":           func(e *ics.Event) { e.Summary = "" },
		"no method":            func(e *ics.Event) { e.Method = "" },
		"another method":       func(e *ics.Event) { e.Method = "PUBLISH\r\nX:1" },
		"no stamp":             func(e *ics.Event) { e.Stamp = time.Time{} },
		"no time":              func(e *ics.Event) { e.End = e.Start },
		"negative sequence":    func(e *ics.Event) { e.Sequence = -1 },
		"no organizer":         func(e *ics.Event) { e.Organizer.Email = "" },
		"attendee with a line": func(e *ics.Event) { e.Attendee.Email = "a@example.com\r\nX:1" },
		"attendee with a name": func(e *ics.Event) { e.Attendee.Email = "Ann <a@example.com>" },
		"no address":           func(e *ics.Event) { e.Attendee.Email = "ann" },
		"script address":       func(e *ics.Event) { e.URL = "javascript:alert(1)" },
		"URL with a line":      func(e *ics.Event) { e.URL = "https://example.com/\r\nX:1" },
		"URL without a host":   func(e *ics.Event) { e.URL = "https:///x" },
	} {
		e := visit
		spoil(&e)
		_, err := e.File()
		require.Error(t, err, name)
	}
}

func FuzzTheFileIsAlwaysWellFormed(f *testing.F) {
	f.Add("Haircut", "line\nline", "Ann", "ann@example.com", "https://example.com")
	f.Add("a\r\nb:c", strings.Repeat("word ", 60), `"',;:\`, "a'b@example.com", "")
	f.Fuzz(func(t *testing.T, summary, description, name, email, link string) {
		e := visit
		e.Summary, e.Description, e.Location, e.URL = summary, description, summary, link
		e.Attendee = ics.Person{Name: name, Email: email}
		file, err := e.File()
		if err != nil {
			return
		}
		_, event, err := read(file)
		require.NoError(t, err)
		require.Equal(t, "2", event["SEQUENCE"].value)
	})
}
