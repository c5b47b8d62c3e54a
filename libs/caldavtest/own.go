package caldavtest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"
)

// Question is what a server is asked: a list of the events of some days, some events, or, if both are zero, about the calendar.
type Question struct{ Days, Events int }

// Own starts a server of our own, without tokens, whose calendar has n events of ten minutes each, every forty from first on. It answers a question unless
// answer does. given is how often it has given out each event.
func Own(t testing.TB, n int, first time.Time, answer func(w http.ResponseWriter, r *http.Request, q Question) bool) (own Server, given func() map[int]int) {
	var mu sync.Mutex
	counts := map[int]int{}
	one := func(href, props string) string {
		return `<response><href>` + href + `</href><propstat><prop>` + props + `</prop><status>HTTP/1.1 200 OK</status></propstat></response>`
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		body, q, list := string(raw), Question{}, ""
		asked := event.FindAllStringSubmatch(body, -1)
		period := window.FindStringSubmatch(body)
		var from, to time.Time
		if period != nil {
			from, _ = time.Parse(utc, period[1])
			to, _ = time.Parse(utc, period[2])
			q.Days = int(to.Sub(from).Hours() / 24)
		}
		q.Events = len(asked)
		if answer(w, r, q) {
			return
		}
		switch {
		case period != nil:
			for i := range n {
				if start := first.Add(time.Duration(i) * 40 * time.Minute); start.Before(to) && start.Add(10*time.Minute).After(from) {
					list += one(fmt.Sprintf("/work/e%d.ics", i), `<getetag>"1"</getetag>`)
				}
			}
		case asked != nil:
			for _, found := range asked {
				i, _ := strconv.Atoi(found[1])
				mu.Lock()
				counts[i]++
				mu.Unlock()
				start := first.Add(time.Duration(i) * 40 * time.Minute)
				list += one(found[0], fmt.Sprintf("<getetag>\"1\"</getetag><c:calendar-data>BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//EN\r\nBEGIN:VEVENT\r\nUID:e%d\r\nDTSTAMP:20260101T000000Z\r\n"+
					"DTSTART:%s\r\nDURATION:PT10M\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n</c:calendar-data>", i, start.UTC().Format(utc)))
			}
		default:
			list = one("/work/", `<resourcetype><c:calendar/></resourcetype><s:getctag>1</s:getctag>`)
		}
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, `<multistatus xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:s="http://calendarserver.org/ns/">`+list+`</multistatus>`)
	}))
	t.Cleanup(s.Close)
	return Server{Name: "ours", URL: s.URL, Calendar: s.URL + "/work/"}, func() map[int]int {
		mu.Lock()
		defer mu.Unlock()
		return maps.Clone(counts)
	}
}

const utc = "20060102T150405Z"

var (
	event  = regexp.MustCompile(`/work/e([0-9]+)\.ics`)
	window = regexp.MustCompile(`start="([0-9TZ]+)" end="([0-9TZ]+)"`)
)
