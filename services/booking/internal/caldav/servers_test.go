package caldav

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/caldavtest"
	"frontdesk/libs/fetch"
)

var base = fetch.Client(fetch.Options{Local: true, Timeout: time.Minute, Keep: MaxBytes + 1})

// at is a client of somebody at an address.
func at(address string) *Client { return as(caldavtest.Server{Username: "ada"}, address) }

// as is a client of the person of s at an address.
func as(s caldavtest.Server, address string) *Client {
	return New(base, Account{address, s.Username, caldavtest.Password})
}

// event is a file with one event at an hour of the second of March.
func event(uid string, hour int) string {
	return strings.ReplaceAll(fmt.Sprintf("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//x//EN\nBEGIN:VEVENT\nUID:%s\nDTSTAMP:20260101T000000Z\nDTSTART:20260302T%02d0000Z\nDTEND:20260302T%02d3000Z\nSUMMARY:Lunch & <more>\nEND:VEVENT\nEND:VCALENDAR\n", uid, hour, hour), "\n", "\r\n")
}

var (
	from = time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	to   = from.AddDate(0, 0, 400)
)

// key is that of the object with a UID.
func key(t *testing.T, s caldavtest.Server, uid string) string {
	t.Helper()
	k, err := Key(s.Calendar, uid)
	require.NoError(t, err)
	return k
}

// changes are those since a mark, with the ETags of before.
func changes(t *testing.T, s caldavtest.Server, since Mark, before map[string]string) Changes {
	t.Helper()
	ch, err := as(s, s.URL).Changes(t.Context(), s.Calendar, since, Reading{}, from, to, time.Now().Add(time.Hour), knows(before))
	require.NoError(t, err)
	require.Nil(t, ch.Rest)
	return ch
}

func knows(tags map[string]string) func() (map[string]string, error) {
	return func() (map[string]string, error) { return maps.Clone(tags), nil }
}

func keys(of []Object) (all []string) {
	for _, o := range of {
		all = append(all, o.Key)
	}
	slices.Sort(all)
	return all
}

func onEach(t *testing.T, test func(*testing.T, caldavtest.Server)) {
	t.Parallel()
	for _, s := range caldavtest.Servers(t) {
		t.Run(s.Name, func(t *testing.T) { test(t, s) })
	}
}

func TestCalendarsAreFoundFromAnyAddressOfAServer(t *testing.T) {
	onEach(t, func(t *testing.T, s caldavtest.Server) {
		s.Make(t, s.Home+"garden/", "VEVENT")
		s.Make(t, s.Home+"chores/", "VTODO")
		for what, address := range map[string]string{"server": s.URL, "person": s.URL + "/" + s.Username + "/", "home": s.Home, "calendar": s.Calendar, "a page of the server": s.URL + "/no/such/page"} {
			found, err := as(s, address).Find(t.Context())
			require.NoError(t, err, what)
			var hrefs []string
			for _, c := range found.Calendars {
				hrefs = append(hrefs, c.Href)
				require.True(t, c.Writable, what)
				if strings.HasSuffix(c.Href, "/garden/") {
					require.Equal(t, Calendar{s.Home + "garden/", "garden", "#ff8800", true}, c, what)
				}
			}
			slices.Sort(hrefs)
			require.Equal(t, slices.Sorted(slices.Values([]string{s.Calendar, s.Home + "garden/"})), hrefs, what)
		}
	})
}

func TestWrongPasswordsAreTold(t *testing.T) {
	onEach(t, func(t *testing.T, s caldavtest.Server) {
		_, err := New(base, Account{s.URL, s.Username, "another"}).Find(t.Context())
		require.ErrorIs(t, err, ErrSignIn)
		_, err = New(base, Account{Address: s.URL}).Find(t.Context())
		require.ErrorIs(t, err, ErrSignIn)
	})
}

func TestOnlyChangesAreRead(t *testing.T) {
	onEach(t, func(t *testing.T, s caldavtest.Server) {
		s.Put(t, s.Calendar+"one.ics", event("one", 9))
		s.Put(t, s.Calendar+"two%20words.ics", event("two words", 10))
		s.Put(t, s.Calendar+"long-ago.ics", strings.ReplaceAll(event("long-ago", 10), "202603", "201003"))
		one, two, three := key(t, s, "one"), key(t, s, "two words"), key(t, s, "three")

		first := changes(t, s, Mark{}, map[string]string{})
		require.True(t, first.Listed)
		require.Equal(t, slices.Sorted(slices.Values([]string{one, two})), keys(first.Objects))
		require.Contains(t, string(first.Objects[0].File), "SUMMARY:Lunch & <more>")
		tags := map[string]string{}
		for _, o := range first.Objects {
			require.NotEmpty(t, o.ETag)
			tags[o.Key] = o.ETag
		}

		same := changes(t, s, first.Mark, tags)
		require.Equal(t, Changes{Mark: first.Mark}, same)

		s.Put(t, s.Calendar+"one.ics", event("one", 15))
		s.Put(t, s.Calendar+"three.ics", event("three", 16))
		s.Delete(t, s.Calendar+"two%20words.ics")
		for how, since := range map[string]Mark{"by the token": first.Mark, "by ETags": {CTag: "another"}, "by a token that is not known any more": {Token: "http://x/1"}} {
			next := changes(t, s, since, tags)
			require.Equal(t, slices.Sorted(slices.Values([]string{one, three})), keys(next.Objects), how)
			if next.Listed {
				require.Empty(t, next.Seen, "that it is gone is seen by that", how)
			} else {
				require.Equal(t, []string{two}, next.Gone, how)
			}
			require.NotEqual(t, first.Mark, next.Mark, how)
			require.Empty(t, changes(t, s, next.Mark, nil).Objects, how)
		}
	})
}

func TestEventsAreWrittenOnlyOverTheVersionThatIsKnown(t *testing.T) {
	onEach(t, func(t *testing.T, s caldavtest.Server) {
		c, ctx := as(s, s.URL), t.Context()
		const uid = "4f0c@crm.example.com"
		known := func(tag string) string {
			t.Helper()
			now, err := c.ETag(ctx, s.Calendar, uid)
			require.NoError(t, err)
			if tag != "" {
				require.Equal(t, tag, now)
			}
			return now
		}
		require.Empty(t, known(""))
		tag, err := c.Put(ctx, s.Calendar, uid, "", []byte(event(uid, 9)))
		require.NoError(t, err)
		tag = known(tag)
		_, err = c.Put(ctx, s.Calendar, uid, "", []byte(event(uid, 10)))
		require.ErrorIs(t, err, ErrChanged, "it is there already")

		s.Put(t, s.Calendar+"4f0c%40crm.example.com.ics", event(uid, 11))
		require.Len(t, s.Files(t), 1)
		_, err = c.Put(ctx, s.Calendar, uid, tag, []byte(event(uid, 12)))
		require.ErrorIs(t, err, ErrChanged, "the person has changed it")
		require.ErrorIs(t, c.Delete(ctx, s.Calendar, uid, tag), ErrChanged)

		old := known("")
		tag, err = c.Put(ctx, s.Calendar, uid, old, []byte(event(uid, 12)))
		require.NoError(t, err)
		require.NotEqual(t, old, known(tag))
		require.Contains(t, s.Get(t, s.Calendar+"4f0c%40crm.example.com.ics"), "DTSTART:20260302T120000Z")
		require.NoError(t, c.Delete(ctx, s.Calendar, uid, known("")))
		require.Empty(t, s.Files(t))
		_, err = c.Put(ctx, s.Calendar, uid, old, []byte(event(uid, 12)))
		require.ErrorIs(t, err, ErrChanged, "the person has deleted it")
	})
}

// pretender answers as a test wants it.
func pretender(t *testing.T, answer http.HandlerFunc) string {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func TestAnswersThatRefuseAreToldApart(t *testing.T) {
	for code, want := range map[int]error{401: ErrSignIn, 403: ErrForbidden, 404: ErrMissing, 410: ErrMissing, 412: ErrChanged, 429: ErrLater, 503: ErrLater, 500: ErrBroken, 502: ErrBroken, 507: ErrForbidden, 405: ErrForbidden} {
		u := pretender(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
		})
		_, err := at(u).Put(t.Context(), u+"/c/", "x", "", nil)
		require.ErrorIs(t, err, want, "%d", code)
		require.ErrorContains(t, err, fmt.Sprint(code))
		require.NotContains(t, err.Error(), u)
	}
}

func TestAnAddressWithoutCalendarsIsTold(t *testing.T) {
	for what, answer := range map[string]http.HandlerFunc{
		"a page":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html><p>Welcome")) },
		"nothing": http.NotFound,
		"a list of something else": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(207)
			_, _ = w.Write([]byte(`<multistatus xmlns="DAV:"><response><href>/</href><propstat><prop><resourcetype><collection/></resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>`))
		},
	} {
		_, err := at(pretender(t, answer)).Find(t.Context())
		require.ErrorIs(t, err, ErrNoCalendars, what)
	}
}

func TestRedirectsKeepMethodAndBodyAndArePursuedThreeTimes(t *testing.T) {
	loop := pretender(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) })
	_, err := at(loop).Find(t.Context())
	require.ErrorIs(t, err, ErrBroken)
	inside := pretender(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://10.0.0.1/", http.StatusMovedPermanently)
	})
	_, err = at(inside).Find(t.Context())
	require.ErrorIs(t, err, fetch.ErrRefused)
}

func TestThePasswordStaysAtTheSiteOfTheAccount(t *testing.T) {
	var got []string
	other := pretender(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(401)
	})
	own := pretender(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other, http.StatusFound) })
	_, err := at(own).Find(t.Context())
	require.ErrorIs(t, err, ErrSignIn)
	require.NotEmpty(t, got)
	require.Equal(t, make([]string, len(got)), got)
	for to, may := range map[string]bool{"https://caldav.example.com/": true, "https://p42.example.com/x": true, "https://example.com/": true, "http://caldav.example.com/": false, "https://caldav.example.com:8443/": false,
		"https://example.org/": false, "https://caldav.example.com.evil.org/": false} {
		a, err := http.NewRequest("GET", to, nil)
		require.NoError(t, err)
		s := New(base, Account{Address: "https://caldav.example.com/"}).http.Transport.(*signer)
		require.Equal(t, may, s.mayKnow(a.URL), to)
	}
	byNumber := New(base, Account{Address: "https://11.0.0.1/"}).http.Transport.(*signer)
	require.False(t, byNumber.mayKnow(&url.URL{Scheme: "https", Host: "10.0.0.1"}))
}

func TestWhatIsTooLargeIsNotRead(t *testing.T) {
	endless := pretender(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(207)
		for _, err := w.Write([]byte(`<multistatus xmlns="DAV:">`)); err == nil; {
			_, err = w.Write([]byte(strings.Repeat("<response/>", 1000)))
		}
	})
	_, err := at(endless).Find(t.Context())
	require.ErrorIs(t, err, ErrTooLarge)
	many := pretender(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(207)
		_, _ = fmt.Fprintf(w, `<multistatus xmlns="DAV:">%s</multistatus>`, strings.Repeat("<response/>", maxObjects+1))
	})
	_, err = at(many).Changes(t.Context(), many+"/", Mark{}, Reading{}, from, to, time.Now().Add(time.Hour), knows(map[string]string{}))
	require.ErrorIs(t, err, ErrTooLarge)
}

// It answers for twenty events at a time and a hundred days, and not when it is asked for the first time.
func TestASlowServerIsReadByAndBy(t *testing.T) {
	t.Parallel()
	var asked atomic.Bool
	s, _ := caldavtest.Own(t, 300, from.AddDate(0, 0, 50), func(_ http.ResponseWriter, r *http.Request, q caldavtest.Question) bool {
		slow := !asked.Swap(true) || q.Days > 100 || q.Events > 20
		if slow {
			<-r.Context().Done()
		}
		return slow
	})
	impatient := New(fetch.Client(fetch.Options{Local: true, Timeout: 500 * time.Millisecond, Keep: MaxBytes + 1}), Account{Address: s.URL})
	tags, rest := map[string]string{}, Reading{}
	for turns := 1; ; turns++ {
		require.Less(t, turns, 100)
		ch, err := impatient.Changes(t.Context(), s.Calendar, Mark{}, rest, from, to, time.Now().Add(time.Hour), knows(tags))
		require.NoError(t, err)
		for _, o := range ch.Objects {
			require.NotContains(t, tags, o.Key, "what was read is not read again")
			tags[o.Key] = o.ETag
		}
		if ch.Rest == nil {
			require.True(t, ch.Listed)
			require.Equal(t, Mark{CTag: "1"}, ch.Mark)
			break
		}
		require.False(t, ch.Listed)
		rest = *ch.Rest
	}
	require.Len(t, tags, 300)
}

func TestASlowServerIsReadForAsLongAsAVisitLasts(t *testing.T) {
	s, _ := caldavtest.Own(t, 300, from, func(http.ResponseWriter, *http.Request, caldavtest.Question) bool { return false })
	over, err := at(s.URL).Changes(t.Context(), s.Calendar, Mark{}, Reading{}, from, to, time.Now(), knows(map[string]string{}))
	require.NoError(t, err)
	require.Equal(t, Changes{Rest: &Reading{}}, over)
	never, _ := caldavtest.Own(t, 1, from, func(_ http.ResponseWriter, r *http.Request, _ caldavtest.Question) bool {
		<-r.Context().Done()
		return true
	})
	impatient := New(fetch.Client(fetch.Options{Local: true, Timeout: time.Millisecond}), Account{Address: never.URL})
	rest := Reading{Slow: patience - 2}
	for _, last := range []bool{false, true} {
		ch, err := impatient.Changes(t.Context(), never.Calendar, Mark{}, rest, from, to, time.Now().Add(time.Hour), knows(map[string]string{}))
		require.Equal(t, last, err != nil, "patience ends: %v", err)
		rest = *ch.Rest
	}
	require.Zero(t, rest.Slow)
}

func TestASlowServerIsLeft(t *testing.T) {
	over := make(chan struct{})
	slow := pretender(t, func(http.ResponseWriter, *http.Request) { <-over })
	t.Cleanup(func() { close(over) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := at(slow).Find(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
