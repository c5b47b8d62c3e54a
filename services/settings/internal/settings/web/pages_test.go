package web_test

import (
	"encoding/base32"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/until"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/settings"
)

type page struct {
	status int
	header http.Header
	body   string
}

var client = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func do(t *testing.T, s *apptest.Service, method, path string, form url.Values, headers ...string) page {
	t.Helper()
	req, err := http.NewRequest(method, s.URL+path, strings.NewReader(form.Encode()))
	require.NoError(t, err)
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NotEqual(t, 500, res.StatusCode)
	return page{res.StatusCode, res.Header, string(raw)}
}

func start(t *testing.T, configure ...func(*app.Config)) *apptest.Service {
	t.Helper()
	return apptest.Start(t, settings.Service, configure...)
}

const password = "correct horse battery" // of the first administrator in a test

// cookie is the session that an answer set.
func cookie(p page) string {
	value, _, _ := strings.Cut(p.header.Get("Set-Cookie"), ";")
	return value
}

func session(t *testing.T, s *apptest.Service, p page) *apptest.Client {
	t.Helper()
	require.Contains(t, p.header.Get("Set-Cookie"), "svc_session=")
	require.Contains(t, p.header.Get("Set-Cookie"), "HttpOnly")
	return s.Visitor().With("Cookie", cookie(p))
}

// mailedToken is the one that was mailed to somebody, once.
func mailedToken(t *testing.T, s *apptest.Service, to, path string) string {
	t.Helper()
	token := ""
	s.Eventually(func() bool {
		for _, e := range s.Events(proto.MailTopic) {
			var m proto.Mail
			require.NoError(t, protobuf.Unmarshal(e.GetData(), &m))
			if found := regexp.MustCompile(path + `#token=([A-Za-z0-9_-]+)`).FindStringSubmatch(m.GetText()); found != nil && m.GetTo() == to {
				require.Empty(t, token)
				token = found[1]
			}
		}
		return token != ""
	})
	return token
}

func hidden(t *testing.T, p page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(p.body)
	require.NotNil(t, m, name)
	return m[1]
}

func TestPeopleSignInOnAPageWithoutScript(t *testing.T) {
	t.Parallel()
	s := start(t)
	t.Run("people sign in without script", func(t *testing.T) {
		shown := do(t, s, "GET", "/account/sign-in", nil)
		require.Equal(t, 200, shown.status)
		require.Equal(t, "/account", hidden(t, shown, "next"))
		require.Empty(t, shown.header.Get("Set-Cookie"))

		wrong := do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {"guess"}})
		require.Equal(t, 422, wrong.status)
		require.Contains(t, wrong.body, `value="admin"`)
		require.NotContains(t, wrong.body, "guess")
		require.Empty(t, wrong.header.Get("Set-Cookie"))

		in := do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}})
		require.Equal(t, 303, in.status)
		require.Equal(t, "/account", in.header.Get("Location"))
		session(t, s, in).Get("/me").Is(200)
		require.Equal(t, "/account?lang=nl", do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}, "lang": {"nl"}}).header.Get("Location"))
	})
	t.Run("signing in leads nowhere else", func(t *testing.T) {
		for asked, leads := range map[string]string{
			"/team/contacts?tag=a": "/team/contacts?tag=a", "https://evil.example/": "/account", "//evil.example": "/account", "/\\evil.example": "/account",
			"javascript:alert(1)": "/account", "evil": "/account", "/a\r\nb": "/account", "/%09/evil.example": "/account", "/account/sign-in?next=/a": "/account",
		} {
			in := do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}, "next": {asked}})
			require.Equal(t, 303, in.status, asked)
			require.Equal(t, leads, in.header.Get("Location"), asked)
		}
	})
	t.Run("another site cannot sign people in", func(t *testing.T) {
		form := url.Values{"login": {"admin"}, "password": {password}}
		for _, headers := range [][]string{{"Origin", "https://evil.example"}, {"Origin", "null"}, {"Sec-Fetch-Site", "cross-site"}} {
			p := do(t, s, "POST", "/account/sign-in", form, headers...)
			require.Equal(t, 403, p.status, headers)
			require.Empty(t, p.header.Get("Set-Cookie"))
		}
	})
	t.Run("an invitation is accepted once", func(t *testing.T) {
		c := session(t, s, do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}}))
		c.Post("/staff", map[string]any{"name": "Bea", "email": "bea@example.com", "role": "staff"})
		token := mailedToken(t, s, "bea@example.com", "/account/invitation")

		require.Contains(t, do(t, s, "GET", "/account/invitation", nil).body, `autocomplete="new-password"`)
		short := do(t, s, "POST", "/account/invitation", url.Values{"token": {token}, "password": {"short"}})
		require.Equal(t, 422, short.status)
		require.Contains(t, short.body, "at least 8 characters.")
		require.Equal(t, token, hidden(t, short, "token"), "the token stays")
		wrong := do(t, s, "POST", "/account/invitation", url.Values{"token": {"nonsense"}, "password": {"long enough 1"}})
		require.Equal(t, 422, wrong.status)
		require.Contains(t, wrong.body, "This code is not right.")

		done := do(t, s, "POST", "/account/invitation", url.Values{"token": {"http://localhost:8080/account/invitation#token=" + token}, "password": {"long enough 1"}})
		require.Equal(t, 200, done.status, done.body)
		require.Contains(t, done.body, "Sign in as bea@example.com")
		require.Equal(t, 410, do(t, s, "POST", "/account/invitation", url.Values{"token": {token}, "password": {"long enough 2"}}).status)
		require.Equal(t, 303, do(t, s, "POST", "/account/sign-in", url.Values{"login": {"bea@example.com"}, "password": {"long enough 1"}}).status)
	})
	t.Run("the second factor is asked for in a second step", func(t *testing.T) {
		first := url.Values{"login": {"admin"}, "password": {password}, "next": {"/team/calendar"}}
		c := session(t, s, do(t, s, "POST", "/account/sign-in", first))
		secret := c.Post("/auth/two-factor", nil).Is(200).Text("secret")
		_, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
		require.NoError(t, err)
		code := func() string {
			code, err := totp.GenerateCode(secret, s.Now())
			require.NoError(t, err)
			return code
		}
		c.Post("/auth/two-factor/confirm", map[string]any{"code": code()}).Is(200)
		s.Travel(time.Minute)

		asks := do(t, s, "POST", "/account/sign-in", first)
		require.Equal(t, 200, asks.status)
		require.Contains(t, asks.body, `autocomplete="one-time-code"`)
		require.NotContains(t, asks.body, password)
		ticket := hidden(t, asks, "ticket")
		wrong := do(t, s, "POST", "/account/sign-in", url.Values{"ticket": {ticket}, "code": {"000000"}, "next": {"/team/calendar"}})
		require.Equal(t, 422, wrong.status)
		require.Contains(t, wrong.body, "This code is not right.")
		require.Equal(t, ticket, hidden(t, wrong, "ticket"))

		in := do(t, s, "POST", "/account/sign-in", url.Values{"ticket": {ticket}, "code": {code()}, "next": {"/team/calendar"}})
		require.Equal(t, 303, in.status)
		require.Equal(t, "/team/calendar", in.header.Get("Location"))
		session(t, s, in).Get("/me").Is(200)

		forged := do(t, s, "POST", "/account/sign-in", url.Values{"ticket": {"AAAA" + ticket}, "code": {code()}})
		require.Equal(t, 422, forged.status)
		require.Contains(t, forged.body, "sign in once more")
	})
}

func TestManyAttemptsToSignInHaveToWait(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *app.Config) { c.RateFactor = 0.2 }) // two attempts a minute
	var last page
	for range 3 {
		last = do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {"guess"}})
	}
	require.Equal(t, 429, last.status)
	require.NotEmpty(t, last.header.Get("Retry-After"))
	require.Contains(t, last.body, "Please wait")
	require.Contains(t, last.body, `value="admin"`)
}

func TestAForgottenPasswordIsReplaced(t *testing.T) {
	t.Parallel()
	s := start(t)
	nobody := do(t, s, "POST", "/account/password", url.Values{"step": {"forgot"}, "email": {"nobody@example.com"}})
	somebody := do(t, s, "POST", "/account/password", url.Values{"step": {"forgot"}, "email": {"admin@example.com"}})
	require.Equal(t, 200, somebody.status)
	require.Equal(t, strings.ReplaceAll(nobody.body, "nobody@", "admin@"), somebody.body, "the page does not tell who is known")
	require.Equal(t, 422, do(t, s, "POST", "/account/password", url.Values{"step": {"forgot"}, "email": {"admin"}}).status)

	token := mailedToken(t, s, "admin@example.com", "/account/password")
	short := do(t, s, "POST", "/account/password", url.Values{"step": {"reset"}, "token": {token}, "password": {"short"}})
	require.Equal(t, 422, short.status)
	require.Equal(t, token, hidden(t, short, "token"))
	require.Contains(t, do(t, s, "POST", "/account/password", url.Values{"step": {"reset"}, "token": {token}, "password": {"another horse"}}).body, "Your password has changed")
	used := do(t, s, "POST", "/account/password", url.Values{"step": {"reset"}, "token": {token}, "password": {"another horse"}})
	require.Equal(t, 410, used.status)
	require.Contains(t, used.body, "Ask for a new link")
	require.Equal(t, 422, do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}}).status)
	require.Equal(t, 303, do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {"another horse"}}).status)
}

func TestPagesOfTheSiteShowWidgets(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := session(t, s, do(t, s, "POST", "/account/sign-in", url.Values{"login": {"admin"}, "password": {password}}))
	c.Post("/pages", map[string]any{"title": "Visit", "slug": "visit", "status": "publish", "content": "One [svc-form id=3] two\n\n\n[svc-form]\n[svc-booking staff='7']<script>"}).Is(201)
	shown := do(t, s, "GET", "/visit?lang=fr", nil)
	require.Equal(t, 200, shown.status)
	require.Regexp(t, `(?s)<p class="pre">One</p>\s*<svc-form form="3" lang="fr">.*href="/f/3\?lang=fr".*<p class="pre">two</p>\s*<p class="pre">\[svc-form\]</p>\s*<svc-booking lang="fr" staff="7"><noscript>.*&lt;script&gt;`, shown.body)
	require.Equal(t, 404, do(t, s, "GET", "/nowhere", nil).status)
	require.Contains(t, do(t, s, "GET", "/nowhere?lang=de", nil).body, `href="/?lang=de"`, "it leads on")
	c.Patch("/settings/portal", map[string]any{"booking_page": true}).Is(200)
	until.Holds(t, func() bool {
		return strings.Contains(do(t, s, "GET", "/visit", nil).body, `href="http://localhost:8080/team/book?staff=7"`)
	}, 5*time.Second, 10*time.Millisecond)
	require.Contains(t, do(t, s, "GET", "/visit?lang=nl", nil).body, `href="http://localhost:8080/team/book?lang=nl&amp;staff=7"`, "the language goes along")
	require.Contains(t, shown.body, `<meta name="description" content="One">`)

	c.Post("/pages", map[string]any{"title": "Draft", "slug": "draft"}).Is(201)
	robots := do(t, s, "GET", "/robots.txt", nil)
	require.Contains(t, robots.body, "Sitemap: http://localhost:8080/sitemap.xml")
	listed := do(t, s, "GET", "/sitemap.xml", nil)
	require.Contains(t, listed.body, "<loc>http://localhost:8080/visit</loc>")
	require.Contains(t, listed.body, "<loc>http://localhost:8080/team/book</loc>")
	require.NotContains(t, listed.body, "draft")
	require.Equal(t, "/account/password", do(t, s, "GET", "/.well-known/change-password", nil).header.Get("Location"))
}

func TestMachinesReadTheDocsAsMarkdown(t *testing.T) {
	t.Parallel()
	s := start(t)
	index := do(t, s, "GET", "/v1/docs/llms.txt", nil)
	require.Equal(t, "text/plain; charset=utf-8", index.header.Get("Content-Type"))
	require.Regexp(t, `^# .+\n\n> `, index.body)
	links := regexp.MustCompile(`\]\(http://localhost:8080(/v1/docs[^)]*)\)`).FindAllStringSubmatch(index.body, -1)
	require.Greater(t, len(links), 40)
	fenced := regexp.MustCompile("(?s)```.*?```")
	for _, l := range links {
		got := do(t, s, "GET", l[1], nil)
		require.Equal(t, 200, got.status, l[1])
		require.Equal(t, "text/markdown; charset=utf-8", got.header.Get("Content-Type"), l[1])
		require.Regexp(t, `(?m)^# `, got.body, l[1])
		require.NotRegexp(t, `</?(p|a|dl|dt|form|svg|h1)\b`, fenced.ReplaceAllString(got.body, ""), l[1])
	}
	guide := do(t, s, "GET", "/v1/docs/guides/first-call.md", nil).body
	require.Contains(t, guide, "# First call")
	require.Contains(t, guide, "```\ncurl -s -u \"$LOGIN:$KEY\" http://localhost:8080/v1/me\n```")
	require.Contains(t, guide, "[reference](http://localhost:8080/v1/docs/reference.md)")
	operation := do(t, s, "GET", "/v1/docs/reference/update-general-settings.md", nil).body
	require.Contains(t, operation, "`PATCH /settings/general`")
	require.Regexp(t, `(?m)^- If-Match header: .+`, operation)
	require.NotContains(t, operation, "Try it")
	require.Equal(t, `<http://localhost:8080/v1/docs/reference.md>; rel="alternate"; type="text/markdown"`, do(t, s, "GET", "/v1/docs/reference", nil).header.Get("Link"))
	for _, path := range []string{"/v1/docs.md", "/v1/docs/.md", "/v1/docs/guides/nothing.md", "/v1/docs/reference/nothing.md"} {
		require.Equal(t, 404, do(t, s, "GET", path, nil).status, path)
	}
}

func TestAnOperatorSaysWhereWeaknessesAreReportedAndWhatRobotsMayRead(t *testing.T) {
	t.Parallel()
	require.Equal(t, 404, do(t, start(t), "GET", "/.well-known/security.txt", nil).status)
	s := start(t, func(c *app.Config) {
		c.SecurityContact = []string{"mailto:o'hara@example.com", "https://example.com/report"}
		c.Robots = "User-agent: *\nDisallow: /"
	})
	text := do(t, s, "GET", "/.well-known/security.txt", nil)
	require.Equal(t, "text/plain; charset=utf-8", text.header.Get("Content-Type"))
	lines := strings.Split(text.body, "\n")
	require.Equal(t, []string{"Contact: mailto:o'hara@example.com", "Contact: https://example.com/report"}, lines[:2])
	expires, err := time.Parse(time.RFC3339, strings.TrimPrefix(lines[2], "Expires: "))
	require.NoError(t, err)
	require.WithinRange(t, expires, s.Now().AddDate(0, 1, 0), s.Now().AddDate(1, 0, 0))
	require.Equal(t, []string{"Preferred-Languages: en, nl, fr, de", "Canonical: http://localhost:8080/.well-known/security.txt", ""}, lines[3:])
	require.Equal(t, "User-agent: *\nDisallow: /\n", do(t, s, "GET", "/robots.txt", nil).body)
}

func TestAnAddressThatNoTextHoldsIsNotThere(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/%00", "/%ff", "/a%00b", "/%c3%28"} {
		require.Equal(t, 404, do(t, s, "GET", path, nil).status, path)
	}
	require.Equal(t, "GET, HEAD, POST", do(t, s, "DELETE", "/account/sign-in", nil).header.Get("Allow"))
}
