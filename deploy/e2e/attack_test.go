package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/deploy/system"
	"frontdesk/proto"
)

// The attacks on the whole system, through the gateway. What needs a clock or limits of its own is tested in the services;
// what takes minutes, in deploy/chaos.

const evil = "https://evil.example"

const memberPassword = "several words 1"

var linkToken = regexp.MustCompile(`#token=([A-Za-z0-9_-]+)`)

// mailedToken is the token of the newest mail to an address whose text names path.
func mailedToken(t *testing.T, to, path string) (token string) {
	t.Helper()
	system.Eventually(t, func() bool {
		for _, m := range sys.Mails(t, to) {
			if found := linkToken.FindStringSubmatch(m.Text); found != nil && strings.Contains(m.Text, path) {
				token = found[1]
				return true
			}
		}
		return false
	}, "no mail to "+to)
	return token
}

// member is somebody of the team with a role, signed in; cookie is their session.
func member(t *testing.T, admin system.Client, name, role string) (c system.Client, email, cookie string) {
	t.Helper()
	email = system.Address(strings.ToLower(name))
	admin.Post(t, "/staff", map[string]any{"name": name, "email": email, "role": role}).Is(201)
	visitor.Post(t, "/auth/invitation", map[string]string{"token": mailedToken(t, email, "/account/invitation"), "password": memberPassword}).Is(200)
	cookie = sessionOf(visitor.Post(t, "/auth/login", map[string]string{"login": email, "password": memberPassword}).Is(200))
	return visitor.With("Cookie", cookie).Known(t), email, cookie
}

// sessionOf is the session cookie that an answer sets, as a request sends it; empty for none.
func sessionOf(a *system.Answer) string {
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		if c.Name == "svc_session" && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}

func userIDOf(t *testing.T, c system.Client) int64 {
	t.Helper()
	return int64(c.Get(t, "/me").Is(200).Field("user_id").(float64))
}

// reply is what send got.
type reply struct {
	StatusCode int
	Header     http.Header
	Cookies    []*http.Cookie
}

// send makes a request of a browser or program to the gateway outside /v1, and follows no redirect.
func send(t *testing.T, base, method, path string, body io.Reader, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, base+path, body)
	require.NoError(t, err)
	for i := 0; i+1 < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	require.NoError(t, err)
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NotEqual(t, 500, res.StatusCode, "%s %s: %s", method, path, raw)
	return reply{res.StatusCode, res.Header, res.Cookies()}
}

// raw sends bytes to the gateway as they are, and gives the answer's status and header, or 0 if it closes the connection.
func raw(t *testing.T, request string) (status int, header http.Header) {
	t.Helper()
	u, err := url.Parse(sys.Now(t).Gateway)
	require.NoError(t, err)
	conn, err := net.Dial("tcp", u.Host)
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
	_, err = conn.Write([]byte(request))
	require.NoError(t, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	return res.StatusCode, res.Header
}

// interfaceOperation is one entry of proto/operations.json.
type interfaceOperation struct {
	Method, Path string
	Public       bool
	PersonOnly   bool `json:"person_only"`
	Ability      *string
}

func interfaceOperations(t *testing.T) (all []interfaceOperation) {
	t.Helper()
	b, err := os.ReadFile("../../proto/operations.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &all))
	require.Greater(t, len(all), 100)
	return all
}

// describedOperation is one operation of the running system.
type describedOperation struct {
	Method, Path string
	// Public needs nobody to be signed in.
	Public bool
}

// described are all operations that the running system describes, with made-up values in their paths.
func described(t *testing.T) (all []describedOperation) {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Security    *[]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(visitor.Get(t, "/openapi.json").Is(200).Body), &doc))
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if o.OperationID == "" {
				continue
			}
			all = append(all, describedOperation{strings.ToUpper(method), parameter.ReplaceAllStringFunc(strings.TrimPrefix(path, "/v1"), madeUp), o.Security != nil && len(*o.Security) == 0})
		}
	}
	require.Greater(t, len(all), 120)
	return all
}

var parameter = regexp.MustCompile(`\{[a-z_]+\}`)

func madeUp(name string) string {
	switch name {
	case "{user}":
		return "999999"
	case "{name}":
		return "find-contacts"
	case "{role}":
		return "staff"
	case "{app}":
		return "booking"
	}
	return uuid.NewString()
}

func TestWrongCodesOfASecondFactorWaitLongerAndLonger(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	c, email, _ := member(t, sys.SetUp(t).Admin, "Cas", "staff")
	secret := c.WithSecondFactor(t, totp.GenerateCode)
	c.WrongCodes(t, 200)
	right, err := totp.GenerateCode(secret, time.Now().Add(30*time.Second))
	require.NoError(t, err)
	for range 2 {
		visitor.Post(t, "/auth/login", map[string]string{"login": email, "password": memberPassword, "code": right}).Fails(429, "svc_rate_limited")
	}
	system.Eventually(t, func() bool {
		return slices.ContainsFunc(sys.Mails(t, email), func(m system.Mail) bool { return strings.Contains(m.Subject, "codes") })
	}, "no mail about the codes")
}

func TestNothingThatCountsOnceCountsTwice(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	starts, token := d.Slots(t)
	formToken := d.FormToken(t)
	other := d
	other.Form = fmt.Sprint(d.Admin.Post(t, "/forms/"+d.Form+"/duplicate", nil).Is(201).Field("id"))
	d.Admin.Call(t, "PATCH", "/forms/"+other.Form, map[string]any{"status": "publish"}).Is(200)
	other.FormToken(t)
	opened := time.Now()

	t.Run("a code of an authenticator, a recovery code", func(t *testing.T) {
		c, email, _ := member(t, d.Admin, "Replay", "staff")
		secret := c.Post(t, "/auth/two-factor", nil).Is(200).Text("secret")
		code, err := totp.GenerateCode(secret, time.Now())
		require.NoError(t, err)
		recovery := c.Post(t, "/auth/two-factor/confirm", map[string]string{"code": code}).Is(200).Text("recovery_codes.0")
		login := func(code string) *system.Answer {
			return visitor.Post(t, "/auth/login", map[string]string{"login": email, "password": memberPassword, "code": code})
		}
		login(code).Fails(401, "svc_unauthorized")
		login(recovery).Is(200)
		login(recovery).Fails(401, "svc_unauthorized")
	})

	t.Run("an invitation, a link to a new password", func(t *testing.T) {
		email := system.Address("invited")
		d.Admin.Post(t, "/staff", map[string]any{"name": "Ina", "email": email, "role": "staff"}).Is(201)
		invitation := mailedToken(t, email, "/account/invitation")
		body := map[string]string{"token": invitation, "password": memberPassword}
		visitor.Post(t, "/auth/password/reset", body).Fails(400, "svc_invalid_token")
		visitor.Post(t, "/auth/invitation", body).Is(200)
		visitor.Post(t, "/auth/invitation", body).Fails(410, "svc_token_expired")
		visitor.Post(t, "/auth/password/forgot", map[string]string{"email": email}).Is(200)
		body["token"] = mailedToken(t, email, "/account/password")
		visitor.Post(t, "/auth/invitation", body).Fails(400, "svc_invalid_token")
		visitor.Post(t, "/auth/password/reset", body).Is(204)
		visitor.Post(t, "/auth/password/reset", body).Fails(410, "svc_token_expired")
	})

	t.Run("an idempotency key of another caller", func(t *testing.T) {
		other, _, _ := member(t, d.Admin, "Keyed", "svc_admin")
		key, body := uuid.NewString(), map[string]any{"first_name": "Once " + uuid.NewString()}
		first := d.Admin.With("Idempotency-Key", key).Post(t, "/contacts", body).Is(201)
		second := other.With("Idempotency-Key", key).Post(t, "/contacts", body).Is(201)
		require.NotEqual(t, first.Text("id"), second.Text("id"))
		require.Empty(t, second.Header.Get("Idempotent-Replayed"))
		require.Equal(t, first.Text("id"), d.Admin.With("Idempotency-Key", key).Post(t, "/contacts", body).Is(201).Text("id"))
	})

	time.Sleep(time.Until(opened.Add(3100 * time.Millisecond))) // nobody fills in a form in less than three seconds
	t.Run("a form's token at another form or service, or changed", func(t *testing.T) {
		email := system.Address("token")
		for _, forged := range []string{token, "x" + formToken, formToken + "x", strings.ToUpper(formToken), "y." + formToken, ""} {
			visitor.Post(t, "/forms/"+d.Form+"/submit", d.Submission(forged, email)).Fails(400, "svc_invalid_token")
		}
		visitor.Post(t, "/forms/"+other.Form+"/submit", other.Submission(formToken, email)).Fails(400, "svc_invalid_token")
		visitor.Post(t, "/booking/book", d.Booking(starts[5], formToken, email)).Fails(400, "svc_invalid_token")
		visitor.Post(t, "/forms/"+d.Form+"/submit", d.Submission(formToken, email)).Is(200)
	})

	t.Run("a manage link after a change, and on another's appointment", func(t *testing.T) {
		email := system.Address("manage")
		visitor.Post(t, "/booking/book", d.Booking(starts[9], token, email)).Is(201)
		link := sys.ManageToken(t, email, 1)
		visitor.Post(t, "/booking/manage/cancel", map[string]string{"token": link}).Is(200)
		for path, body := range map[string]map[string]string{"/booking/manage/cancel": {"token": link}, "/booking/manage/reschedule": {"token": link, "starts_at": starts[12]}} {
			again := visitor.Post(t, path, body)
			require.Contains(t, []int{409, 410}, again.Status, "%s: %s", path, again.Body)
		}
		visitor.Post(t, "/booking/manage", map[string]string{"token": link[:len(link)-2] + "AA"}).Fails(400, "svc_invalid_token")
	})
}

func TestNoHeaderSaysWhoCallsOrFromWhere(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	c, _, _ := member(t, d.Admin, "Hed", "staff")
	user := fmt.Sprint(d.User)
	for _, name := range []string{"X-Forwarded-User", "X-User-Id", "X-Svc-User", "X-Remote-User", "Remote-User", "X-Auth-Request-User", "X-Authenticated-Userid",
		"X-Real-User", "X-Svc-Actor", "X-Admin", "X-Original-Url", "X-Rewrite-Url", "X-Forwarded-Uri", "X-Forwarded-Prefix"} {
		for _, value := range []string{user, "admin", "/v1/openapi.json"} {
			visitor.With(name, value).Get(t, "/contacts").Fails(401, "svc_unauthorized")
			c.With(name, value).Get(t, "/settings/privacy").Fails(403, "svc_forbidden")
		}
	}
	// What was refused stands in the audit log with the peer's address, whatever the caller says about it.
	id := userIDOf(t, c)
	spoofed := c
	for _, name := range []string{"X-Forwarded-For", "X-Real-Ip", "Forwarded", "True-Client-Ip", "Cf-Connecting-Ip", "X-Client-Ip", "X-Cluster-Client-Ip"} {
		spoofed = spoofed.With(name, "203.0.113.66")
	}
	spoofed.With("Forwarded", "for=203.0.113.66").With("X-Frontdesk-For", "bm8gc2lnbmF0dXJl 203.0.113.66").Get(t, "/settings/roles").Fails(403, "svc_forbidden")
	system.Eventually(t, func() bool {
		for _, e := range d.Admin.Get(t, "/audit-log?action=get-roles").Is(200).Items() {
			if e["user_id"] == float64(id) {
				require.Equal(t, "127.0.0.1", e["address"])
				require.Equal(t, "refused", e["outcome"])
				return true
			}
		}
		return false
	}, "the refusal is not in the audit log")

	for _, id := range []string{"a b", "<script>", strings.Repeat("a", 65), "x", `"quoted-id"`} {
		require.NotEqual(t, id, visitor.With("X-Request-Id", id).Get(t, "/openapi.json").Header.Get("X-Request-Id"))
	}
	for name, value := range map[string]string{"X-Http-Method-Override": "DELETE", "X-Http-Method": "DELETE", "X-Method-Override": "DELETE"} {
		contact := d.Admin.Post(t, "/contacts", map[string]any{"first_name": "Stays"}).Is(201).Text("id")
		d.Admin.With(name, value).Get(t, "/contacts/"+contact).Is(200)
		d.Admin.With(name, value).Post(t, "/contacts/"+contact+"?_method=DELETE", "{}").Fails(405, "svc_method_not_allowed")
		require.Nil(t, d.Admin.Get(t, "/contacts/"+contact).Is(200).Field("deleted_at"))
	}
}

// Every write that a session may make is refused from another site, and so is signing in; what is public acts for nobody.
func TestNoPageOfAnotherSiteActsForWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	_, _, cookie := member(t, d.Admin, "Cross", "svc_admin")
	gateway := sys.Now(t).Gateway
	foreign := map[string][]string{
		"origin": {"Origin", evil}, "a null origin": {"Origin", "null"}, "fetch metadata": {"Sec-Fetch-Site", "cross-site"},
		"a sibling": {"Sec-Fetch-Site", "same-site", "Origin", evil},
	}
	// Between leaving for the provider and coming back from it a cookie of their own holds browser and request together.
	atProvider := []string{"/auth/login/organization", "/auth/login/organization/answer", "/auth/organization/logout"}
	t.Run("operations", func(t *testing.T) {
		refused := 0
		for _, o := range described(t) {
			if o.Method == "GET" {
				continue
			}
			for how, header := range foreign {
				if o.Public && (!strings.HasPrefix(o.Path, "/auth/") && !strings.HasPrefix(o.Path, "/settings/") || slices.Contains(atProvider, o.Path)) {
					continue // a visitor's or the provider's, from whatever site: the session's cookie is not read
				}
				res := send(t, gateway, o.Method, "/v1"+o.Path, strings.NewReader("{}"), append([]string{"Cookie", cookie, "Content-Type", "application/json"}, header...)...)
				if strings.HasSuffix(o.Path, "/run") && res.StatusCode == 405 {
					continue // an ability has one of the methods
				}
				require.Equal(t, 403, res.StatusCode, "%s %s, %s", o.Method, o.Path, how)
				require.Empty(t, res.Header.Get("Set-Cookie"))
				require.Empty(t, res.Header.Get("Access-Control-Allow-Credentials"), o.Path)
				refused++
			}
		}
		require.Greater(t, refused, 300)
	})
	t.Run("pages", func(t *testing.T) {
		posted := 0
		for _, page := range sitePages(t) {
			if strings.HasPrefix(page, "/oauth/") {
				continue // called by assistants from any site: what they may is in the body, and the cookie is not read
			}
			for how, header := range foreign {
				path := parameter.ReplaceAllString(page, "x")
				res := send(t, gateway, "POST", path, strings.NewReader("act=start&name=x&session=x&end=x&login=admin&password=x"),
					append([]string{"Cookie", cookie, "Content-Type", "application/x-www-form-urlencoded"}, header...)...)
				require.NotEqual(t, 200, res.StatusCode, "POST %s, %s", path, how)
				require.NotEqual(t, 201, res.StatusCode, "POST %s, %s", path, how)
				for _, c := range res.Cookies {
					require.Fail(t, "a foreign post sets a cookie", "POST %s, %s: %s", path, how, c.Name)
				}
				if strings.HasPrefix(path, "/account/") && res.StatusCode != 405 && res.StatusCode != 404 {
					require.Equal(t, 403, res.StatusCode, "POST %s, %s", path, how)
					posted++
				}
			}
		}
		require.Greater(t, posted, 20)
		require.NotEmpty(t, visitor.With("Cookie", cookie).Get(t, "/auth/sessions").Is(200).Items(), "still signed in")
		require.Empty(t, visitor.With("Cookie", cookie).Get(t, "/me/application-passwords").Is(200).Items())
	})
	t.Run("no answer to another site is readable with a cookie", func(t *testing.T) {
		for _, path := range []string{"/v1/me", "/v1/contacts", "/account", "/v1/booking/services"} {
			res := send(t, gateway, "GET", path, nil, "Cookie", cookie, "Origin", evil)
			require.Empty(t, res.Header.Get("Access-Control-Allow-Credentials"), path)
			if path != "/v1/booking/services" {
				require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"), path)
			}
		}
	})
}

// sitePages are the paths of pages, as the services announce them.
func sitePages(t *testing.T) (paths []string) {
	t.Helper()
	for _, value := range newest(t, proto.ManifestTopic) {
		var m proto.Manifest
		require.NoError(t, protobuf.Unmarshal(value, &m))
		for _, p := range m.GetPages() {
			paths = append(paths, p.GetPath())
		}
	}
	require.Greater(t, len(paths), 12)
	return paths
}

// A name of an attacker's that resolves to this machine reaches no port but the gateway's.
func TestNoOtherSiteReachesAnAdminPort(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	now := sys.Now(t)
	ports := map[string]string{"mail": now.MailPage}
	for name, p := range now.Processes {
		if p.Admin != "" {
			ports[name] = p.Admin
		}
	}
	require.Greater(t, len(ports), 6, ports)
	for name, base := range ports {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/", "/livez", "/readyz", "/metrics", "/parked", "/ping", "/api/rawdata", "/api/http/routers", "/api/mails", "/debug/pprof/heap", "/debug/pprof/", "/services/booking", "/routes", "/parked-messages", "/static/panel.js"} {
				for _, host := range []string{"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.evil.example"} {
					res := send(t, base, "GET", path, nil, "Host", host)
					if path == "/ping" && name == "traefik" {
						continue // says only that it is up
					}
					require.Contains(t, []int{403, 404}, res.StatusCode, "GET %s as %s", path, host)
				}
				if name != "traefik" { // reading across sites needs a header that it does not send
					res := send(t, base, "GET", path, nil, "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "no-cors")
					require.Contains(t, []int{403, 404}, res.StatusCode, "GET %s of another site", path)
				}
			}
			for _, path := range []string{"/parked/1/replay", "/parked-messages/contacts/1/replay", "/api/mails"} {
				for _, header := range [][]string{{"Origin", evil}, {"Sec-Fetch-Site", "cross-site"}, {"Host", "evil.example"}} {
					for _, method := range []string{"POST", "DELETE"} {
						res := send(t, base, method, path, nil, header...)
						require.Contains(t, []int{403, 404, 405}, res.StatusCode, "%s %s, %s", method, path, header)
					}
				}
			}
		})
	}
	t.Run("through the gateway", func(t *testing.T) {
		for _, path := range []string{"/readyz", "/livez", "/metrics", "/parked", "/debug/pprof/", "/api/rawdata", "/dashboard/", "/ping"} {
			require.Equal(t, 404, send(t, now.Gateway, "GET", path, nil).StatusCode, path)
		}
	})
}

func TestASessionCannotBePlantedAndItsCookieIsShielded(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	_, email, before := member(t, d.Admin, "Fix", "staff")
	planted := "svc_session=" + strings.Repeat("A", 43)
	for _, sent := range []string{planted, before} {
		login := visitor.With("Cookie", sent).Post(t, "/auth/login", map[string]string{"login": email, "password": memberPassword}).Is(200)
		given := sessionOf(login)
		require.NotEmpty(t, given)
		require.NotEqual(t, sent, given)
		for _, c := range (&http.Response{Header: login.Header}).Cookies() {
			require.True(t, c.HttpOnly, c.Name)
			require.Equal(t, http.SameSiteLaxMode, c.SameSite, c.Name)
			require.Equal(t, "/", c.Path, c.Name)
			require.Empty(t, c.Domain, c.Name)
			require.Positive(t, c.MaxAge, c.Name)
		}
		require.NotContains(t, login.Body, given[len("svc_session="):])
		if before == sent {
			system.Eventually(t, func() bool { return visitor.With("Cookie", before).Get(t, "/me").Status == 401 }, "signing in leaves the browser's old session open")
			before = given
		}
	}
	visitor.With("Cookie", planted).Get(t, "/me").Fails(401, "svc_unauthorized")
	system.Eventually(t, func() bool { return visitor.With("Cookie", before).Get(t, "/me").Status == 200 }, "the new session does not arrive")
	visitor.With("Cookie", before).Post(t, "/auth/logout", nil).Is(204)
	system.Eventually(t, func() bool { return visitor.With("Cookie", before).Get(t, "/me").Status == 401 }, "a session lives on after signing out")
}

func TestARedirectStaysHere(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	_, email, cookie := member(t, d.Admin, "Open", "staff")
	gateway := sys.Now(t).Gateway
	for _, next := range []string{evil, "//evil.example", `/\evil.example`, `\\evil.example`, "/%5cevil.example", "/%2f%2fevil.example", "https:evil.example", "https:/evil.example",
		"javascript:alert(1)", "/\t/evil.example", "/\n/evil.example", "/\r\nSet-Cookie: a=b", " //evil.example", "/account\r\nX-Evil: 1", "/.//evil.example", "/x/..//evil.example", "@evil.example", "/../../\\evil.example"} {
		ask := url.Values{"next": {next}}
		for how, res := range map[string]reply{
			"shown":   send(t, gateway, "GET", "/account/sign-in?"+ask.Encode(), nil, "Cookie", cookie),
			"sent":    send(t, gateway, "POST", "/account/sign-in", strings.NewReader(url.Values{"next": {next}, "login": {email}, "password": {memberPassword}}.Encode()), "Content-Type", "application/x-www-form-urlencoded"),
			"confirm": send(t, gateway, "POST", "/account/confirm", strings.NewReader(url.Values{"next": {next}, "password": {memberPassword}}.Encode()), "Content-Type", "application/x-www-form-urlencoded", "Cookie", cookie),
		} {
			require.Equal(t, 303, res.StatusCode, "%q %s", next, how)
			base, err := url.Parse(gateway + "/account/sign-in")
			require.NoError(t, err)
			to, err := base.Parse(res.Header.Get("Location"))
			require.NoError(t, err)
			require.Equal(t, base.Host, to.Host, "%q %s leads to %s", next, how, to)
			require.NotContains(t, res.Header.Get("Location"), `\`, "browsers read it as a slash")
			require.False(t, strings.HasPrefix(res.Header.Get("Location"), "//"), "%q %s", next, how)
			require.Empty(t, res.Header.Get("X-Evil"))
		}
	}
}

func TestNoLineBreakGetsIntoAHeaderOrAMail(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	const split = "Eve\r\nBcc: victim@example.com\r\n\r\nhello"
	starts, token := d.Slots(t)
	formToken := d.FormToken(t)
	system.Wait()
	email := system.Address("crlf")
	booking := d.Booking(starts[15], token, email)
	booking["values"].(map[string]string)["first_name"] = split
	visitor.Post(t, "/booking/book", booking).Fails(400, "svc_invalid_param")
	booking["values"] = map[string]string{"first_name": "Eve", "last_name": "X", "email": email + "\r\nBcc: victim@example.com"}
	visitor.Post(t, "/booking/book", booking).Fails(400, "svc_invalid_param")
	submission := d.Submission(formToken, email)
	submission["values"].(map[string]string)["first"] = split
	visitor.Post(t, "/forms/"+d.Form+"/submit", submission).Fails(400, "svc_invalid_param")
	a := d.Admin
	a.Post(t, "/staff", map[string]any{"name": split, "email": email, "role": "staff"}).Is(201)
	system.Eventually(t, func() bool { return len(sys.Mails(t, email)) > 0 }, "no invitation")
	require.Empty(t, sys.Mails(t, email)[0].Headers["Bcc"], "spaces in a name are one each")
	require.Contains(t, sys.Mails(t, email)[0].Text, "Dag Eve Bcc: victim@example.com hello,")
	// A name is refused, or its white space becomes one space; what is stored has no line break.
	person := sys.SignIn(t)
	for path, body := range map[string]map[string]any{
		"/contacts":                 {"first_name": split},
		"/services":                 {"name": split, "duration_min": 30},
		"/forms":                    {"name": split, "definition": map[string]any{"elements": []any{}}},
		"/webhooks":                 {"name": split, "url": "https://example.com/", "events": []string{"contact.created"}},
		"/pages":                    {"title": split, "content": ""},
		"/organizations":            {"name": split},
		"/tags":                     {"name": split},
		"/field-groups":             {"label": split, "applies_to": "contact"},
		"/fields":                   {"label": split, "type": "text", "applies_to": "contact"},
		"/closures":                 {"label": split, "date_from": "2030-01-01", "date_to": "2030-01-01"},
		"/imports":                  {"file_name": split, "csv": "email\n"},
		"/me/application-passwords": {"name": split},
	} {
		made := person.Post(t, path, body)
		require.Contains(t, []int{201, 400}, made.Status, "%s: %s", path, made.Body)
		require.NotContains(t, made.Body, `\n`, path)
	}
	named := a.Call(t, "PATCH", fmt.Sprint("/staff/", d.User), map[string]any{"name": split})
	require.NotContains(t, named.Body, `\n`)
	a.Call(t, "PATCH", "/settings/general", map[string]any{"business": map[string]any{"name": split}}).Fails(400, "svc_invalid_param")
	for _, m := range sys.Mails(t, "victim@example.com") {
		require.Fail(t, "a mail was smuggled", m.Subject)
	}
	status, header := raw(t, "GET /account/sign-in?next=%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	require.Equal(t, 200, status)
	require.Empty(t, header.Get("X-Evil"))
	for _, path := range []string{"/v1/x%0d%0aX-Evil:1", "/%0d%0aX-Evil:1", "/account/sign-in/%0aX-Evil:1"} {
		_, header = raw(t, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		require.Empty(t, header.Get("X-Evil"), path)
	}
}

// A webhook reaches no private network, however its address is written. Names that resolve to one, and redirects to one, are
// tested with libs/fetch; the local run allows this machine itself.
func TestAWebhookReachesNoPrivateNetwork(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	a := sys.SetUp(t).Admin
	for _, address := range []string{"https://10.0.0.1/", "https://192.168.1.1/", "https://172.16.0.1/", "https://169.254.169.254/latest/meta-data/", "https://[fd00::1]/",
		"https://[fe80::1]/", "https://[::ffff:10.0.0.1]/", "https://[::ffff:a9fe:a9fe]/", "https://[64:ff9b::a00:1]/", "https://100.64.0.1/", "https://0.0.0.0/", "https://[::]/",
		"https://224.0.0.1/", "https://255.255.255.255/", "http://example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "https://user:pass@example.com/",
		"https://0xa.0.0.1/", "https://012.0.0.1/", "https://167772161/", "https://10.1/", "https://metadata.google.internal/", "https://router.local/", "https://example.com:22/x\r\ny", "https:///x", "https://"} {
		body := map[string]any{"name": "x", "url": address, "active": true, "events": []string{"contact.created"}}
		made := a.Post(t, "/webhooks", body)
		if made.Status == 201 {
			// Only the connection can tell what a name stands for.
			id := made.Text("webhook.id")
			tried := a.Post(t, "/webhooks/"+id+"/test", nil)
			a.Call(t, "DELETE", "/webhooks/"+id, nil)
			require.NotEqual(t, "succeeded", tried.Value("status"), "%s: %s", address, tried.Body)
			require.Nil(t, tried.Value("response_code"), "%s: %s", address, tried.Body)
			continue
		}
		made.Fails(400, "svc_invalid_param")
	}
}

func TestAPathMeansTheSameToGatewayAndService(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	_, _, cookie := member(t, d.Admin, "Path", "staff")
	request := func(target string, lines ...string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nCookie: " + cookie + "\r\nConnection: close\r\n" + strings.Join(lines, "") + "\r\n"
	}
	for _, target := range []string{"//v1/settings/privacy", "/v1//settings/privacy", "/v1/settings//privacy", "/v1/./settings/privacy", "/v1/apps/../settings/privacy", "/v1/apps/%2e%2e/settings/privacy",
		"/v1/apps/..%2fsettings/privacy", "/v1/apps%2f..%2fsettings%2fprivacy", "/v1/settings%2fprivacy", "/v1/settings/privacy/", "/v1/settings/privacy%00", "/v1/settings/privacy;x", "/v1/settings/privacy%3b", "/V1/settings/privacy",
		"/v1/settings/%70rivacy", "/account/../v1/settings/privacy", "/_ui/../v1/settings/privacy", "/_ui/settings/..%2f..%2fv1/settings/privacy", "http://localhost/v1/settings/privacy", "/v1/settings/privacy#x", "/v1/settings/privacy%23"} {
		status, _ := raw(t, request(target))
		require.Contains(t, []int{0, 301, 302, 307, 308, 400, 403, 404, 421}, status, target) // never 200
	}
	for _, target := range []string{"/_ui/settings/../../../../etc/passwd", "/_ui/settings/..%2f..%2f..%2fetc%2fpasswd", "/_ui/settings/%2e%2e/%2e%2e/go.mod", "/_ui/settings/.git/config", "/_ui/settings/"} {
		status, _ := raw(t, request(target))
		require.NotEqual(t, 200, status, target)
	}
	for what, sent := range map[string]string{
		"length and chunks":  "POST /v1/auth/logout HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: x\r\n\r\n",
		"two lengths":        "POST /v1/auth/logout HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
		"obscure chunks":     "POST /v1/auth/logout HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n{}",
		"a space in a name":  "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Evil : 1\r\n\r\n",
		"a folded line":      "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nX-Evil: 1\r\n Cookie: x\r\n\r\n",
		"two hosts":          "GET /v1/me HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
		"no host":            "GET /v1/me HTTP/1.1\r\n\r\n",
		"a header of 128 KB": "GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\nX-Large: " + strings.Repeat("x", 128<<10) + "\r\n\r\n",
		"TRACE":              "TRACE /v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		"CONNECT":            "CONNECT 127.0.0.1:5432 HTTP/1.1\r\nHost: 127.0.0.1:5432\r\n\r\n",
		"a made-up method":   "JEFF /v1/me HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	} {
		status, _ := raw(t, sent)
		require.Contains(t, []int{0, 400, 401, 404, 405, 431, 501}, status, what)
	}
	// A body whose length nobody announced ends at the limit of the operation.
	pr, pw := io.Pipe()
	go func() {
		_, _ = io.WriteString(pw, `{"first_name":"`)
		_, _ = io.CopyN(pw, repeated('x'), 3<<20)
		_ = pw.CloseWithError(io.ErrUnexpectedEOF)
	}()
	req, err := http.NewRequestWithContext(t.Context(), "POST", sys.Now(t).Gateway+"/v1/contacts", pr)
	require.NoError(t, err)
	req.Header.Set("Cookie", cookie)
	req.Header.Set("Content-Type", "application/json")
	if res, err := http.DefaultTransport.RoundTrip(req); err == nil {
		require.Contains(t, []int{400, 413}, res.StatusCode)
		require.NoError(t, res.Body.Close())
	}
	d.Admin.Post(t, "/contacts", strings.Repeat("[", 100_000)).Fails(400, "svc_invalid_json")
	d.Admin.Post(t, "/contacts", `{"fields":`+strings.Repeat(`{"a":`, 200)+"1"+strings.Repeat("}", 201)).Fails(400, "svc_invalid_param")
}

type repeated byte

func (r repeated) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r)
	}
	return len(p), nil
}

// A member of the team who sees only their own records is given every permission, and calls every operation about records of
// somebody else: by id, by search, as an ability.
func TestWhoSeesOnlyTheirOwnNeverSeesAnothersRecord(t *testing.T) {
	sys.Healthy(t) // not parallel: it changes a role
	d := sys.SetUp(t)
	t.Cleanup(func() {
		d.Admin.Call(t, "PATCH", "/settings/roles/staff", map[string]any{"visibility": "own", "capabilities": []string{"svc_view_contacts", "svc_edit_contacts", "svc_manage_bookings"}}).Is(200)
	})
	d.Admin.Call(t, "PATCH", "/settings/roles/staff", map[string]any{"visibility": "own", "capabilities": []string{"svc_manage_crm", "svc_view_contacts", "svc_edit_contacts", "svc_delete_contacts",
		"svc_import_contacts", "svc_export_contacts", "svc_manage_bookings", "svc_manage_forms", "svc_manage_integrations"}}).Is(200)
	own, ownEmail, _ := member(t, d.Admin, "Odd", "staff")
	system.Eventually(t, func() bool {
		return own.Get(t, "/contacts").Status == 200 && own.Get(t, "/appointments").Status == 200 && own.Get(t, "/submissions").Status == 200 && own.Get(t, "/webhooks/events").Status == 200
	}, "the role does not arrive")

	word := "zq" + strings.ReplaceAll(uuid.NewString(), "-", "")[:10]
	ids := recordsOfAnother(t, d, word)
	// Every path of the interface, about what the administrator owns.
	fill := func(path string) string {
		segments := strings.Split(path, "/")
		for i, s := range segments {
			switch s {
			case "{id}":
				segments[i] = ids[segments[1]]
			case "{note}":
				segments[i] = ids["notes"]
			case "{contact_id}":
				segments[i] = ids["contacts"]
			case "{user}":
				segments[i] = fmt.Sprint(d.User)
			case "{role}":
				segments[i] = "site_admin"
			case "{app}":
				segments[i] = "nothing"
			case "{kind}":
				segments[i] = "appointment.booked"
			case "{language}":
				segments[i] = "en"
			}
		}
		return strings.Join(segments, "/")
	}
	private := []string{"contacts", "tasks", "appointments", "submissions", "imports", "views", "mails", "webhook-deliveries"}
	asked := 0
	for _, o := range interfaceOperations(t) {
		if o.Public || o.PersonOnly || strings.HasPrefix(o.Path, "/apps/") {
			continue
		}
		path := fill(o.Path)
		require.NotContains(t, path, "//", o.Path)
		noun := strings.Split(o.Path, "/")[1]
		ofAnother := strings.Contains(o.Path, "{id}") && slices.Contains(private, noun)
		calls := []*system.Answer{}
		switch {
		case o.Method == "GET" && strings.Contains(o.Path, "{"):
			calls = append(calls, own.Get(t, path))
		case o.Method == "GET":
			for _, query := range []string{"", "?search=" + word, "?include_deleted=true&per_page=100", "?from=2020-01-01&to=2020-02-01", fmt.Sprintf("?owner=%d", d.User), "?contact=" + ids["contacts"],
				fmt.Sprintf("?staff=%d", d.User), "?organization=" + ids["organizations"], "?form=" + ids["forms"], "?service=" + d.Service, "?ids=" + ids["contacts"]} {
				calls = append(calls, own.Get(t, path+query))
			}
		case ofAnother:
			for _, body := range []string{"", "{}", fmt.Sprintf(`{"into":%q,"contact":%q,"note":"x","subject":"x","body":"x","starts_at":"2030-01-01T10:00:00Z"}`, ids["contacts"], ids["contacts"])} {
				a := own.Call(t, o.Method, path, body)
				require.Contains(t, []int{400, 403, 404}, a.Status, "%s %s: %s", o.Method, path, a.Body)
				calls = append(calls, a)
			}
		}
		for _, a := range calls {
			require.NotContains(t, strings.ToLower(strings.ReplaceAll(a.Body, "search="+word, "")), word, "%s %s", o.Method, path)
			if ofAnother && !strings.Contains(o.Path, "organizations") {
				require.NotEqual(t, 200, a.Status, "%s %s: %s", o.Method, path, a.Body)
			}
		}
		if o.Ability != nil {
			asked += len(abilityOf(t, own, *o.Ability, ids[noun], word))
		}
		asked += len(calls)
	}
	require.Greater(t, asked, 400)

	t.Run("asked by address, by duplicates, by personal data", func(t *testing.T) {
		email := word + "@example.com"
		for path, body := range map[string]map[string]any{
			"/contacts/duplicates":      {"email": email, "first_name": "Vera", "last_name": word, "phone": "+32 470 11 22 33"},
			"/organizations/duplicates": {"name": "Firm"},
			"/privacy/personal-data":    {"email": email},
		} {
			require.NotContains(t, own.Post(t, path, body).Body, ids["contacts"], path)
		}
		own.Post(t, "/privacy/erase", map[string]any{"email": email})
		made := own.Post(t, "/contacts", map[string]any{"first_name": "Thief", "email": email})
		require.NotContains(t, made.Body, ids["contacts"])
		require.NotContains(t, made.Body, "Vera")
	})
	t.Run("in totals", func(t *testing.T) {
		for _, path := range []string{"/contacts?search=" + word, "/appointments?contact=" + ids["contacts"], "/submissions?search=" + word} {
			a := own.Get(t, path)
			if a.Status == 200 {
				require.Zero(t, a.Field("total"), "%s: %s", path, a.Body)
				continue
			}
			require.Contains(t, []int{400, 404}, a.Status, path)
		}
		o := own.Get(t, "/overview").Is(200)
		for _, count := range []string{"today.total", "requests.total", "submissions"} {
			require.Zero(t, o.Field(count), "%s: %s", count, o.Body)
		}
		require.Zero(t, own.Get(t, "/organizations/"+ids["organizations"]).Is(200).Field("contacts_count"))
	})
	t.Run("in mails", func(t *testing.T) {
		for _, m := range sys.Mails(t, ownEmail) {
			require.NotContains(t, strings.ToLower(m.Subject+m.Text+m.HTML), word)
		}
	})
	t.Run("and the records stand as they were", func(t *testing.T) {
		contact := d.Admin.Get(t, "/contacts/"+ids["contacts"]).Is(200)
		require.Equal(t, "Vera", contact.Text("first_name"))
		require.Nil(t, contact.Field("deleted_at"))
		require.Equal(t, "confirmed", d.Admin.Get(t, "/appointments/"+ids["appointments"]).Is(200).Text("status"))
		d.Admin.Get(t, "/submissions/"+ids["submissions"]).Is(200)
	})
}

// recordsOfAnother makes records of the administrator that all carry a word, and gives their ids by the first part of their path.
func recordsOfAnother(t *testing.T, d system.Desk, word string) map[string]string {
	t.Helper()
	a, email := d.Admin, word+"@example.com"
	starts, _ := d.Slots(t)
	formToken := d.FormToken(t)
	opened := time.Now()
	contact := a.Post(t, "/contacts", map[string]any{"first_name": "Vera", "last_name": word, "email": email, "owner_user_id": d.User}).Is(201).Text("id")
	note := a.Post(t, "/contacts/"+contact+"/notes", map[string]any{"body": "a note about " + word}).Is(201).Text("id")
	task := a.Post(t, "/tasks", map[string]any{"title": "Call about " + word, "contact": contact, "owner_user_id": d.User}).Is(201).Text("id")
	view := a.Post(t, "/views", map[string]any{"entity": "contacts", "name": word, "query": map[string]any{"search": word}}).Is(201).Text("id")
	organization := a.Post(t, "/organizations", map[string]any{"name": "Firm " + uuid.NewString()[:8]}).Is(201).Text("id")
	a.Call(t, "PUT", "/organizations/"+organization+"/contacts/"+contact, map[string]any{"role": word}).Is(204)
	var booked *system.Answer
	system.Eventually(t, func() bool {
		booked = a.Post(t, "/appointments", map[string]any{"service": d.Service, "contact": contact, "starts_at": starts[20], "staff": d.User, "notes": "about " + word})
		return booked.Status == 201
	}, "no appointment")
	imported := a.Post(t, "/imports", map[string]any{"file_name": word + ".csv", "csv": "first_name,email\n" + word + "," + word + "2@example.com\n"}).Is(201).Text("id")
	time.Sleep(time.Until(opened.Add(3100 * time.Millisecond))) // nobody fills in a form in less than three seconds
	visitor.Post(t, "/forms/"+d.Form+"/submit", map[string]any{"token": formToken, "hp_url": "", "page": "https://example.com/" + word,
		"values": map[string]string{"first": "Vera", "email": email, "message": "about " + word}}).Is(200)
	ids := map[string]string{"contacts": contact, "organizations": organization, "notes": note, "tasks": task, "views": view, "appointments": booked.Text("id"), "imports": imported, "forms": d.Form, "services": d.Service,
		"exceptions": uuid.NewString(), "fields": uuid.NewString(), "field-groups": uuid.NewString(), "staff": uuid.NewString()}
	system.Eventually(t, func() bool {
		for _, s := range a.Get(t, "/submissions?form="+d.Form).Is(200).Items() {
			ids["submissions"], _ = s["id"].(string)
		}
		for _, m := range a.Get(t, "/mails").Is(200).Items() {
			if m["to"] == email {
				ids["mails"], _ = m["id"].(string)
			}
		}
		return ids["mails"] != "" && ids["submissions"] != "" && strings.Contains(a.Get(t, "/submissions/"+ids["submissions"]).Body, contact)
	}, "no submission, or no mail")
	hooks := a.Get(t, "/webhooks").Is(200)
	for _, h := range hooks.Items() {
		if strings.HasPrefix(h["url"].(string), d.Hook.URL) {
			ids["webhooks"] = h["id"].(string)
		}
	}
	system.Eventually(t, func() bool {
		for _, delivery := range a.Get(t, "/webhooks/"+ids["webhooks"]+"/deliveries").Is(200).Items() {
			if id := delivery["id"].(string); strings.Contains(a.Get(t, "/webhook-deliveries/"+id).Is(200).Body, word) {
				ids["webhook-deliveries"] = id
			}
		}
		return ids["webhook-deliveries"] != ""
	}, "no delivery")
	return ids
}

// abilityOf runs an ability about a record of somebody else in every way.
func abilityOf(t *testing.T, c system.Client, name, id, word string) (answers []*system.Answer) {
	t.Helper()
	path := "/abilities/" + name + "/run"
	for _, a := range []*system.Answer{c.Get(t, path), c.Get(t, path+"?input[search]="+word), c.Get(t, path+"?input[id]="+id), c.Get(t, path+"?input[contact]="+id)} {
		require.NotContains(t, strings.ToLower(a.Body), word, path)
		answers = append(answers, a)
	}
	return answers
}
