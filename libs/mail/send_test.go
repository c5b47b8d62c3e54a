package mail_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/mail"
	"frontdesk/proto"
)

// inbox is an SMTP server in this process. refuse, when set, answers RCPT.
type inbox struct {
	refuse error
	mu     sync.Mutex
	got    []letter
}

type letter struct{ from, to, raw string }

func (i *inbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &session{inbox: i}, nil }

func (i *inbox) letters() []letter {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.got
}

type session struct {
	*inbox
	letter letter
}

func (s *session) Mail(from string, _ *smtp.MailOptions) error { s.letter.from = from; return nil }
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.letter.to += to
	return s.refuse
}
func (s *session) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.letter.raw = string(raw)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.got = append(s.got, s.letter)
	return nil
}
func (s *session) Reset()        { s.letter = letter{} }
func (s *session) Logout() error { return nil }

func serve(t *testing.T, refuse error) (*inbox, string) {
	t.Helper()
	i := &inbox{refuse: refuse}
	srv := smtp.NewServer(i)
	srv.Domain = "localhost"
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	go func() { _ = srv.Serve(l) }()
	t.Cleanup(func() { _ = srv.Close() })
	return i, "smtp://" + l.Addr().String()
}

func handOver(context.Context) error { return nil }

const from = `"Salon Lumière" <salon@example.com>`

// part is a leaf of the MIME tree.
type part struct{ kind, params, disposition, body string }

func leaves(t *testing.T, header func(string) string, body io.Reader) []part {
	t.Helper()
	kind, params, err := mime.ParseMediaType(header("Content-Type"))
	require.NoError(t, err)
	if !strings.HasPrefix(kind, "multipart/") {
		switch header("Content-Transfer-Encoding") {
		case "quoted-printable":
			body = quotedprintable.NewReader(body)
		case "base64":
			body = base64.NewDecoder(base64.StdEncoding, body)
		}
		b, err := io.ReadAll(body)
		require.NoError(t, err)
		return []part{{kind, params["method"], header("Content-Disposition"), string(b)}}
	}
	var out []part
	for r := multipart.NewReader(body, params["boundary"]); ; {
		p, err := r.NextRawPart()
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		out = append(out, leaves(t, p.Header.Get, p)...)
	}
}

func TestAConfirmationArrivesWithItsTwinAndItsCalendarFile(t *testing.T) {
	box, address := serve(t, nil)
	c := confirmation()
	c.To.Name, c.Subject = "Ann O'Brien-Müller", "Ваша запись подтверждена — Haircut"
	m, err := mail.Render(c)
	require.NoError(t, err)
	require.NoError(t, mail.Send(t.Context(), address, m, from, handOver))

	require.Len(t, box.got, 1)
	require.Equal(t, "salon@example.com", box.got[0].from)
	require.Equal(t, "ann@example.com", box.got[0].to)
	msg, err := netmail.ReadMessage(bufio.NewReader(strings.NewReader(box.got[0].raw)))
	require.NoError(t, err)
	to, err := msg.Header.AddressList("To")
	require.NoError(t, err)
	require.Equal(t, []*netmail.Address{{Name: "Ann O'Brien-Müller", Address: "ann@example.com"}}, to)
	sender, err := msg.Header.AddressList("From")
	require.NoError(t, err)
	require.Equal(t, []*netmail.Address{{Name: "Salon Lumière", Address: "salon@example.com"}}, sender)
	subject, err := new(mime.WordDecoder).DecodeHeader(msg.Header.Get("Subject"))
	require.NoError(t, err)
	require.Equal(t, c.Subject, subject)
	require.Equal(t, "<salon@example.com>", msg.Header.Get("Reply-To"))
	require.Equal(t, "<"+m.Id+"@example.com>", msg.Header.Get("Message-Id"))
	require.Equal(t, "auto-generated", msg.Header.Get("Auto-Submitted"))
	sent, err := msg.Header.Date()
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), sent, time.Minute)
	for _, absent := range []string{"User-Agent", "X-Mailer", "List-Unsubscribe", "List-Unsubscribe-Post", "Bcc"} {
		require.Empty(t, msg.Header.Get(absent), absent)
	}

	parts := leaves(t, msg.Header.Get, msg.Body)
	require.Len(t, parts, 4)
	require.Equal(t, "text/plain", parts[0].kind)
	require.Equal(t, m.Text, strings.ReplaceAll(parts[0].body, "\r\n", "\n"))
	require.Equal(t, "text/html", parts[1].kind)
	require.Equal(t, m.Html, strings.ReplaceAll(parts[1].body, "\r\n", "\n"))
	require.Equal(t, part{"text/calendar", "REQUEST", "", string(m.Calendar)}, parts[2])
	require.Equal(t, "application/ics", parts[3].kind)
	require.Contains(t, parts[3].disposition, "appointment.ics")
	require.Equal(t, string(m.Calendar), parts[3].body)
	for l := range strings.SplitSeq(box.got[0].raw, "\r\n") {
		require.LessOrEqual(t, len(l), 998, "longer lines are against RFC 5322")
	}
}

func TestAMarketingMailCanBeLeftWithOneClick(t *testing.T) {
	box, address := serve(t, nil)
	c := confirmation()
	c.Calendar = nil
	c.UnsubscribeURL = "https://salon.example/v1/marketing/unsubscribe?token=" + strings.Repeat("a", 190)
	m, err := mail.Render(c)
	require.NoError(t, err)
	require.NoError(t, mail.Send(t.Context(), address, m, from, handOver))
	msg, err := netmail.ReadMessage(strings.NewReader(box.got[0].raw))
	require.NoError(t, err)
	require.Equal(t, "<"+c.UnsubscribeURL+">", msg.Header.Get("List-Unsubscribe"))
	require.Equal(t, "List-Unsubscribe=One-Click", msg.Header.Get("List-Unsubscribe-Post"))
	require.Len(t, leaves(t, msg.Header.Get, msg.Body), 2)
}

func TestAMessageFromElsewhereCannotSmuggleHeaders(t *testing.T) {
	box, address := serve(t, nil)
	require.NoError(t, mail.Send(t.Context(), address, &proto.Mail{
		Id: "1", To: "ann@example.com", ToName: hostile, Subject: hostile, Text: "x\r\n.\r\nMAIL FROM:<eve@example.com>\r\n",
	}, from, handOver))
	require.Len(t, box.got, 1)
	msg, err := netmail.ReadMessage(strings.NewReader(box.got[0].raw))
	require.NoError(t, err)
	require.Empty(t, msg.Header.Get("Bcc"))
	require.NotContains(t, strings.ToLower(box.got[0].raw), "\nbcc:")

	for name, m := range map[string]*proto.Mail{
		"recipient":  {Id: "1", To: "ann@example.com>\r\nRCPT TO:<eve@example.com"},
		"two":        {Id: "1", To: "ann@example.com,eve@example.com"},
		"reply":      {Id: "1", To: "ann@example.com", ReplyTo: "a@example.com\r\nBcc: eve@example.com"},
		"id":         {Id: "1>\r\nBcc: eve@example.com", To: "ann@example.com"},
		"no id":      {To: "ann@example.com"},
		"method":     {Id: "1", To: "ann@example.com", Calendar: []byte("x"), CalendarMethod: "REQUEST\r\nX: y"},
		"leave link": {Id: "1", To: "ann@example.com", UnsubscribeUrl: "https://x.example/>\r\nBcc: eve@example.com"},
	} {
		err := mail.Send(t.Context(), address, m, from, handOver)
		require.ErrorIs(t, err, mail.ErrRejected, name)
		require.ErrorIs(t, err, mail.ErrContent, name)
	}
	require.Error(t, mail.Send(t.Context(), address, &proto.Mail{Id: "1", To: "ann@example.com"}, "salon\r\nBcc: eve@example.com", handOver))
	require.Len(t, box.got, 1)
}

func TestARefusalForGoodIsToldFromOneToTryAgain(t *testing.T) {
	m, err := mail.Render(confirmation())
	require.NoError(t, err)

	_, address := serve(t, &smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no such user"})
	require.ErrorIs(t, mail.Send(t.Context(), address, m, from, handOver), mail.ErrRejected)

	_, address = serve(t, &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "greylisted"})
	err = mail.Send(t.Context(), address, m, from, handOver)
	require.Error(t, err)
	require.NotErrorIs(t, err, mail.ErrRejected)

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	err = mail.Send(t.Context(), "smtp://"+l.Addr().String(), m, from, handOver)
	require.Error(t, err)
	require.NotErrorIs(t, err, mail.ErrRejected, "a server that is down comes back")
}

func TestASilentServerCostsNoMoreThanTheDeadline(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	start := time.Now()
	require.Error(t, mail.Send(ctx, "smtp://"+l.Addr().String(), m, from, handOver))
	require.Less(t, time.Since(start), 5*time.Second)
}

func TestAPasswordIsNeitherSentInTheClearNorShown(t *testing.T) {
	box, address := serve(t, nil)
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	err = mail.Send(t.Context(), strings.Replace(address, "smtp://", "smtp://me:hunter2@", 1)+"?tls=required", m, from, handOver)
	require.Error(t, err)
	require.NotContains(t, err.Error(), "hunter2")
	require.Empty(t, box.got)

	for _, u := range []string{
		"", "localhost:25", "http://me:hunter2@localhost", "smtp://me:hunter2@", "smtp://me:hunter2@h:99999", "smtp://me:hunter2@h:x",
		"smtp://me:hunter2@mail.example.com?tls=none", "smtp://h?tls=maybe", "smtp://h/path", "smtp://me:hunter2@h:25\n",
	} {
		err := mail.CheckURL(u)
		require.Error(t, err, u)
		require.NotContains(t, err.Error(), "hunter2")
		require.False(t, errors.Is(err, mail.ErrRejected), "the server's address is not the mail's fault")
	}
	for _, u := range []string{"smtp://localhost", "smtp://127.0.0.1:1025", "smtps://me:secret@mail.example.com", "smtp://me:secret@mail.example.com:587", "smtp://me:secret@[::1]:25?tls=none"} {
		require.NoError(t, mail.CheckURL(u), u)
	}
}

// stalling is an SMTP server that says nothing more behind the line that stall recognises. It reports that line.
func stalling(t *testing.T, stall string) (address string, stalled chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	stalled = make(chan struct{})
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		lines := bufio.NewScanner(conn)
		_, _ = io.WriteString(conn, "220 localhost\r\n")
		for content := false; lines.Scan(); {
			line := lines.Text()
			if line == stall {
				close(stalled)
				_, _ = io.Copy(io.Discard, conn)
				return
			}
			if !content {
				code := "250 OK\r\n"
				if content = line == "DATA"; content {
					code = "354 go on\r\n"
				}
				_, _ = io.WriteString(conn, code)
			}
		}
	}()
	return "smtp://" + l.Addr().String() + "?tls=none", stalled
}

func TestAServerThatStalls(t *testing.T) {
	t.Parallel()
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	for _, c := range []struct {
		name, behind string
		unknown      bool
		within       time.Duration
	}{
		{"before the content has it all to come", "DATA", false, 2 * time.Second},
		{"behind the content may have taken it", ".", true, 8 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			address, stalled := stalling(t, c.behind)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			var told time.Time
			go func() {
				<-stalled
				told = time.Now()
				stop()
			}()
			handedOver := false
			err := mail.Send(ctx, address, m, from, func(context.Context) error { handedOver = true; return nil })
			require.Error(t, err)
			require.Equal(t, c.unknown, errors.Is(err, mail.ErrUnknown), err)
			require.Equal(t, c.unknown, handedOver)
			require.Less(t, time.Since(told), c.within)
		})
	}
}

func TestAMailThatMayNotBeHandedOverIsNotSent(t *testing.T) {
	box, address := serve(t, nil)
	m, err := mail.Render(confirmation())
	require.NoError(t, err)
	other := errors.New("another replica has it")
	require.ErrorIs(t, mail.Send(t.Context(), address, m, from, func(context.Context) error { return other }), other)
	time.Sleep(50 * time.Millisecond)
	require.Empty(t, box.letters())
}
