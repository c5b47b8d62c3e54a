package mailer

import (
	"io"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/proto"
)

// grey is a mail server that asks to come again until it takes mails, and keeps the subjects of those in their order.
type grey struct {
	mu    sync.Mutex
	takes bool
	have  []string
}

func (g *grey) NewSession(*smtp.Conn) (smtp.Session, error) { return g, nil }
func (g *grey) Mail(string, *smtp.MailOptions) error        { return nil }
func (g *grey) Reset()                                      {}
func (g *grey) Logout() error                               { return nil }

func (g *grey) Rcpt(string, *smtp.RcptOptions) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.takes {
		return nil
	}
	return &smtp.SMTPError{Code: 451, Message: "Come again later"}
}

func (g *grey) Data(r io.Reader) error {
	m, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.have = append(g.have, m.Header.Get("Subject"))
	return nil
}

func (g *grey) take(now bool) { g.mu.Lock(); defer g.mu.Unlock(); g.takes = now }

func (g *grey) got() string { g.mu.Lock(); defer g.mu.Unlock(); return strings.Join(g.have, " ") }

func TestMailsAboutOneThingKeepTheirOrder(t *testing.T) {
	t.Parallel()
	box, l := &grey{}, listen(t)
	server := smtp.NewServer(box)
	server.Domain = "localhost"
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	s, _ := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	about := func(subject, kind, thing string, replaces bool) {
		m := letterOf(t, "an@example.com")
		m.Subject, m.Kind, m.About, m.Replaces = subject, kind, thing, replaces
		s.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: m.GetAbout(), Data: m})
		s.Settle()
	}
	retried := func(subject string) {
		s.Eventually(func() bool {
			return count(t, s, `select count(*) from mail where status = 'retrying' and subject = '`+subject+`'`) == 1
		})
	}
	for name, c := range map[string]struct {
		first, then [2]string
		replaces    bool
		want        string
	}{
		"what is not true any more is not sent":     {[2]string{"booked", "a"}, [2]string{"cancelled", "a"}, true, "cancelled"},
		"a reminder that was overtaken is not sent": {[2]string{"reminder", "b"}, [2]string{"moved", "b"}, true, "moved"},
		"what stays true goes first":                {[2]string{"booked", "c"}, [2]string{"reminder", "c"}, false, "booked reminder"},
		"of two reminders the second is sent":       {[2]string{"reminder", "d"}, [2]string{"reminder", "d"}, false, "reminder"},
	} {
		t.Run(name, func(t *testing.T) {
			box.mu.Lock()
			box.have, box.takes = nil, false
			box.mu.Unlock()
			about(c.first[0], c.first[0], c.first[1], true)
			retried(c.first[0])
			about(c.then[0], c.then[0], c.then[1], c.replaces)
			box.take(true)
			for range 3 {
				s.Travel(20 * time.Minute)
			}
			s.Eventually(func() bool {
				return count(t, s, `select count(*) from mail where status in ('queued', 'retrying', 'sending')`) == 0
			})
			require.Equal(t, c.want, box.got())
		})
	}
	require.Equal(t, 3, count(t, s, `select count(*) from mail where error like 'A newer mail%' and message is null and status = 'failed'`))
}

func TestAMailWaitsForNoneAboutSomethingElse(t *testing.T) {
	t.Parallel()
	box, l := &mailbox{have: map[string][]string{}, stall: make(chan struct{})}, listen(t)
	box.serve(t, l)
	s, _ := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	send := func(to, about string) {
		m := letterOf(t, to)
		m.About, m.Replaces = about, true
		post(t, s, m)
	}
	send("an@example.com", "a")
	s.Eventually(func() bool { return box.came.Load() == 1 })
	send("late@example.com", "a")
	send("other@example.com", "b")
	post(t, s, letterOf(t, "free@example.com"))
	s.Eventually(func() bool { return box.came.Load() == 3 })
	require.Empty(t, box.to("late@example.com"), "the server has the one before, and may take it")
	close(box.stall)
	s.Eventually(func() bool { return len(box.to("late@example.com")) == 1 })
}
