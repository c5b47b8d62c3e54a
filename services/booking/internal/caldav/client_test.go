package caldav

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHowLongAServerWantsToBeLeftAlone(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]time.Duration{
		"":                              0,
		"120":                           2 * time.Minute,
		"-5":                            0,
		"soon":                          0,
		"Thu, 26 Nov 2026 12:30:00 GMT": 30 * time.Minute,
		"Thu, 26 Nov 2026 11:00:00 GMT": 0,
	} {
		require.Equal(t, want, RetryAfter(http.Header{"Retry-After": {given}, "Date": {"Thu, 26 Nov 2026 12:00:00 GMT"}}), given)
	}
	require.Zero(t, RetryAfter(http.Header{"Retry-After": {"Thu, 26 Nov 2026 12:30:00 GMT"}}), "a moment without that of the answer")
	busy := refusal(http.StatusServiceUnavailable, http.Header{"Retry-After": {"7"}})
	require.ErrorIs(t, busy, ErrLater)
	require.Equal(t, 7*time.Second, Later(fmt.Errorf("read: %w", busy)))
	require.Zero(t, Later(ErrBroken))
}

// A server that is slow needs its time for each event, so no answer has many.
func TestACalendarOfManyEventsComesInManyAnswers(t *testing.T) {
	t.Parallel()
	const events = 2*fetched + 50
	var answers []int
	multistatus := func(w http.ResponseWriter, hrefs []string, prop string) {
		w.WriteHeader(http.StatusMultiStatus)
		fmt.Fprint(w, `<multistatus xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav">`)
		for _, href := range hrefs {
			fmt.Fprintf(w, `<response><href>%s</href><propstat><prop>%s</prop><status>HTTP/1.1 200 OK</status></propstat></response>`, href, prop)
		}
		fmt.Fprint(w, `</multistatus>`)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.Method == "PROPFIND":
			multistatus(w, []string{"/c/"}, `<sync-token>one</sync-token>`)
		case strings.Contains(string(body), "calendar-query"):
			hrefs := make([]string, events)
			for i := range hrefs {
				hrefs[i] = fmt.Sprintf("/c/%d.ics", i)
			}
			multistatus(w, hrefs, `<getetag>"1"</getetag>`)
		default:
			var hrefs []string
			for _, found := range regexp.MustCompile(`<href>([^<]+)</href>`).FindAllStringSubmatch(string(body), -1) {
				hrefs = append(hrefs, found[1])
			}
			answers = append(answers, len(hrefs))
			multistatus(w, hrefs, `<getetag>"1"</getetag><c:calendar-data>BEGIN:VCALENDAR</c:calendar-data>`)
		}
	}))
	t.Cleanup(server.Close)
	c := New(server.Client(), Account{Address: server.URL})
	ch, err := c.Changes(t.Context(), server.URL+"/c/", Mark{}, Reading{}, time.Unix(0, 0), time.Unix(1, 0), time.Now().Add(time.Hour), knows(map[string]string{}))
	require.NoError(t, err)
	require.True(t, ch.Listed)
	require.Len(t, ch.Objects, events)
	require.Equal(t, []int{fetched, fetched, 50}, answers)
	key, err := Key(server.URL+"/c", "7")
	require.NoError(t, err)
	require.Equal(t, ch.Objects[7].Key, key)
}
