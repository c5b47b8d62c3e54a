package settings

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

type lockedBuffer struct {
	sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.Lock()
	defer b.Unlock()
	return b.Buffer.Write(p)
}

// A link stands in the mail that brings it, on its way and until it is sent. Of all other secrets the database has the hash, or the secret sealed.
func TestNoSecretIsStoredPublishedOrLogged(t *testing.T) {
	log := &lockedBuffer{}
	slog.SetDefault(slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	t.Cleanup(func() { slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil))) })
	s := start(t)
	signedIn := s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": adminPassword}).Is(200)
	c := withCookie(s, signedIn)
	cookie, err := http.ParseSetCookie(signedIn.Header.Get("Set-Cookie"))
	require.NoError(t, err)
	key := c.Post("/me/application-passwords", map[string]any{"name": "a key"}).Is(201).Text("password")
	basic(s, "admin", key).Get("/me").Is(200)
	client := assistantAt(t, s, callback)
	code := codeOf(t, c.Post("/me/connections", consent(client)))
	_, tokens := ask(t, s, "/oauth/token", forCode(client, code))
	s.Visitor().Post("/auth/password/forgot", map[string]any{"email": "admin@example.com"}).Is(200)
	var link string
	for _, m := range mails(t, s, "admin@example.com") {
		if strings.Contains(m.GetText(), "token=") {
			link = token(t, m)
		}
	}
	totp := c.Post("/auth/two-factor", nil).Is(200).Text("secret")
	wrong := s.Visitor().Post("/auth/login", map[string]any{"login": "admin", "password": "a password that is wrong"}).Fails(401, "svc_unauthorized")
	require.NotContains(t, wrong.Body, "a password that is wrong")
	ask(t, s, "/oauth/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {client}, "refresh_token": {"a token that is wrong"}})

	for name, secret := range map[string]string{"password": adminPassword, "wrong password": "a password that is wrong", "session": cookie.Value, "application password": key,
		"code": code, "access token": tokens["access_token"].(string), "refresh token": tokens["refresh_token"].(string), "wrong token": "a token that is wrong",
		"second factor": totp, "master key": s.Kit.Config.MasterKey} {
		require.Greater(t, len(secret), 15, name)
		require.Empty(t, s.Holding(secret), name)
		require.NotContains(t, log.String(), secret, name)
	}
	require.Equal(t, []string{"mail", "outbox", proto.MailTopic}, s.Holding(link))
	require.NotContains(t, log.String(), link)
	require.NotEmpty(t, log.String())
	require.Contains(t, s.Holding("admin@example.com"), "person", "what is there is found")
}
