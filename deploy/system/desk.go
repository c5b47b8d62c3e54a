package system

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// Desk is a business that is set up: an administrator with a key, a service, hours, a form, a webhook.
type Desk struct {
	System  *System
	Admin   Client
	User    int64
	Service string
	Form    string
	Hook    *Receiver
}

// SignIn is the administrator in a browser, whom every service knows.
func (s *System) SignIn(t testing.TB) Client {
	t.Helper()
	login := s.Visitor().Post(t, "/auth/login", map[string]string{"login": "admin", "password": Password}).Is(200)
	for _, c := range (&http.Response{Header: login.Header}).Cookies() {
		if c.Name == "svc_session" {
			require.True(t, c.HttpOnly)
			return s.Visitor().With("Cookie", c.Name+"="+c.Value).Known(t)
		}
	}
	require.Fail(t, "no session cookie")
	return Client{}
}

// Known waits until every replica knows the credential of c, and returns c. Services wait 0.4 s for one that was just made; on a busy machine it takes
// longer to reach them. Processes that others have started, as containers, are asked through the gateway.
func (c Client) Known(t testing.TB) Client {
	t.Helper()
	now := c.system.Now(t)
	for service, path := range map[string]string{"settings": "/me", "booking": "/services", "forms": "/forms", "webhooks": "/webhooks", "contacts": "/contacts"} {
		urls := []string{now.Gateway}
		for name, p := range now.Processes {
			if name == service || strings.HasPrefix(name, service+"-") {
				urls = append(urls, p.URL)
			}
		}
		for _, url := range urls {
			Eventually(t, func() bool {
				a, err := c.TryAt(t.Context(), url, http.MethodGet, path, nil)
				return err == nil && a.Status != http.StatusUnauthorized && a.Status < http.StatusInternalServerError
			}, "the credential does not arrive")
		}
	}
	return c
}

// SetUp does what an administrator does on the first day.
func (s *System) SetUp(t testing.TB) Desk {
	t.Helper()
	person := s.SignIn(t)
	me := person.Get(t, "/me").Is(200)
	key := person.Post(t, "/me/application-passwords", map[string]string{"name": "integration " + uuid.NewString()[:8]}).Is(201)
	d := Desk{System: s, Admin: s.Visitor().As("admin", key.Text("password")).Known(t), User: int64(me.Field("user_id").(float64)), Hook: Listen(t)}

	d.Service = d.Admin.Post(t, "/services", map[string]any{"name": "Consultation " + uuid.NewString()[:8], "duration_min": 30,
		"staff": []int64{d.User}, "bookable_online": true, "location_type": "in_person", "location_details": "Main street 1"}).Is(201).Text("id")
	hours := map[string]any{}
	for day := 1; day <= 7; day++ {
		hours[fmt.Sprint(day)] = [][]string{{"08:00", "20:00"}}
	}
	d.Admin.Call(t, "PUT", fmt.Sprintf("/staff/%d/hours", d.User), map[string]any{"hours": hours}).Is(200)

	form := d.Admin.Post(t, "/forms", map[string]any{"name": "Contact " + uuid.NewString()[:8], "status": "publish", "definition": map[string]any{
		"elements": []any{
			map[string]any{"id": "first", "type": "field", "target": "contact.first_name", "label": "First name"},
			map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true},
			map[string]any{"id": "message", "type": "field", "target": "submission.fields.message", "label": "Message"},
		}}}).Is(201)
	d.Form = fmt.Sprint(form.Field("id"))

	created := d.Admin.Post(t, "/webhooks", map[string]any{"name": "Receiver", "url": d.Hook.URL + "/hook", "active": true, "events": []string{
		"contact.created", "appointment.booked", "appointment.rescheduled", "appointment.cancelled", "form.submitted"}}).Is(201)
	d.Hook.mu.Lock()
	d.Hook.secret = created.Text("secret")
	d.Hook.mu.Unlock()
	hook := created.Text("webhook.id")
	t.Cleanup(func() { d.Admin.Call(t, "DELETE", "/webhooks/"+hook, nil) })
	return d
}

// Slots are the free times of the service on the days from now on, with the time token. The first is left out: it may have passed
// when it is booked.
func (d Desk) Slots(t testing.TB) (starts []string, token string) {
	t.Helper()
	var a *Answer
	Eventually(t, func() bool {
		a = d.System.Visitor().Get(t, "/booking/slots?service="+d.Service)
		return a.Status == 200 && len(a.Items()) > 20
	}, "no free times")
	for _, s := range a.Items()[1:] {
		starts = append(starts, s["starts_at"].(string))
	}
	return starts, a.Text("token")
}

// Wait lasts until a time token is old enough: nobody fills in a form in less than three seconds.
func Wait() { time.Sleep(3100 * time.Millisecond) }

// Booking is the body of a visitor's booking.
func (d Desk) Booking(start, token, email string) map[string]any {
	return map[string]any{"service": d.Service, "starts_at": start, "token": token, "hp_url": "", "page": "https://example.com/",
		"values": map[string]string{"first_name": "Ada", "last_name": "Visitor", "email": email}}
}

// Submission is the body of a visitor's submission of the form.
func (d Desk) Submission(token, email string) map[string]any {
	return map[string]any{"token": token, "hp_url": "", "page": "https://example.com/contact",
		"values": map[string]string{"first": "Grace", "email": email, "message": "Good morning"}}
}

// FormToken is the time token of the form.
func (d Desk) FormToken(t testing.TB) string {
	t.Helper()
	var token string
	Eventually(t, func() bool {
		a := d.System.Visitor().Get(t, "/forms/"+d.Form+"/token")
		if a.Status == 200 {
			token = a.Text("token")
		}
		return a.Status == 200
	}, "no token")
	return token
}

// Address is one that nobody else has.
func Address(name string) string { return name + "." + uuid.NewString()[:8] + "@example.com" }

var manageLink = regexp.MustCompile(`/manage#token=([A-Za-z0-9_-]+)`)

// ManageToken is the one in the newest mail to an address, once there are so many mails.
func (s *System) ManageToken(t testing.TB, to string, count int) string {
	t.Helper()
	var got []Mail
	Eventually(t, func() bool { got = s.Mails(t, to); return len(got) >= count }, "no mail to "+to)
	m := manageLink.FindStringSubmatch(got[0].Text)
	require.NotNil(t, m, "no manage link in the mail: %s", got[0].Text)
	return m[1]
}

// Mails are those that went to an address, newest first.
func (s *System) Mails(t testing.TB, to string) []Mail {
	t.Helper()
	res, err := http.Get(s.Now(t).MailPage + "/api/mails?to=" + to)
	require.NoError(t, err)
	defer res.Body.Close()
	var l struct{ Items []Mail }
	require.NoError(t, json.NewDecoder(res.Body).Decode(&l))
	return l.Items
}

// Mail is one as the mail sink shows it.
type Mail struct {
	Subject, Text, HTML string
	Headers             map[string][]string
	Attachments         []Attachment
}

// Attachment is one of a mail.
type Attachment struct {
	ContentType string `json:"content_type"`
	URL         string `json:"url"`
}
