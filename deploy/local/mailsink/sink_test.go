package mailsink_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"frontdesk/deploy/local/mailsink"

	"github.com/stretchr/testify/require"
	"github.com/wneessen/go-mail"
)

type sink struct {
	web  string
	port int
	stop func()
}

func serve(t *testing.T, dir string) sink {
	t.Helper()
	in, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	web, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mailsink.Serve(ctx, dir, in, web) }()
	stop := func() { cancel(); require.NoError(t, <-ended) }
	return sink{"http://" + web.Addr().String(), in.Addr().(*net.TCPAddr).Port, stop}
}

func (s sink) send(t *testing.T, to ...string) {
	t.Helper()
	m := mail.NewMsg()
	require.NoError(t, m.From("Frontdesk <desk@example.org>"))
	require.NoError(t, m.To(to...))
	m.Subject("Rendez-vous confirmé")
	m.SetBodyString(mail.TypeTextPlain, "See https://example.org/manage#token=a&b now, é.")
	m.AddAlternativeString(mail.TypeTextHTML, `<p>See you <script>alert(1)</script></p>`)
	require.NoError(t, m.AttachReader("invite.ics", strings.NewReader("BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n"), mail.WithFileContentType("text/calendar; method=REQUEST")))
	c, err := mail.NewClient("127.0.0.1", mail.WithPort(s.port), mail.WithTLSPolicy(mail.NoTLS))
	require.NoError(t, err)
	require.NoError(t, c.DialAndSend(m))
}

func (s sink) get(t *testing.T, path string) (int, http.Header, string) {
	t.Helper()
	resp, err := http.Get(s.web + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return resp.StatusCode, resp.Header, string(b)
}

func (s sink) mails(t *testing.T, query string) []mailsink.Mail {
	t.Helper()
	_, _, body := s.get(t, "/api/mails"+query)
	var list struct{ Items []mailsink.Mail }
	require.NoError(t, json.Unmarshal([]byte(body), &list))
	return list.Items
}

func TestAMailShowsItsPartsAndAttachments(t *testing.T) {
	s := serve(t, t.TempDir())
	defer s.stop()
	s.send(t, "ann@example.org")

	found := s.mails(t, "?to=ANN@example.org")
	require.Len(t, found, 1)
	m := found[0]
	require.Equal(t, "Rendez-vous confirmé", m.Subject)
	require.Contains(t, m.Text, "now, é.")
	require.Contains(t, m.HTML, "<script>")
	require.WithinDuration(t, time.Now(), m.ReceivedAt, time.Minute)
	require.Len(t, m.Attachments, 1)
	require.Equal(t, "invite.ics", m.Attachments[0].Name)

	_, h, ics := s.get(t, m.Attachments[0].URL)
	require.Equal(t, "BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n", ics)
	require.Contains(t, h.Get("Content-Type"), "method=REQUEST")

	_, _, page := s.get(t, "/mails/"+m.ID)
	require.Contains(t, page, `<a href="https://example.org/manage#token=a&amp;b"`)
	require.NotContains(t, page, "<script>", "the mail's own HTML stays in its frame")
	_, h, _ = s.get(t, "/mails/"+m.ID+"/html")
	require.Contains(t, h.Get("Content-Security-Policy"), "sandbox")
	require.NotContains(t, h.Get("Content-Security-Policy"), "allow-scripts")

	require.Empty(t, s.mails(t, "?to=bob@example.org"))
	status, _, _ := s.get(t, "/mails/unknown")
	require.Equal(t, http.StatusNotFound, status)
}

func TestMailsOutliveARestartNewestFirst(t *testing.T) {
	dir := t.TempDir()
	s := serve(t, dir)
	for i := range 3 {
		s.send(t, fmt.Sprintf("n%d@example.org", i))
	}
	before := s.mails(t, "")
	s.stop()
	s = serve(t, dir)
	defer s.stop()
	require.Equal(t, before, s.mails(t, ""))
	require.Equal(t, []string{"n2@example.org"}, before[0].To)
}

func TestAForeignNameForThisMachineIsRefused(t *testing.T) {
	s := serve(t, t.TempDir())
	defer s.stop()
	req, err := http.NewRequest(http.MethodGet, s.web+"/api/mails", nil)
	require.NoError(t, err)
	req.Host = "evil.example"
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	resp.Body.Close()
	require.Equal(t, http.StatusForbidden, resp.StatusCode)
}
