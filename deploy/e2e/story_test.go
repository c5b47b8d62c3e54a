package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

var visitor = client{}

// desk is a business that is set up: an administrator with a key, a service, hours, a form, a webhook.
type desk struct {
	admin   client
	user    int64
	service string
	form    string
	hook    *receiver
}

// signIn is the administrator in a browser.
func signIn(t testing.TB) client {
	t.Helper()
	login := visitor.post(t, "/auth/login", map[string]string{"login": "admin", "password": password}).is(200)
	for _, c := range (&http.Response{Header: login.Header}).Cookies() {
		if c.Name == "svc_session" {
			require.True(t, c.HttpOnly)
			return client{cookie: c}
		}
	}
	require.Fail(t, "no session cookie")
	return client{}
}

// setUp does what an administrator does on the first day.
func setUp(t testing.TB) desk {
	t.Helper()
	person := signIn(t)
	person.get(t, "/auth/session").is(200)
	me := person.get(t, "/me").is(200)
	key := person.post(t, "/me/application-passwords", map[string]string{"name": "integration " + uuid.NewString()[:8]}).is(201)
	d := desk{admin: client{login: "admin", password: key.text("password")}, user: int64(me.field("user_id").(float64)), hook: listen(t)}

	d.service = d.admin.post(t, "/services", map[string]any{"name": "Consultation " + uuid.NewString()[:8], "duration_min": 30,
		"staff": []int64{d.user}, "bookable_online": true, "location_type": "in_person", "location_details": "Main street 1"}).is(201).text("id")
	hours := map[string]any{}
	for day := 1; day <= 7; day++ {
		hours[fmt.Sprint(day)] = [][]string{{"08:00", "20:00"}}
	}
	d.admin.call(t, "PUT", fmt.Sprintf("/staff/%d/hours", d.user), map[string]any{"hours": hours}).is(200)

	form := d.admin.post(t, "/forms", map[string]any{"name": "Contact " + uuid.NewString()[:8], "status": "publish", "definition": map[string]any{
		"elements": []any{
			map[string]any{"id": "first", "type": "field", "target": "contact.first_name", "label": "First name"},
			map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true},
			map[string]any{"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"},
		}}}).is(201)
	d.form = fmt.Sprint(form.field("id"))

	created := d.admin.post(t, "/webhooks", map[string]any{"name": "Receiver", "url": d.hook.URL + "/hook", "active": true, "events": []string{
		"contact.created", "appointment.booked", "appointment.rescheduled", "appointment.cancelled", "form.submitted"}}).is(201)
	d.hook.mu.Lock()
	d.hook.secret = created.text("secret")
	d.hook.mu.Unlock()
	hook := created.text("webhook.id")
	t.Cleanup(func() { d.admin.call(t, "DELETE", "/webhooks/"+hook, nil) })
	return d
}

// slots are the free times of the service on the days from now on, with the time token.
func (d desk) slots(t testing.TB) (starts []string, token string) {
	t.Helper()
	var a *answer
	eventually(t, func() bool {
		a = visitor.get(t, "/booking/slots?service="+d.service)
		return a.Status == 200 && len(a.items()) > 20
	}, "no free times")
	for _, s := range a.items() {
		starts = append(starts, s["starts_at"].(string))
	}
	return starts, a.text("token")
}

// wait lasts until a time token is old enough: nobody fills in a form in less than three seconds.
func wait() { time.Sleep(3100 * time.Millisecond) }

func (d desk) booking(start, token, email string) map[string]any {
	return map[string]any{"service": d.service, "starts_at": start, "token": token, "hp_url": "", "page": "https://example.com/",
		"values": map[string]string{"first_name": "Ada", "last_name": "Visitor", "email": email}}
}

func (d desk) submission(token, email string) map[string]any {
	return map[string]any{"token": token, "hp_url": "", "page": "https://example.com/contact",
		"values": map[string]string{"first": "Grace", "email": email, "message": "Good morning"}}
}

func (d desk) formToken(t testing.TB) string {
	t.Helper()
	var token string
	eventually(t, func() bool {
		a := visitor.get(t, "/forms/"+d.form+"/token")
		if a.Status == 200 {
			token = a.text("token")
		}
		return a.Status == 200
	}, "no token")
	return token
}

func address(name string) string { return name + "." + uuid.NewString()[:8] + "@example.com" }

var manageLink = regexp.MustCompile(`/manage#token=([A-Za-z0-9_-]+)`)

// manageToken is the one in the newest mail to an address, once there are so many mails.
func manageToken(t testing.TB, to string, count int) string {
	t.Helper()
	var got []mail
	eventually(t, func() bool { got = mails(t, to); return len(got) >= count }, "no mail to "+to)
	m := manageLink.FindStringSubmatch(got[0].Text)
	require.NotNil(t, m, "no manage link in the mail: %s", got[0].Text)
	return m[1]
}

func TestABookingAndAFormTravelThroughTheWholeSystem(t *testing.T) {
	t.Parallel()
	healthy(t)
	d := setUp(t)
	starts, token := d.slots(t)
	formToken := d.formToken(t)
	wait()
	booker, writer := address("ada"), address("grace")

	booked := visitor.post(t, "/booking/book", d.booking(starts[3], token, booker)).is(201)
	require.Equal(t, "confirmed", booked.text("status"))
	require.Equal(t, starts[3], booked.text("starts_at"))
	require.NotContains(t, booked.Body, "token")
	visitor.post(t, "/forms/"+d.form+"/submit", d.submission(formToken, writer)).is(200)

	t.Run("two contacts exist, with timelines that name channel and actor", func(t *testing.T) {
		for email, want := range map[string]string{booker: "booking", writer: "form"} {
			var found []map[string]any
			eventually(t, func() bool { found = d.admin.get(t, "/contacts?search="+email).is(200).items(); return len(found) == 1 }, "no contact "+email)
			id := found[0]["id"].(string)
			var entries []map[string]any
			eventually(t, func() bool {
				entries = d.admin.get(t, "/contacts/"+id+"/activities").is(200).items()
				return len(entries) > 0 && (want == "form" || len(entries) > 1)
			}, "no timeline")
			for _, e := range entries {
				require.Equal(t, want, e["channel"], e)
				require.NotEmpty(t, e["actor_label"], e)
			}
		}
	})

	t.Run("the mailed link moves and then cancels, and an old link is refused", func(t *testing.T) {
		first := manageToken(t, booker, 1)
		newest := mails(t, booker)[0]
		require.True(t, slices.ContainsFunc(newest.Attachments, func(a attachment) bool { return strings.HasPrefix(a.ContentType, "text/calendar") }), "no calendar file: %v", newest.Attachments)
		require.Equal(t, starts[3], visitor.post(t, "/booking/manage", map[string]string{"token": first}).is(200).text("starts_at"))
		moved := visitor.post(t, "/booking/manage/reschedule", map[string]string{"token": first, "starts_at": starts[7]}).is(200)
		require.Equal(t, starts[7], moved.text("starts_at"))
		visitor.post(t, "/booking/manage", map[string]string{"token": first}).fails(410, "svc_token_expired")
		second := manageToken(t, booker, 2)
		require.NotEqual(t, first, second)
		require.Equal(t, "cancelled", visitor.post(t, "/booking/manage/cancel", map[string]string{"token": second, "reason": "ill"}).is(200).text("status"))
		visitor.post(t, "/booking/manage/cancel", map[string]string{"token": uuid.NewString()}).fails(400, "svc_invalid_token")
	})

	t.Run("the receiver has each event once, signed", func(t *testing.T) {
		ours := func(e received) bool {
			c, _ := e.Data["contact"].(map[string]any)
			return e.Event != "contact.created" || c["email"] == booker || c["email"] == writer
		}
		want := map[string]int{"contact.created": 2, "appointment.booked": 1, "appointment.rescheduled": 1, "appointment.cancelled": 1, "form.submitted": 1}
		eventually(t, func() bool {
			got := d.hook.events(ours)
			for event, n := range want {
				if len(got[event]) < n {
					return false
				}
			}
			return true
		}, "not all webhooks came")
		for event, ids := range d.hook.events(ours) {
			require.Len(t, ids, want[event], event)
			for id, n := range ids {
				require.Equal(t, 1, n, "%s %s", event, id)
			}
		}
		d.hook.none(t)
	})

	t.Run("what the receiver gets has the shape of the API's own answer", func(t *testing.T) {
		paths := map[string]string{"contact": "/contacts/", "appointment": "/appointments/", "submission": "/submissions/"}
		compared := map[string]bool{}
		d.hook.mu.Lock()
		events := slices.Clone(d.hook.received)
		d.hook.mu.Unlock()
		for _, e := range events {
			for record, path := range paths {
				sent, ok := e.Data[record].(map[string]any)
				if !ok {
					continue
				}
				var shown map[string]any
				require.NoError(t, json.Unmarshal([]byte(d.admin.get(t, path+sent["id"].(string)).is(200).Body), &shown))
				require.ElementsMatch(t, slices.Collect(maps.Keys(shown)), slices.Collect(maps.Keys(sent)), e.Event)
				require.Equal(t, shown["id"], sent["id"])
				require.Equal(t, shown["created_at"], sent["created_at"])
				for _, inside := range []string{"notes", "meeting_url", "cancel_reason"} {
					if value, ok := sent[inside]; ok {
						require.Empty(t, value, inside)
					}
				}
				compared[record] = true
			}
		}
		require.Len(t, compared, len(paths))
	})
}

func TestOf64VisitorsOnOneSlotOneWins(t *testing.T) {
	healthy(t)
	d := setUp(t)
	starts, token := d.slots(t)
	wait()
	answers := make([]*answer, 64)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = visitor.post(t, "/booking/book", d.booking(starts[10], token, address("racer"))) })
	}
	wg.Wait()
	won := 0
	for _, a := range answers {
		if a.Status == 201 {
			won++
			continue
		}
		a.fails(409, "svc_slot_taken")
		alternatives, _ := a.field("data.alternatives").([]any)
		require.NotEmpty(t, alternatives, a.Body)
		for _, alt := range alternatives {
			require.NotEqual(t, starts[10], alt.(map[string]any)["starts_at"])
		}
	}
	require.Equal(t, 1, won)
}

func TestAnAppThatIsSwitchedOffIsGoneAndComesBackWithItsData(t *testing.T) {
	healthy(t)
	d := setUp(t)
	t.Cleanup(func() { d.admin.call(t, "PATCH", "/apps/booking", map[string]bool{"enabled": true}).is(200) })
	for range 3 {
		d.admin.call(t, "PATCH", "/apps/booking", map[string]bool{"enabled": false}).is(200)
		for _, path := range []string{"/booking/services", "/services", "/services/" + d.service, "/appointments", "/calendar"} {
			for _, c := range []client{visitor, d.admin} {
				c.get(t, path).fails(404, "svc_no_route")
			}
		}
		visitor.post(t, "/booking/book", "{}").fails(404, "svc_no_route")
		visitor.get(t, "/nothing/here").fails(404, "svc_no_route")
		d.admin.get(t, "/contacts").is(200)
		d.admin.get(t, "/forms").is(200)
		d.admin.get(t, "/staff").is(200)
		require.NotContains(t, d.admin.get(t, "/openapi.json").is(200).Body, "/booking/book")
		d.admin.call(t, "PATCH", "/apps/booking", map[string]bool{"enabled": true}).is(200)
		d.admin.get(t, "/services/"+d.service).is(200)
	}
	d.admin.call(t, "PATCH", "/apps/contacts", map[string]bool{"enabled": false}).fails(409, "svc_conflict")
}

func TestARevokedKeyAndAnEndedSessionCountEverywhereWithinTwoSeconds(t *testing.T) {
	t.Parallel()
	healthy(t)
	d := setUp(t)
	person := signIn(t)
	key := person.post(t, "/me/application-passwords", map[string]string{"name": "short-lived"}).is(201)
	c := client{login: "admin", password: key.text("password")}
	paths := []string{"/contacts", "/services", "/forms", "/webhooks", "/settings/api-access"}
	for _, p := range paths {
		c.get(t, p).is(200)
		person.get(t, p).is(200)
	}
	person.call(t, "DELETE", "/me/application-passwords/"+key.text("id"), nil).is(204)
	person.post(t, "/auth/logout", nil).is(204)
	time.Sleep(2 * time.Second)
	for _, p := range paths {
		c.get(t, p).fails(401, "svc_unauthorized")
		person.get(t, p).fails(401, "svc_unauthorized")
	}
	d.admin.get(t, "/contacts").is(200)
}
