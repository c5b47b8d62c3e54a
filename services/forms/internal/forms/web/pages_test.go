package web_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/lang"
	"frontdesk/services/forms/internal/forms"
)

// site is a forms service with one published form that has every kind of element there is without custom fields.
type site struct {
	*apptest.Service
	t    *testing.T
	path string
	team *apptest.Client
}

const elements = `[
	{"id": "head", "type": "heading", "level": 2, "text": "About <you>"},
	{"id": "words", "type": "paragraph", "text": "Two\nlines"},
	{"id": "first", "type": "field", "target": "contact.first_name", "required": true, "width": "half"},
	{"id": "email", "type": "field", "target": "contact.email", "label": "Your \"email\"", "required": true, "help": "We answer here.", "placeholder": "name@example.com"},
	{"id": "when", "type": "field", "target": "submission.fields.when", "options": ["Morning", "Evening"]},
	{"id": "message", "type": "field", "target": "submission.fields.message"},
	{"id": "privacy", "type": "consent", "text": "You may keep this.", "purpose": "privacy", "required": true},
	{"id": "news", "type": "consent", "text": "Send me news.", "purpose": "newsletter", "marketing": true}]`

func start(t *testing.T, configure ...func(*app.Config)) site {
	t.Helper()
	s := apptest.Start(t, forms.Service, configure...)
	return site{t: t, Service: s, team: s.As("site_admin")}.publish()
}

// again is the site as start makes it, with a form of its own and without submissions, for one more case of a test.
func (s site) again(t *testing.T) site {
	t.Helper()
	s.t = t
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `delete from submission`)
	require.NoError(t, err)
	return s.publish()
}

func (s site) publish() site {
	s.t.Helper()
	made := s.team.Post("/forms", map[string]any{"name": "Ask us", "status": "publish", "definition": json.RawMessage(
		`{"elements": ` + elements + `, "submit_label": "Send it", "after_submit": {"type": "message", "message": "We will <call>."}}`)}).Is(201)
	id, ok := made.Field("id").(float64)
	require.True(s.t, ok)
	s.path = "/f/" + jsonText(s.t, id)
	return s
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	require.NoError(t, err)
	return string(b)
}

// page is an answer of the site.
type page struct {
	status int
	header http.Header
	body   string
}

var client = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func (s site) do(method, path string, form url.Values, headers ...string) page {
	s.t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	require.NoError(s.t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(s.t, err)
	require.Empty(s.t, res.Header.Values("Set-Cookie"), "visitors get no cookie")
	return page{res.StatusCode, res.Header, string(raw)}
}

var tokenInput = regexp.MustCompile(`name="token" value="([^"]+)"`)

// filled is the form as a browser sends it, once the person took their time.
func (s site) filled(change ...string) url.Values {
	s.t.Helper()
	m := tokenInput.FindStringSubmatch(s.do("GET", s.path, nil).body)
	require.NotNil(s.t, m)
	s.Travel(4 * time.Second)
	v := url.Values{"token": {m[1]}, "hp_url": {""}, "page": {"http://localhost:8080" + s.path}, "values.first": {"Ann"}, "values.email": {"ann@example.com"},
		"values.when": {"Evening"}, "values.message": {"Hello & <b>goodbye</b>"}, "values.privacy": {"true"}}
	for i := 0; i+1 < len(change); i += 2 {
		v.Del(change[i])
		if change[i+1] != "" {
			v.Set(change[i], change[i+1])
		}
	}
	return v
}

func TestAFormOnItsPage(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("a button that is pressed twice sends one submission", func(t *testing.T) {
		s := s.again(t)
		key := regexp.MustCompile(`name="key" value="([^"]+)"`).FindStringSubmatch(s.do("GET", s.path, nil).body)
		require.NotNil(t, key)
		in := s.filled("key", key[1])
		for range 2 {
			require.Equal(t, 303, s.do("POST", s.path, in).status)
		}
		var n int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `select count(*) from submission`).Scan(&n))
		require.Equal(t, 1, n)
	})
	t.Run("a form is sent without script", func(t *testing.T) {
		s := s.again(t)
		shown := s.do("GET", s.path, nil)
		require.Equal(t, 200, shown.status)
		for _, part := range []string{"<h1 class=\"title\">About &lt;you&gt;</h1>", "Your &#34;email&#34;", "We answer here.", "Send it", "You may keep this.", "<option>Evening</option>"} {
			require.Contains(t, shown.body, part)
		}
		require.Equal(t, "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			shown.header.Get("Content-Security-Policy"))
		require.NotRegexp(t, `(?i)<[^>]+\s(style|on[a-z]+)=|<style|<script>`, shown.body, "nothing that the policy refuses")

		sent := s.do("POST", s.path, s.filled("values.news", "true"))
		require.Equal(t, 303, sent.status)
		require.Equal(t, s.path+"?sent=1", sent.header.Get("Location"))
		require.Contains(t, s.do("GET", s.path+"?sent=1", nil).body, "We will &lt;call&gt;.")

		items := s.team.Get("/submissions").Is(200).Items()
		require.Len(t, items, 1)
		require.Equal(t, "http://localhost:8080"+s.path, items[0]["page"])
		require.Equal(t, map[string]any{"first": "Ann", "email": "ann@example.com", "when": "Evening", "message": "Hello & <b>goodbye</b>", "privacy": true, "news": true}, items[0]["values"])
	})
	t.Run("what was typed survives every error", func(t *testing.T) {
		s := s.again(t)
		kept := func(p page) {
			t.Helper()
			require.Contains(t, p.body, `value="Ann"`)
			require.Contains(t, p.body, `<option selected>Evening</option>`)
			require.Contains(t, p.body, `Hello &amp; &lt;b&gt;goodbye&lt;/b&gt;</textarea>`)
			require.Equal(t, 1, strings.Count(p.body, "autofocus"), "one thing is gone to")
			require.NotEqual(t, "", tokenInput.FindString(p.body))
		}
		one := s.do("POST", s.path, s.filled("values.email", "ann@"))
		require.Equal(t, 422, one.status)
		kept(one)
		require.Regexp(t, `id="svc-email"[^>]+value="ann@"[^>]+aria-invalid="true" autofocus`, one.body)
		require.Contains(t, one.body, "Enter an email address such as name@example.com.")

		two := s.do("POST", s.path, s.filled("values.email", "", "values.privacy", ""))
		require.Equal(t, 422, two.status)
		kept(two)
		require.Contains(t, two.body, `<a href="#svc-email">Your &#34;email&#34;: Please fill this in.</a>`)
		require.Contains(t, two.body, `<a href="#svc-privacy">You may keep this. Please tick this box to go on.</a>`)

		old := s.filled()
		s.Travel(13 * time.Hour)
		stale := s.do("POST", s.path, old)
		require.Equal(t, 422, stale.status)
		kept(stale)
		require.Contains(t, stale.body, "Your answers are still here")
		fresh := tokenInput.FindStringSubmatch(stale.body)[1]
		require.NotEqual(t, old.Get("token"), fresh)

		trapped := s.do("POST", s.path, s.filled("hp_url", "http://spam.example"))
		require.Equal(t, 422, trapped.status)
		kept(trapped)
		large := s.do("POST", s.path, s.filled("values.when", strings.Repeat("x", 300<<10)))
		require.Equal(t, 413, large.status)
		require.Empty(t, s.team.Get("/submissions").Is(200).Items())

		old.Set("token", fresh)
		s.Travel(4 * time.Second)
		require.Equal(t, 303, s.do("POST", s.path, old).status, "the same answers go through with the new token")
	})
	t.Run("new words of a consent are shown first", func(t *testing.T) {
		s := s.again(t)
		for i, language := range lang.Languages {
			t.Run(language, func(t *testing.T) {
				posted := s.filled("values.news", "true")
				words := "You may keep this, version " + strconv.Itoa(i) + "."
				s.change(regexp.MustCompile(`You may keep this[^"]*`).ReplaceAllString(elements, words))
				shown := s.do("POST", s.path+"?lang="+language, posted)
				require.Equal(t, 422, shown.status)
				require.Contains(t, html.UnescapeString(shown.body), text(t, "page", language, "form_changed"))
				require.Contains(t, shown.body, words)
				require.Contains(t, shown.body, `value="Ann"`)
				require.Contains(t, shown.body, `<option selected>Evening</option>`)
				require.NotContains(t, shown.body, " checked", "a consent is given anew")

				posted.Set("token", tokenInput.FindStringSubmatch(shown.body)[1])
				s.Travel(4 * time.Second)
				require.Equal(t, 303, s.do("POST", s.path+"?lang="+language, posted).status)
			})
		}
	})
	t.Run("a page says how to put each answer right in every language", func(t *testing.T) {
		s := s.again(t)
		s.change(`[{"id": "email", "type": "field", "target": "contact.email"}, {"id": "phone", "type": "field", "target": "contact.phone"},
			{"id": "site", "type": "field", "target": "organization.website"}, {"id": "org", "type": "field", "target": "organization.name"},
			{"id": "when", "type": "field", "target": "submission.fields.when", "options": ["Morning"]}, {"id": "first", "type": "field", "target": "contact.first_name"},
			{"id": "news", "type": "consent", "text": "Mail me.", "marketing": true}]`)
		const libs = "../../../../../libs/web"
		for _, language := range lang.Languages {
			for _, c := range []struct{ field, value, folder, key string }{
				{"email", "ann@", libs, "error_email"},
				{"phone", "call me", libs, "error_phone"},
				{"site", "javascript:alert(1)", libs, "error_url"},
				{"when", "Never", libs, "error_not_one_of"},
				{"first", strings.Repeat("x", 101), libs, "error_too_long"},
				{"first", "a\nb", libs, "error_other"},
				{"news", "true", libs + "/page", "error_address_needed"},
				{"news", "", libs + "/page", "error_empty"},
			} {
				t.Run(language+" "+c.key, func(t *testing.T) {
					m := tokenInput.FindStringSubmatch(s.do("GET", s.path, nil).body)
					s.Travel(4 * time.Second)
					v := url.Values{"token": {m[1]}, "hp_url": {""}, "page": {""}, "values." + c.field: {c.value}}
					if c.key != "error_empty" {
						v.Set("values.org", "Acme & Sons")
					}
					refused := s.do("POST", s.path+"?lang="+language, v)
					require.Equal(t, 422, refused.status)
					body := html.UnescapeString(refused.body)
					require.Contains(t, body, strings.ReplaceAll(text(t, c.folder, language, c.key), "{max}", "100"))
					require.Contains(t, body, text(t, libs+"/page", language, "label_contact_phone"), "the questions are in the visitor's language")
					if c.key != "error_empty" {
						require.Contains(t, refused.body, `value="Acme &amp; Sons"`)
					}
				})
			}
		}
	})
	t.Run("a form speaks the visitor's language", func(t *testing.T) {
		s := s.again(t)
		french := s.do("GET", s.path, nil, "Accept-Language", "fr-BE,fr;q=0.9")
		require.Contains(t, french.body, `<html lang="fr">`)
		require.Contains(t, french.body, "facultatif")
		require.Contains(t, s.do("GET", s.path+"?lang=de", nil, "Accept-Language", "fr").body, "freiwillig")
		sent := s.do("POST", s.path+"?lang=nl", s.filled())
		require.Equal(t, s.path+"?lang=nl&sent=1", sent.header.Get("Location"))
		wrong := s.do("POST", s.path+"?lang=nl", s.filled("values.email", "ann@"))
		require.Contains(t, wrong.body, "Geef een e-mailadres in")
	})
	t.Run("a form that leads on says where", func(t *testing.T) {
		s := s.again(t)
		s.team.Patch("/forms"+strings.TrimPrefix(s.path, "/f"), map[string]any{"definition": json.RawMessage(
			`{"elements": ` + elements + `, "after_submit": {"type": "redirect", "url": "https://thanks.example.com/a?b=c"}}`)}).Is(200)
		require.Equal(t, 303, s.do("POST", s.path, s.filled()).status)
		sent := s.do("GET", s.path+"?sent=1", nil)
		require.Equal(t, "1; url=https://thanks.example.com/a?b=c", sent.header.Get("Refresh"))
		require.Contains(t, sent.body, `href="https://thanks.example.com/a?b=c"`)
		require.Contains(t, sent.body, "Continue to thanks.example.com")
	})
	t.Run("the widget gets the form as the page shows it", func(t *testing.T) {
		s := s.again(t)
		s.team.Patch("/forms"+strings.TrimPrefix(s.path, "/f"), map[string]any{"definition": json.RawMessage(
			`{"elements": ` + elements + `, "style": {"button_background": "#123456", "button_icon": "heart"}}`)}).Is(200)
		got := s.do("GET", "/_ui/forms/form"+strings.TrimPrefix(s.path, "/f")+"?lang=nl", nil)
		require.Equal(t, 200, got.status)
		var fragment struct {
			HTML string
			Site struct {
				Look struct{ Vars map[string]string }
			}
		}
		require.NoError(t, json.Unmarshal([]byte(got.body), &fragment))
		require.Equal(t, "#123456", fragment.Site.Look.Vars["--svc-button-background"])
		require.Contains(t, fragment.HTML, `lang="nl"`)
		require.Contains(t, fragment.HTML, `data-field="email"`)
		require.Contains(t, fragment.HTML, "optioneel")
		require.Regexp(t, `<button[^>]+><svg`, fragment.HTML, "the icon of the style")
	})
}

// change replaces the elements of the site's form.
func (s site) change(elements string) {
	s.t.Helper()
	s.team.Patch("/forms"+strings.TrimPrefix(s.path, "/f"), map[string]any{"definition": json.RawMessage(`{"elements": ` + elements + `}`)}).Is(200)
}

// text is what the pages say in a language.
func text(t *testing.T, folder, language, key string) string {
	t.Helper()
	raw, err := os.ReadFile(folder + "/text/" + language + ".json")
	require.NoError(t, err)
	var words map[string]string
	require.NoError(t, json.Unmarshal(raw, &words))
	require.NotEmpty(t, words[key])
	return words[key]
}

func TestTooManyTriesAreToldHowLongToWait(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 1 })
	var last page
	for range 7 {
		last = s.do("POST", s.path, s.filled("values.email", "ann@"))
	}
	require.Equal(t, 429, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	require.Regexp(t, `Your answers are still here: please wait \d+ (seconds|minutes)`, last.body)
	require.Contains(t, last.body, `value="ann@"`)
}

func TestNothingIsThereThatVisitorsShouldNotSee(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := strings.TrimPrefix(s.path, "/f")
	gone := func() {
		t.Helper()
		for _, path := range []string{s.path, s.path + "?sent=1", "/_ui/forms/form" + id} {
			require.Equal(t, 404, s.do("GET", path, nil).status, path)
		}
		require.Equal(t, 404, s.do("POST", s.path, url.Values{}).status)
	}
	for _, path := range []string{"/f/999", "/f/x", "/f/0", "/f/99999999999999999999", "/_ui/forms/form/x", "/nowhere"} {
		require.Equal(t, 404, s.do("GET", path, nil).status, path)
	}
	s.Kit.Apps.Set(app.AppsState{Version: 1 << 40, Apps: []app.AppState{{ID: "forms"}}})
	gone()
	s.Kit.Apps.Set(app.AppsState{Version: 1<<40 + 1, Apps: []app.AppState{{ID: "forms", Enabled: true}}})
	s.team.Patch("/forms"+id, map[string]any{"status": "draft"}).Is(200)
	gone()
}
