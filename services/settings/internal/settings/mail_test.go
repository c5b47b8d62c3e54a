package settings

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

// mailbox is an SMTP server that keeps what it accepts, by recipient.
type mailbox struct {
	mu   sync.Mutex
	have map[string][]string
}

func (b *mailbox) NewSession(*smtp.Conn) (smtp.Session, error) { return &delivery{box: b}, nil }

func (b *mailbox) to(address string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.have[address]
}

type delivery struct {
	box *mailbox
	to  string
}

func (d *delivery) Mail(string, *smtp.MailOptions) error { return nil }
func (d *delivery) Rcpt(to string, _ *smtp.RcptOptions) error {
	if strings.HasPrefix(to, "refused@") {
		return &smtp.SMTPError{Code: 550, Message: "nobody here"}
	}
	d.to = to
	return nil
}

func (d *delivery) Data(r io.Reader) error {
	raw, err := io.ReadAll(r)
	d.box.mu.Lock()
	defer d.box.mu.Unlock()
	d.box.have[d.to] = append(d.box.have[d.to], string(raw))
	return err
}
func (d *delivery) Reset()        {}
func (d *delivery) Logout() error { return nil }

// serve opens the mailbox at address; an empty one picks a port.
func (b *mailbox) serve(t *testing.T, l net.Listener) {
	t.Helper()
	server := smtp.NewServer(b)
	server.Domain = "localhost"
	go func() {
		if err := server.Serve(l); err != nil && !errors.Is(err, smtp.ErrServerClosed) {
			t.Log(err)
		}
	}()
	t.Cleanup(func() { _ = server.Close() })
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

func letter(t *testing.T, to string) *proto.Mail {
	t.Helper()
	m, err := mail.Render(mail.Content{Kind: "test", To: mail.Person{Address: to}, Business: "Lux", Subject: "Hello", Paragraphs: []string{"Hello."}})
	require.NoError(t, err)
	return m
}

func post(t *testing.T, s *apptest.Service, m *proto.Mail) {
	t.Helper()
	s.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: m.GetId(), Data: m})
}

func TestAMailGoesOutOncePerID(t *testing.T) {
	box, l := &mailbox{have: map[string][]string{}}, listen(t)
	box.serve(t, l)
	s := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	c := admin(t, s)
	m := letter(t, "an@example.com")
	post(t, s, m)
	post(t, s, m)
	post(t, s, letter(t, "refused@example.com"))
	s.Eventually(func() bool { return len(c.Get("/mails?status=sent").Is(200).Items()) == 1 })
	s.Eventually(func() bool { return len(c.Get("/mails?status=failed").Is(200).Items()) == 1 })
	post(t, s, m)
	s.Settle()
	time.Sleep(600 * time.Millisecond)
	require.Len(t, box.to("an@example.com"), 1)
	require.Contains(t, box.to("an@example.com")[0], "Reply-To: <admin@example.com>")
	listed := c.Get("/mails").Is(200)
	require.EqualValues(t, 2, listed.Field("total"))
	require.NotContains(t, listed.Body, "Hello.", "the list shows no body")
	var kept int
	require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from mail where message is not null`).Scan(&kept))
	require.Zero(t, kept, "what was sent is not kept")
}

func TestASendingServerThatIsDownLosesNothing(t *testing.T) {
	l := listen(t)
	address := l.Addr().String()
	require.NoError(t, l.Close())
	s := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + address })
	c := admin(t, s)
	for _, to := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		post(t, s, letter(t, to))
	}
	s.Eventually(func() bool { return len(c.Get("/mails?status=retrying").Is(200).Items()) == 3 })
	require.NotEmpty(t, c.Get("/mails").Text("items.0.error"))
	box := &mailbox{have: map[string][]string{}}
	again, err := net.Listen("tcp", address)
	require.NoError(t, err)
	box.serve(t, again)
	s.Travel(time.Hour)
	s.Eventually(func() bool { return len(c.Get("/mails?status=sent").Items()) == 3 })
	for _, to := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		require.Len(t, box.to(to), 1)
	}
}

func TestReplicasDoNotSendOneMailTwice(t *testing.T) {
	box, l := &mailbox{have: map[string][]string{}}, listen(t)
	box.serve(t, l)
	s, inside := startInside(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	ctx, cancel := context.WithCancel(context.Background())
	var others sync.WaitGroup
	for range 2 {
		others.Go(func() { inside.sendMails(ctx) })
	}
	defer others.Wait()
	defer cancel()
	require.NoError(t, s.Kit.DB.Do(ctx, func(tx *db.Tx) error {
		for range 60 {
			if err := tx.Mail(ctx, letter(t, "many@example.com")); err != nil {
				return err
			}
		}
		return nil
	}))
	s.Eventually(func() bool { return len(box.to("many@example.com")) >= 60 })
	time.Sleep(300 * time.Millisecond)
	require.Len(t, box.to("many@example.com"), 60)
}

func TestAMailThatIsForLaterWaits(t *testing.T) {
	box, l := &mailbox{have: map[string][]string{}}, listen(t)
	box.serve(t, l)
	s := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	m := letter(t, "later@example.com")
	m.NotBefore = s.Now().Add(time.Hour).Unix()
	post(t, s, m)
	s.Settle()
	time.Sleep(400 * time.Millisecond)
	require.Empty(t, box.to("later@example.com"))
	s.Travel(2 * time.Hour)
	s.Eventually(func() bool { return len(box.to("later@example.com")) == 1 })
}

func TestTheWaitBetweenAttemptsGrowsAndEnds(t *testing.T) {
	require.Equal(t, 2*time.Second, backOff(1))
	require.Equal(t, 4*time.Second, backOff(2))
	require.Equal(t, longestWait, backOff(12))
	require.Equal(t, longestWait, backOff(1_000_000))
}
