package web_test

import (
	"context"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/auth"
	"frontdesk/libs/fetch"
	"frontdesk/libs/oidctest"
)

const home = "http://localhost:8080"

// organizationBrowser starts a service whose person signs in at a provider, without a password. read takes a page, and again follows the one that asks
// for a fresh sign-in to the provider and back.
func organizationBrowser(t *testing.T) (s *apptest.Service, browser *http.Client, read func(*http.Response, error) page, again func(page) page) {
	now := time.Now
	provider := oidctest.New(func() time.Time { return now() })
	t.Cleanup(provider.Close)
	s = start(t, func(c *app.Config) {
		c.OIDCIssuer, c.OIDCClient, c.OIDCSecret, c.OIDCName, c.OIDCClaim = provider.URL, oidctest.ClientID, oidctest.Secret, "Contoso", "groups"
		c.ClaimRoles, _ = auth.ParseClaimRoles("desk=svc_admin")
		c.Receivers, _ = fetch.ParseAllowed("127.0.0.1")
	})
	now = s.Now
	// Only when it is asked for a fresh sign-in does it say when the person signed in.
	provider.Person(oidctest.Claims{"sub": "anna", "email": "anna@example.com", "name": "Anna Novak", "groups": []string{"desk"}})

	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser = &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if "http://"+address == home {
			address = strings.TrimPrefix(s.URL, "http://")
		}
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}}
	read = func(res *http.Response, err error) page {
		t.Helper()
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode, string(raw))
		return page{res.StatusCode, res.Header, string(raw)}
	}
	again = func(p page) page {
		t.Helper()
		link := regexp.MustCompile(`href="(/account/organization\?again=1[^"]*)"`).FindStringSubmatch(p.body)
		require.NotNil(t, link, p.body)
		return read(browser.Get(home + html.UnescapeString(link[1])))
	}
	return s, browser, read, again
}

func TestAKeyIsAskedForAsItWasAfterAFreshSignIn(t *testing.T) {
	t.Parallel()
	s, browser, read, again := organizationBrowser(t)
	read(browser.Get(home + "/account/organization?next=/account/keys"))
	form := url.Values{"name": {"<Shop> & co"}, "days": {"30"}, "approval": {"destructive"}, "may": {"some"}, "permission": {"svc_manage_forms", "svc_edit_contacts"}, "assistant": {"true"}}
	stays := `(?s)value="&lt;Shop&gt; &amp; co".*value="30" selected.*value="some" checked.*value="svc_edit_contacts" checked.*value="svc_manage_forms" checked.*name="assistant" value="true" checked.*value="destructive" selected`
	require.Regexp(t, stays, again(read(browser.PostForm(home+"/account/keys", form))).body)

	// A session that has ended asks for a sign-in that comes back in the same way.
	to := do(t, s, "POST", "/account/keys?lang=de", form, "Cookie", "svc_session=ended").header.Get("Location")
	u, err := url.Parse(to)
	require.NoError(t, err)
	require.Equal(t, "/account/sign-in", u.Path)
	require.Regexp(t, stays, read(browser.Get(home+u.Query().Get("next"))).body)
	u, err = url.Parse(do(t, s, "POST", "/account/passkeys", url.Values{"name": {"My phone"}, "passkey": {"{}"}}, "Cookie", "svc_session=ended").header.Get("Location"))
	require.NoError(t, err)
	require.Equal(t, "/account/passkeys?name=My+phone", u.RequestURI())
}

// The request of the assistant is as long as one may be, because it travels to the provider and back.
func TestWhoHasNoPasswordConnectsAnAssistantByAFreshSignIn(t *testing.T) {
	t.Parallel()
	s, browser, read, again := organizationBrowser(t)
	in := with(asking(t, s, "Helper"), "state", strings.Repeat("a&", 1024))

	p := read(browser.Get(home + "/account/organization?" + url.Values{"next": {"/account/connect?" + in.Encode()}}.Encode()))
	require.NotContains(t, p.body, `name="permission"`, "nobody is asked for a choice that is lost on the way to the provider")
	p = again(p)
	require.Contains(t, p.body, "Helper")
	require.Contains(t, p.body, `name="permission" value="svc_manage_bookings" checked`)

	in["answer"], in["permission"] = []string{"allow"}, []string{"svc_manage_bookings"}
	to, err := url.Parse(strings.TrimPrefix(read(browser.PostForm(home+"/account/connect", in)).header.Get("Refresh"), "0; url="))
	require.NoError(t, err)
	require.Equal(t, in.Get("state"), to.Query().Get("state"))
	read(browser.PostForm(home+"/oauth/token", url.Values{"grant_type": {"authorization_code"}, "client_id": in["client_id"], "code": {to.Query().Get("code")},
		"code_verifier": {verifier}, "redirect_uri": in["redirect_uri"]}))
}
