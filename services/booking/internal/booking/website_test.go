package booking

import (
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// browser visits pages without script: it follows links and sends forms.
type browser struct {
	*office
	header http.Header
}

type shown struct {
	status int
	text   string
	header http.Header
	t      testing.TB
}

func (b browser) visit(method, path string, form url.Values) shown {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.URL+path, strings.NewReader(form.Encode()))
	require.NoError(b.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for k, v := range b.header {
		req.Header[k] = v
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(b.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(b.t, err)
	return shown{res.StatusCode, string(raw), res.Header, b.t}
}

func (b browser) get(path string) shown { b.t.Helper(); return b.visit("GET", path, nil) }
func (b browser) post(path string, form url.Values) shown {
	b.t.Helper()
	return b.visit("POST", path, form)
}

func (s shown) is(status int) shown {
	s.t.Helper()
	require.Equal(s.t, status, s.status, s.text)
	return s
}

func (s shown) says(texts ...string) shown {
	s.t.Helper()
	for _, text := range texts {
		require.Contains(s.t, html.UnescapeString(s.text), text)
	}
	return s
}

// link is the first link whose address has all parts.
func (s shown) link(parts ...string) string {
	s.t.Helper()
next:
	for _, m := range regexp.MustCompile(`href="([^"]*)"`).FindAllStringSubmatch(s.text, -1) {
		address := html.UnescapeString(m[1])
		for _, part := range parts {
			if !strings.Contains(address, part) {
				continue next
			}
		}
		return address
	}
	require.Fail(s.t, "no link", "%v in %s", parts, s.text)
	return ""
}

var input = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)

// form is what the page's hidden inputs hold.
func (s shown) form() url.Values {
	v := url.Values{}
	for _, m := range input.FindAllStringSubmatch(s.text, -1) {
		v.Set(m[1], html.UnescapeString(m[2]))
	}
	return v
}

func website(t *testing.T, configure ...func(*app.Config)) browser {
	b := browser{open9to5(t, nil, configure...), nil}
	b.SetSite("portal", object{"path": "team", "booking_page": true})
	return b
}

func (b browser) again(t *testing.T) browser {
	t.Helper()
	return browser{b.office.again(t, nil), nil}
}

func TestTheBookingPageWithoutScript(t *testing.T) {
	t.Parallel()
	b := website(t)
	t.Run("a question of the form may be called location", func(t *testing.T) {
		b := b.again(t)
		b.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "9", Version: 1, Data: object{"id": 9, "status": "publish", "definition": object{"elements": []object{
			{"id": "email", "type": "field", "target": "contact.email", "required": true},
			{"id": "location", "type": "field", "target": "submission.fields.location", "label": "Which of our shops?", "required": true}}}}})
		b.Settle()
		for day, place := range []string{"in_person", "client"} {
			b.admin.Patch("/services/"+b.service, object{"form_id": 9, "location_type": place}).Is(200)
			details := b.get("/team/book?service=" + b.service + "&at=" + url.QueryEscape(stamp(b.at(2+day, "10:00")))).is(200).says("Which of our shops?")
			b.Travel(4 * time.Second)
			form := details.form()
			form.Set("values.email", "bea@example.com")
			b.post("/team/book", form).is(400)
			form.Set("values.location", "Gent")
			if place == "client" {
				b.post("/team/book", form).is(400).says("Your address")
				form.Set("values..location", "Kerkstraat 1")
			}
			form.Set("key", place)
			b.post("/team/book", form).is(200)
		}
		booked := b.admin.Get("/appointments").Is(200).Items()
		require.Equal(t, "Kerkstraat 1", booked[1]["location"])
		for _, e := range b.Events(proto.FormsCommandTopic) {
			var c proto.RecordSubmission
			require.NoError(t, protobuf.Unmarshal(e.GetData(), &c))
			require.JSONEq(t, `{"email": "bea@example.com", "location": "Gent"}`, string(c.GetValues()))
		}
	})
	t.Run("the widget asks what the page asks", func(t *testing.T) {
		b := b.again(t)
		b.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "9", Version: 1, Data: object{"id": 9, "status": "publish", "definition": object{"elements": []object{
			{"id": "head", "type": "heading", "text": "About you"},
			{"id": "email", "type": "field", "target": "contact.email", "required": true, "help": "To answer you."},
			{"id": "when", "type": "field", "target": "submission.fields.when", "options": []string{"Morning", "Evening"}},
			{"id": "ok", "type": "consent", "text": "You may keep this.", "purpose": "privacy", "required": true}}}}})
		b.Settle()
		b.admin.Patch("/services/"+b.service, object{"form_id": 9, "location_type": "client"}).Is(200)
		for _, language := range []string{"en", "nl"} {
			var asked struct{ HTML, Words string }
			require.NoError(t, json.Unmarshal([]byte(b.get("/_ui/booking/questions.json?service="+b.service+"&lang="+language).is(200).text), &asked))
			require.NotEmpty(t, asked.Words)
			require.Contains(t, asked.HTML, `name="values.when"`)
			details := b.get("/team/book?lang=" + language + "&service=" + b.service + "&at=" + url.QueryEscape(stamp(b.at(2, "10:00")))).is(200)
			require.Contains(t, details.text, asked.HTML)
		}
		b.get("/_ui/booking/questions.json?service=nobody").is(404)
	})
	t.Run("a visitor books moves and cancels without script", func(t *testing.T) {
		b := b.again(t)
		start := b.get("/team/book").is(200).says("Choose a day and time", "Times are in Brussels time.", "Intake", `"openingHoursSpecification":[{"@type":"OpeningHoursSpecification","dayOfWeek":"Monday"`)
		require.Empty(t, start.header.Get("Set-Cookie"))
		details := b.get(start.link("at=")).is(200).says("Your details", "First name", "Book")
		b.Travel(4 * time.Second)

		form := details.form()
		booked := form.Get("at")
		form.Set("values.first_name", "Bea <b>")
		form.Set("values.email", "not an address")
		wrong := b.post("/team/book", form).is(400).says("Enter an email address", `value="Bea <b>"`, `aria-invalid="true" autofocus`)
		require.NotContains(t, wrong.text, "<b>")
		form = wrong.form()
		form.Set("values.first_name", "Bea")
		form.Set("values.email", "bea@example.com")
		done := b.post("/team/book", form).is(200).says("Your appointment is booked", "bea@example.com", "Kerkstraat 1, Gent")
		require.Equal(t, done.text, b.post("/team/book", form).is(200).text, "sending it again books nothing more")
		require.Equal(t, 1, len(b.admin.Get("/appointments?from="+b.Now().Format("2006-01-02")+"&to="+b.Now().AddDate(0, 0, 40).Format("2006-01-02")).Is(200).Items()))

		token := linkIn(t, b.lastMail("bea@example.com"))
		require.NotContains(t, b.get("/manage").is(200).says("Link or code").text, "Intake")
		open := b.post("/manage", url.Values{"token": {"http://localhost:8080/manage#token=" + token}}).is(200).says("Intake", "This appointment is confirmed.", "Move")
		form = open.form()
		form.Set("do", "move")
		months := b.post("/manage", form).is(200).says("Choose a new time")
		times := regexp.MustCompile(`name="at" value="([^"]+)"`).FindAllStringSubmatch(months.text, -1)
		require.NotEmpty(t, times)
		require.NotContains(t, months.text, `value="`+booked+`"`, "its own time is no move")
		form.Set("at", times[len(times)-1][1])
		form = b.post("/manage", form).is(200).says("Move your appointment?").form()
		form.Set("do", "move-now")
		b.post("/manage", form).is(200).says("Your appointment is moved", "new link")
		b.post("/manage", url.Values{"token": {token}}).is(410).says("This link is no longer valid", "office@example.com")

		form = b.post("/manage", url.Values{"token": {linkIn(t, b.lastMail("bea@example.com"))}, "do": {"cancel"}}).is(200).says("Cancel this appointment?", "cannot be undone").form()
		form.Set("do", "cancel-now")
		form.Set("reason", "I am ill")
		b.post("/manage", form).is(200).says("Your appointment is cancelled")
		b.post("/manage", url.Values{"token": {"nonsense"}}).is(400).says("We do not know this link", "Link or code")
	})
	t.Run("a time that was taken leads to the nearest ones and keeps what was typed", func(t *testing.T) {
		b := b.again(t)
		form := b.get(b.get("/team/book?lang=nl").link("at=")).is(200).says("Uw gegevens").says("tijd in Brussel<").form()
		b.Travel(4 * time.Second)
		other := url.Values{}
		for k, v := range form {
			other[k] = v
		}
		other.Set("values.email", "first@example.com")
		other.Set("key", "another")
		b.post("/team/book", other).is(200)
		form.Set("values.email", "second@example.com")
		form.Set("values.message", "I park outside.")
		taken := b.post("/team/book", form).is(409).says("Dat tijdstip is net ingenomen", "I park outside.", `value="second@example.com"`)
		near := regexp.MustCompile(`name="instead" value="([^"]+)"`).FindStringSubmatch(taken.text)
		require.NotNil(t, near)
		form = taken.form()
		form.Set("values.email", "second@example.com")
		form.Set("instead", near[1])
		b.post("/team/book", form).is(200).says("Uw afspraak is geboekt")
	})
	t.Run("what keeps a visitor from booking is said without losing anything", func(t *testing.T) {
		b := b.again(t)
		form := b.get(b.get("/team/book").link("at=")).form()
		form.Set("values.email", "bea@example.com")
		again := b.post("/team/book", form).is(400).says("Please press the button once more", `value="bea@example.com"`).form()
		require.NotEqual(t, form.Get("token"), again.Get("token"))
		b.Travel(4 * time.Second)
		again.Set("values.email", "bea@example.com")
		b.admin.Patch("/settings/booking", object{"max_open_bookings": 1}).Is(200)
		b.post("/team/book", again).is(200)
		next := b.get(b.get("/team/book").link("at=")).form()
		b.Travel(4 * time.Second)
		next.Set("values.email", "bea@example.com")
		b.post("/team/book", next).is(409).says("You already have several bookings ahead", "Praktijk Jansen can still book for you", `value="bea@example.com"`)
	})
	t.Run("the manage page follows the rules for changes", func(t *testing.T) {
		b := b.again(t)
		form := b.get(b.get("/team/book").link("at=")).form()
		b.Travel(4 * time.Second)
		form.Set("values.email", "bea@example.com")
		b.post("/team/book", form).is(200)
		token := url.Values{"token": {linkIn(t, b.lastMail("bea@example.com"))}}

		b.admin.Patch("/settings/booking", object{"client_changes": false}).Is(200)
		page := b.post("/manage", token).is(200).says("Appointments cannot be changed online", "office@example.com")
		require.NotContains(t, page.text, `value="cancel"`)
		b.admin.Patch("/settings/booking", object{"client_changes": true, "cancel_notice_hours": 720, "late_cancel_text": "Call us before ten."}).Is(200)
		b.post("/manage", token).is(200).says("Call us before ten.")
		form = url.Values{"token": token["token"], "do": {"cancel-now"}}
		b.post("/manage", form).is(409).says("It is too late to change this online", "Call us before ten.")
	})
	t.Run("the page asks who is called for a number", func(t *testing.T) {
		b := b.again(t)
		b.admin.Patch("/services/"+b.service, object{"location_type": "phone"}).Is(200)
		form := b.get(b.get("/team/book?lang=en").link("at=")).form()
		b.Travel(4 * time.Second)
		form.Set("values.email", "bea@example.com")
		b.post("/team/book", form).is(400)
		form.Set("values.phone", "0470 11 22 33")
		b.post("/team/book", form).is(200)
		b.Send(apptest.Event{Topic: proto.FormTopic, Kind: proto.KindFormCreated, Key: "7", Version: 1, Data: object{"id": 7, "status": "publish",
			"definition": object{"elements": []object{{"id": "mail", "type": "field", "target": "contact.email", "required": true}}}}})
		b.Settle()
		b.admin.Patch("/settings/booking", object{"form_id": 7}).Is(200)
		page := b.get(b.get("/team/book?lang=en").link("at=")).says("Your phone number", "We call you on it.", `type="tel"`)
		form = page.form()
		b.Travel(4 * time.Second)
		form.Set("values.mail", "bob@example.com")
		b.post("/team/book", form).is(400)
		form.Set("values..location", "0470 44 55 66")
		b.post("/team/book", form).is(200)
	})
	t.Run("every time that the manage page offers can be had, whatever became of the service", func(t *testing.T) {
		b := b.again(t)
		b.admin.Patch("/services/"+b.service, object{"duration_min": 30}).Is(200)
		token := b.managed("bea@example.com")
		b.admin.Patch("/services/"+b.service, object{"duration_min": 45, "bookable_online": false}).Is(200)
		page := b.post("/manage", url.Values{"token": {token}, "do": {"move"}}).is(200)
		offered := regexp.MustCompile(`name="at" value="([^"]+)"`).FindAllStringSubmatch(page.text, -1)
		require.NotEmpty(t, offered)
		for _, at := range offered {
			b.post("/manage", url.Values{"token": {token}, "do": {"move-now"}, "at": {at[1]}}).is(200)
			token = linkIn(t, b.lastMail("bea@example.com"))
		}
	})
	t.Run("the manage page shows only what it held itself for this link", func(t *testing.T) {
		b := b.again(t)
		token, other := b.managed("bea@example.com"), b.managed("bob@example.com")
		held := b.post("/manage", url.Values{"token": {token}}).is(200).form().Get("held")
		require.NotEmpty(t, held)
		forged := base64.RawURLEncoding.EncodeToString([]byte(`{"status":"confirmed","service":{"name":"Pay at evil.example"}}`))
		swapped := []byte(held)
		swapped[len(swapped)-9] ^= 1
		for name, c := range map[string]struct {
			token, held string
			status      int
		}{
			"its own":             {token, held, 200},
			"of another link":     {other, held, 200}, // looked up anew
			"of no link":          {"nonsense", held, 400},
			"written by somebody": {"nonsense", forged, 400},
			"changed":             {"nonsense", string(swapped), 400},
			"too short":           {"nonsense", "AAAA", 400},
		} {
			t.Run(name, func(t *testing.T) {
				page := b.post("/manage", url.Values{"token": {c.token}, "held": {c.held}, "do": {"cancel"}}).is(c.status)
				require.NotContains(t, page.text, "evil")
			})
		}
		b.admin.Patch("/settings/booking", object{"cancel_notice_hours": 0}).Is(200)
		b.Travel(31 * time.Minute)
		b.exec(`update manage_token set ended = true`)
		b.post("/manage", url.Values{"token": {token}, "held": {held}, "do": {"cancel"}}).is(410)
	})
	t.Run("forms of other sites do not reach the manage page", func(t *testing.T) {
		b := b.again(t)
		token := url.Values{"token": {b.managed("bea@example.com")}, "do": {"cancel-now"}}
		for language, says := range map[string]string{"en": "did not come from our own page", "nl": "niet van onze eigen pagina", "fr": "notre propre page", "de": "unserer eigenen Seite"} {
			t.Run(language, func(*testing.T) {
				token.Set("lang", language)
				b.header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
				b.post("/manage", token).is(403).says(says)
				b.header = http.Header{"Origin": {"https://evil.example"}}
				b.post("/manage", token).is(403).says(says)
			})
		}
		require.Equal(t, "confirmed", b.admin.Get("/appointments").Is(200).Text("items.0.status"))
		b.header = http.Header{"Sec-Fetch-Site": {"same-origin"}}
		b.post("/manage", token).is(200)
	})
	t.Run("a reason of five hundred characters may have lines", func(t *testing.T) {
		b := b.again(t)
		token := b.managed("bea@example.com")
		reason := strings.Repeat("I am ill.\n", 50)
		require.Len(t, reason, 500)
		b.post("/manage", url.Values{"token": {token}, "do": {"cancel-now"}, "reason": {strings.ReplaceAll(reason, "\n", "\r\n")}}).is(200)
		require.Equal(t, strings.TrimSpace(reason), b.admin.Get("/appointments/"+b.admin.Get("/appointments").Is(200).Text("items.0.id")).Is(200).Text("cancel_reason"))
	})
	t.Run("the mail is in the language of the page", func(t *testing.T) {
		b := b.again(t)
		for language, subject := range map[string]string{"en": "Your appointment is confirmed", "nl": "Uw afspraak is bevestigd", "fr": "Votre rendez-vous est confirmé", "de": "Ihr Termin ist bestätigt"} {
			t.Run(language, func(t *testing.T) {
				form := b.get(b.get("/team/book?lang=" + language).link("at=")).form()
				b.Travel(4 * time.Second)
				form.Set("values.email", language+"@example.com")
				b.post("/team/book", form).is(200)
				require.Contains(t, b.lastMail(language+"@example.com").GetSubject(), subject)
			})
		}
	})
}

func TestRequestsAreLimitedAndSaySoOnThePage(t *testing.T) {
	t.Parallel()
	b := website(t, func(c *app.Config) { c.RateFactor = 1 })
	form := b.get(b.get("/team/book").link("at=")).form()
	form.Set("values.email", "bea@example.com")
	var last shown
	for range 6 {
		last = b.post("/team/book", form)
	}
	last.is(429).says("That was a bit fast. Please wait", `value="bea@example.com"`)
}

func TestTheBookingPageStandsWhereThePortalDoes(t *testing.T) {
	t.Parallel()
	b := website(t)
	b.get("/staff/book").is(404).says("This page does not exist")
	b.get("/book").is(404)
	b.SetSite("portal", object{"path": "staff", "booking_page": true, "host": "agenda.example.com", "host_active": true})
	b.get("/staff/book").is(200)
	b.get("/team/book").is(404)
	b.SetSite("portal", object{"path": "staff", "booking_page": false})
	b.get("/staff/book").is(404)
	b.SetSite("portal", object{"path": "staff", "booking_page": true})
	b.SetApp("booking", false)
	b.get("/staff/book").is(404)
	b.get("/manage").is(404)
	b.get("/_ui/booking/widget.json").is(404)
	b.get("/_ui/booking/questions.json?service=" + b.service).is(404)
	b.get("/_ui/booking/card.css").is(200)
}

func TestTheWidgetGetsServicesAndStyleFromAnySite(t *testing.T) {
	t.Parallel()
	b := website(t)
	b.SetSite("form-style", object{"button_background": "#0a7a5a", "font": "svc:lora"})
	b.get("/_ui/booking/widget.json").is(200).says(`"--svc-button-background":"#0a7a5a"`, `"name":"Intake"`, `"timezone":"Europe/Brussels"`)
	b.get("/_ui/booking/style.css").is(200).says("--svc-button-background:#0a7a5a")
}

// managed books as a visitor, and gives the token of the mail.
func (b browser) managed(email string) string {
	b.t.Helper()
	form := b.get(b.get("/team/book?lang=en").link("at=")).form()
	b.Travel(4 * time.Second)
	form.Set("values.email", email)
	b.post("/team/book", form).is(200)
	return linkIn(b.t, b.lastMail(email))
}
