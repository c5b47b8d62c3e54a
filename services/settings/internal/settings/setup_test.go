package settings

import (
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/until"
)

// box is a mail server that refuses everybody until it is told not to.
type box struct{ refuses bool }

func (b *box) NewSession(*smtp.Conn) (smtp.Session, error) { return b, nil }
func (b *box) Mail(string, *smtp.MailOptions) error        { return nil }
func (b *box) Reset()                                      {}
func (b *box) Logout() error                               { return nil }
func (b *box) Data(r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}
func (b *box) Rcpt(string, *smtp.RcptOptions) error {
	if b.refuses {
		return &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "We know nobody here"}
	}
	return nil
}

// mailServer listens on this machine until the test ends.
func mailServer(t *testing.T, b *box) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := smtp.NewServer(b)
	server.Domain = "localhost"
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return l.Addr().String()
}

func TestATestMailComesBackWithTheWordsOfTheServer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuses, sent bool
		answer        string
	}{
		"taken":   {false, true, "OK"},
		"refused": {true, false, "We know nobody here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := mailServer(t, &box{refuses: c.refuses})
			s := apptest.Start(t, Service, func(cfg *app.Config) { cfg.SMTPURL = "smtp://" + at })
			a := admin(t, s).Post("/settings/mail-test", nil).Is(200)
			require.Equal(t, c.sent, a.Field("sent"))
			require.Equal(t, at, a.Text("server"))
			require.Contains(t, a.Text("answer"), c.answer)
			require.Len(t, s.Audited("send-test-mail"), 1)
			s.As("staff").Post("/settings/mail-test", nil).Fails(403, "svc_forbidden")
		})
	}
	t.Run("nobody listens", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, l.Close())
		s := apptest.Start(t, Service, func(cfg *app.Config) { cfg.SMTPURL = "smtp://user:secret@" + l.Addr().String() })
		a := admin(t, s).Post("/settings/mail-test", nil).Is(200)
		require.Equal(t, false, a.Field("sent"))
		require.Contains(t, a.Text("answer"), "refused")
		require.NotContains(t, a.Body, "secret")
	})
	t.Run("there is no server", func(t *testing.T) {
		t.Parallel()
		a := admin(t, apptest.Start(t, Service)).Post("/settings/mail-test", nil).Is(200)
		require.Equal(t, false, a.Field("sent"))
		require.Empty(t, a.Text("server"))
		require.Contains(t, a.Text("answer"), "SVC_SMTP_URL")
	})
}

// checkOf is one of the checks in an answer of /setup.
func checkOf(t *testing.T, a *apptest.Answer, name string) map[string]any {
	t.Helper()
	for _, x := range a.Is(200).Field("checks").([]any) {
		if m := x.(map[string]any); m["name"] == name {
			return m
		}
	}
	require.Fail(t, "no check "+name)
	return nil
}

func TestTheSetupSaysWhatIsSetWrongAndWhichLineToChange(t *testing.T) {
	t.Parallel()
	s := apptest.Start(t, Service, func(cfg *app.Config) { cfg.PublicURL = "https://desk.example.com" })
	c := admin(t, s)
	t.Run("the public address is where the browser is", func(t *testing.T) {
		at := func(page string) map[string]any { return checkOf(t, c.With("Referer", page).Get("/setup"), "address") }
		require.Equal(t, true, at("https://desk.example.com/team/contacts?x=1")["ok"])
		require.Equal(t, true, at("https://DESK.example.com:443/")["ok"])
		for _, page := range []string{"http://desk.example.com/team", "https://www.example.com/team", "https://desk.example.com:8443/"} {
			x := at(page)
			require.Equal(t, false, x["ok"], page)
			require.Equal(t, "https://desk.example.com", x["wanted"])
			require.Contains(t, x["hint"], "SVC_PUBLIC_URL="+x["found"].(string))
		}
	})
	t.Run("a proxy that nobody trusts is seen", func(t *testing.T) {
		require.Equal(t, true, checkOf(t, c.Get("/setup"), "proxy")["ok"])
		x := checkOf(t, c.With("X-Forwarded-For", "203.0.113.7, 10.0.0.9").Get("/setup"), "proxy")
		require.Equal(t, false, x["ok"])
		require.Contains(t, x["hint"], "SVC_TRUSTED_PROXIES=10.0.0.9")
		// Of a proxy on the gateway's own machine the gateway leaves nothing but its address.
		here := c.With("X-Forwarded-For", "127.0.0.1")
		require.Equal(t, true, checkOf(t, here.With("Referer", "http://localhost:8080/team").Get("/setup"), "proxy")["ok"])
		x = checkOf(t, here.With("Referer", "https://desk.example.com/team").Get("/setup"), "proxy")
		require.Equal(t, false, x["ok"])
		require.Contains(t, x["hint"], "SVC_TRUSTED_PROXIES=127.0.0.1")
		c.Patch("/settings/general", map[string]any{"ip_header": "CF-Connecting-IP"}).Is(200)
		x = checkOf(t, c.Get("/setup"), "proxy")
		require.Equal(t, false, x["ok"])
		require.Equal(t, "CF-Connecting-IP", x["wanted"])
	})
	t.Run("without a mail server it says what becomes of mails, in the language of the person", func(t *testing.T) {
		x := checkOf(t, c.With("Accept-Language", "nl").Patch("/setup", map[string]any{"done": false}), "mail")
		require.Equal(t, false, x["ok"])
		require.Contains(t, x["hint"], "vijf dagen")
		require.Contains(t, x["hint"], "SVC_SMTP_URL=")
	})
	t.Run("zone and disk are fine", func(t *testing.T) {
		for _, name := range []string{"zone", "disk"} {
			require.NotEmpty(t, checkOf(t, c.Get("/setup"), name)["found"], name)
		}
	})
}

func TestACertificateThatBrowsersRefuseIsNamedInTheLanguageOfThePerson(t *testing.T) {
	t.Parallel()
	site := httptest.NewTLSServer(nil) // its certificate is for example.com
	t.Cleanup(site.Close)
	public := strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
	s := apptest.Start(t, Service, func(cfg *app.Config) { cfg.PublicURL = public })
	c := admin(t, s).With("Referer", public+"/team")
	until.Holds(t, func() bool { return checkOf(t, c.Get("/setup"), "address")["ok"] == false }, 20*time.Second, 50*time.Millisecond)
	for language, words := range map[string]string{"en": "it is for example.com", "nl": "het is voor example.com", "fr": "il est fait pour example.com", "de": "Es gilt für example.com"} {
		x := checkOf(t, c.With("Accept-Language", language).Get("/setup"), "address")
		require.Equal(t, "example.com, *.example.com", x["found"])
		require.Contains(t, x["hint"], words)
		require.Contains(t, x["hint"], "SVC_TLS_CERT")
	}
}
