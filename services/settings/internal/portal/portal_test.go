package portal_test

import (
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/settings"
)

var client = http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

func get(t *testing.T, s *apptest.Service, path, cookie string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, s.URL+path, nil)
	require.NoError(t, err)
	if cookie != "" {
		req.Header.Set("Cookie", cookie)
	}
	res, err := client.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

// signIn signs the first administrator in, in the portal or not, and returns the cookie once the session counts.
func signIn(t *testing.T, s *apptest.Service, portal bool) string {
	t.Helper()
	return signInAs(t, s, "admin", "correct horse battery", portal)
}

func signInAs(t *testing.T, s *apptest.Service, login, password string, portal bool) string {
	t.Helper()
	a := s.Visitor().Post("/auth/login", map[string]any{"login": login, "password": password, "portal": portal}).Is(200)
	cookie, _, _ := strings.Cut(a.Header.Get("Set-Cookie"), ";")
	s.Eventually(func() bool { return s.Visitor().With("Cookie", cookie).Get("/me").Status == 200 })
	return cookie
}

func TestThePortalStandsAtItsPathForStaff(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, settings.Service)
	t.Run("staff is sent from the administration to the portal", func(t *testing.T) {
		adminCookie := signIn(t, s, false)
		admin := s.Visitor().With("Cookie", adminCookie)
		admin.Patch("/settings/portal", map[string]any{"staff_out": true}).Is(200)
		admin.Post("/staff", map[string]any{"name": "Bea", "email": "bea@example.com", "role": "staff"})
		token := ""
		s.Eventually(func() bool {
			for _, e := range s.Events(proto.MailTopic) {
				var m proto.Mail
				require.NoError(t, protobuf.Unmarshal(e.GetData(), &m))
				if found := regexp.MustCompile(`/account/invitation#token=([A-Za-z0-9_-]+)`).FindStringSubmatch(m.GetText()); found != nil {
					token = found[1]
				}
			}
			return token != ""
		})
		s.Visitor().Post("/auth/invitation", map[string]any{"token": token, "password": "long enough 1"})
		staff := signInAs(t, s, "bea@example.com", "long enough 1", false)

		s.Eventually(func() bool {
			res, _ := get(t, s, "/admin/contacts?status=lead", staff)
			return res.StatusCode == 303 && res.Header.Get("Location") == "/team/contacts?status=lead"
		})
		res, _ := get(t, s, "/team/contacts", staff)
		require.Equal(t, 200, res.StatusCode)
		res, _ = get(t, s, "/admin/contacts", adminCookie)
		require.Equal(t, 200, res.StatusCode, "an administrator stays")

		var id int64
		require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), `update person set roles = array['svc_admin', 'editor'] where email = 'bea@example.com' returning id`).Scan(&id))
		admin.Put("/staff/"+strconv.FormatInt(id, 10)+"/role", map[string]any{"role": "staff"}).Is(200)
		admin.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{"svc_view_contacts", "svc_manage_integrations"}}).Is(200)
		s.Eventually(func() bool { res, _ := get(t, s, "/admin/contacts", staff); return res.StatusCode == 200 })
		admin.Patch("/settings/roles/editor", map[string]any{"capabilities": []string{}}).Is(200)
		s.Eventually(func() bool { res, _ := get(t, s, "/admin/contacts", staff); return res.StatusCode == 303 })
	})
	t.Run("the portal stands at its path", func(t *testing.T) {
		cookie := signIn(t, s, true)
		admin := s.Visitor().With("Cookie", cookie)

		for path, next := range map[string]string{"/team": "%2Fteam", "/team/contacts?status=lead": "%2Fteam%2Fcontacts%3Fstatus%3Dlead", "/admin": "%2Fadmin"} {
			res, _ := get(t, s, path, "")
			require.Equal(t, 303, res.StatusCode, path)
			require.Equal(t, "/account/sign-in?next="+next, res.Header.Get("Location"))
		}
		for _, path := range []string{"/team", "/team/contacts", "/admin", "/admin/contacts"} {
			res, _ := get(t, s, path, cookie)
			require.Equal(t, 200, res.StatusCode, path)
		}
		res, _ := get(t, s, "/teams", cookie)
		require.Equal(t, 404, res.StatusCode)

		admin.Patch("/settings/portal", map[string]any{"path": "desk"}).Is(200)
		s.Eventually(func() bool { res, _ := get(t, s, "/desk/contacts", cookie); return res.StatusCode == 200 })
		res, _ = get(t, s, "/team", cookie)
		require.Equal(t, 404, res.StatusCode)
	})
}

// begins is what the program of a page begins with.
type begins struct {
	Base, Zone, Live string
	Session          struct{ Login, Channel string }
	Apps             struct{ Items []struct{ ID string } }
}

func startOf(t *testing.T, page string) (start begins) {
	t.Helper()
	content := regexp.MustCompile(`name="portal" content="([^"]*)"`).FindStringSubmatch(page)
	require.NotNil(t, content)
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(content[1])), &start))
	return start
}

func TestThePageAllowsNothingFromElsewhereAndIsAsThePersonChose(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, settings.Service)
	t.Run("the page allows nothing from elsewhere", func(t *testing.T) {
		cookie := signIn(t, s, true)
		res, page := get(t, s, "/team", cookie)
		policy := res.Header.Get("Content-Security-Policy")
		require.Contains(t, policy, "default-src 'none'")
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, policy, "http")
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		require.NotRegexp(t, `<style|style=|<script>`, page)
		if !strings.Contains(page, `name="portal"`) {
			require.Contains(t, page, "make ui", "without a build the page says how to make one")
			return
		}
		start := startOf(t, page)
		require.Equal(t, "/team", start.Base)
		require.Equal(t, "Europe/Brussels", start.Zone)
		require.Equal(t, "admin", start.Session.Login)
		require.Equal(t, "portal", start.Session.Channel)
		script := regexp.MustCompile(`src="(/_ui/portal/assets/[^"]+)"`).FindStringSubmatch(page)
		require.NotNil(t, script)
		// The stream goes on where the page was made. A busy machine may take longer to begin with it than the first page waits.
		s.Eventually(func() bool {
			_, page = get(t, s, "/team", cookie)
			return startOf(t, page).Live != ""
		})
		s.Visitor().With("Cookie", cookie).Patch("/settings/form-style", map[string]any{"size": 17}).Is(200)
		l := s.Visitor().With("Cookie", cookie).Listen("/live?after=" + startOf(t, page).Live)
		require.Equal(t, "form-style", l.Until("change", "settings").Data["id"])
		res, _ = get(t, s, script[1], "")
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "public, max-age=31536000, immutable", res.Header.Get("Cache-Control"))
	})
	t.Run("the page is in the language and theme that the person chose", func(t *testing.T) {
		cookie := signIn(t, s, true)
		for choice, begin := range map[string]string{
			"": `<html lang="en">`, "; svc_language=nl; svc_theme=dark": `<html lang="nl" data-theme="dark">`, "; svc_language=fr": `<html lang="fr">`, "; svc_language=xx; svc_theme=%22": `<html lang="en">`,
		} {
			res, page := get(t, s, "/team", cookie+choice)
			if strings.Contains(page, "make ui") {
				_, err := exec.LookPath("npm")
				require.Error(t, err, "make ui builds the portal, where npm is there")
				t.Skip("without npm there is no portal")
			}
			require.Contains(t, page, begin, choice)
			require.Equal(t, strings.Split(begin, `"`)[1], res.Header.Get("Content-Language"))
		}
	})
}

// The kind of session is the channel of what is done in it.
func TestWhereAPersonSignsInToIsTheChannel(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, settings.Service)
	for next, channel := range map[string]string{"/team": "portal", "/team/contacts": "portal", "/admin": "app", "/admin/contacts": "app", "/account": "app"} {
		t.Run(next, func(t *testing.T) {
			req, err := http.NewRequest(http.MethodPost, s.URL+"/account/sign-in", strings.NewReader("login=admin&password=correct+horse+battery&next="+next))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			res, err := client.Do(req)
			require.NoError(t, err)
			defer res.Body.Close()
			require.Equal(t, 303, res.StatusCode)
			var session string
			for _, c := range res.Cookies() {
				if c.Name == "svc_session" {
					session = c.Name + "=" + c.Value
				}
			}
			s.Eventually(func() bool {
				a := s.Visitor().With("Cookie", session).Get("/auth/session")
				return a.Status == 200 && a.Text("channel") == channel
			})
		})
	}
}

// Colours that the public pages have too are the same in the portal.
func TestThePortalHasTheColoursOfThePublicPages(t *testing.T) {
	card, err := os.ReadFile("../../../../libs/web/css/card.css")
	require.NoError(t, err)
	tokens, err := os.ReadFile("web/src/kit/css/tokens.css")
	require.NoError(t, err)
	for _, name := range []string{"ink", "soft", "line", "surface", "field", "field-line", "accent", "on-accent", "focus", "bad", "good"} {
		colour := regexp.MustCompile(`(?m)^  --` + name + `: .*(light-dark\([^)]*\))`)
		a, b := colour.FindSubmatch(card), colour.FindSubmatch(tokens)
		require.NotNil(t, a, name)
		require.NotNil(t, b, name)
		require.Equal(t, string(a[1]), string(b[1]), name)
	}
}

func TestTheRootLeadsToTheBookingPageElseToThePortal(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, settings.Service)
	admin := s.Visitor().With("Cookie", signIn(t, s, false))
	leadsTo := func(method, path, to string) {
		t.Helper()
		s.Eventually(func() bool {
			req, err := http.NewRequest(method, s.URL+path, nil)
			require.NoError(t, err)
			res, err := client.Do(req)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return res.StatusCode == http.StatusSeeOther && res.Header.Get("Location") == to
		})
	}
	leadsTo(http.MethodGet, "/", "/team")
	admin.Patch("/settings/portal", map[string]any{"booking_page": true}).Is(200)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		leadsTo(method, "/?lang=nl", "/team/book?lang=nl")
	}
	admin.Patch("/settings/portal", map[string]any{"path": "salon"}).Is(200)
	leadsTo(http.MethodGet, "/", "/salon/book")
	admin.Patch("/apps/booking", map[string]any{"enabled": false}).Is(200)
	leadsTo(http.MethodGet, "/", "/salon")

	req, err := http.NewRequest(http.MethodDelete, s.URL+"/", nil)
	require.NoError(t, err)
	res, err := client.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusMethodNotAllowed, res.StatusCode)
	require.Equal(t, "GET, HEAD", res.Header.Get("Allow"))
}
