package e2e

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/oidctest"
)

// A browser goes to the provider by the site's pages and comes back signed in; a logout token of the provider signs it out.
func TestSomebodySignsInAtTheProviderThroughTheGateway(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	browser := &http.Client{Jar: jar, Timeout: 30 * time.Second}
	home := sys.Now(t).Gateway
	open := func(address string) (status int, at *url.URL) {
		res, err := browser.Get(address)
		require.NoError(t, err)
		_ = res.Body.Close()
		return res.StatusCode, res.Request.URL
	}
	address := system.Address("organization")
	provider.Person(oidctest.Claims{"sub": address, "email": address, "name": "Anna Novak", "groups": []string{"desk"}, "sid": address})

	status, at := open(home + "/account/organization?next=/account/keys")
	require.Equal(t, []any{200, "/account/keys"}, []any{status, at.Path})
	home = at.Scheme + "://" + at.Host // the public address, by which the provider knows the site
	status, at = open(home + "/account/organization/callback?code=x&state=x&iss=" + url.QueryEscape(provider.URL))
	require.Equal(t, []any{401, "/account/organization/callback"}, []any{status, at.Path})

	out, err := browser.PostForm(home+"/account/organization/logout", url.Values{"logout_token": {provider.Signed(oidctest.Claims{"iss": provider.URL, "aud": oidctest.ClientID,
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Minute).Unix(), "jti": address, "sid": address,
		"events": oidctest.Claims{"http://schemas.openid.net/event/backchannel-logout": oidctest.Claims{}}})}})
	require.NoError(t, err)
	_ = out.Body.Close()
	require.Equal(t, http.StatusOK, out.StatusCode)
	system.Eventually(t, func() bool {
		_, at := open(home + "/account")
		return strings.HasSuffix(at.Path, "/sign-in")
	}, "the browser is signed out")
}
