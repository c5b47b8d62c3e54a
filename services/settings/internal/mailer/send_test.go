package mailer

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/freeport"
	"frontdesk/libs/mail"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

// start starts the room alone, in a business of which it knows the address.
func start(t *testing.T, configure ...func(*app.Config)) (s *apptest.Service, r *Room) {
	t.Helper()
	s = apptest.StartRooms(t, "settings", func(k *app.Kit, set *op.Set) []app.Room {
		r = New(k, nil)
		r.Operations(set)
		return []app.Room{{Name: "mailer", Parts: r.Parts()}}
	}, configure...)
	s.SetSite(document.General, map[string]any{"reply_to": "admin@example.com", "business": map[string]any{"name": "Salon Lumière"}})
	return s, r
}

func count(t *testing.T, s *apptest.Service, sql string) (n int) {
	t.Helper()
	require.NoError(t, s.Kit.DB.Pool.QueryRow(t.Context(), sql).Scan(&n))
	return n
}

// mailbox is an SMTP server that keeps what it accepts, by recipient.
type mailbox struct {
	mu   sync.Mutex
	have map[string][]string
	// stall, where it is set, is waited for before the server answers that it has taken a mail; came counts those that wait.
	stall chan struct{}
	came  atomic.Int32
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
	if err != nil {
		return err // the end of the message never came
	}
	d.box.mu.Lock()
	d.box.have[d.to] = append(d.box.have[d.to], string(raw))
	d.box.mu.Unlock()
	if d.box.came.Add(1); d.box.stall != nil {
		<-d.box.stall
	}
	return nil
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

func letterOf(t *testing.T, to string) *proto.Mail {
	t.Helper()
	m, err := mail.Render(mail.Content{Kind: "test", To: mail.Person{Address: to}, Business: mail.Business{Name: "Lux"}, Subject: "Hello", Paragraphs: []string{"Hello."}})
	require.NoError(t, err)
	return m
}

func post(t *testing.T, s *apptest.Service, m *proto.Mail) {
	t.Helper()
	s.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: m.GetId(), Data: m})
}

// sentAll waits until the mail to address is sent, and until no other one is on its way or due. Mails go out in the order in which
// they are due, so whatever was due before that one has had its turn.
func sentAll(t *testing.T, s *apptest.Service, box *mailbox, address string) {
	t.Helper()
	s.Eventually(func() bool {
		return len(box.to(address)) == 1 && count(t, s, `select count(*) from mail where status in ('queued', 'sending')`) == 0
	})
}

func TestAMailGoesOutOnceWhenItsTimeHasCome(t *testing.T) {
	t.Parallel()
	box, l := &mailbox{have: map[string][]string{}}, listen(t)
	box.serve(t, l)
	s, _ := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	c := s.As("site_admin")
	t.Run("a mail goes out once per ID", func(t *testing.T) {
		m := letterOf(t, "an@example.com")
		post(t, s, m)
		post(t, s, m)
		post(t, s, letterOf(t, "refused@example.com"))
		s.Eventually(func() bool { return len(c.Get("/mails?status=sent").Is(200).Items()) == 1 })
		s.Eventually(func() bool { return len(c.Get("/mails?status=failed").Is(200).Items()) == 1 })
		post(t, s, m)
		post(t, s, letterOf(t, "behind@example.com"))
		sentAll(t, s, box, "behind@example.com")
		require.Len(t, box.to("an@example.com"), 1)
		require.Contains(t, box.to("an@example.com")[0], "Reply-To: <admin@example.com>")
		listed := c.Get("/mails").Is(200)
		require.EqualValues(t, 3, listed.Field("total"))
		require.NotContains(t, listed.Body, "Hello.", "the list shows no body")
		var kept int
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from mail where message is not null`).Scan(&kept))
		require.Zero(t, kept, "what was sent is not kept")
	})
	t.Run("a mail of history is kept as failed", func(t *testing.T) {
		old, fresh := letterOf(t, "old@example.com"), letterOf(t, "fresh@example.com")
		s.Send(apptest.Event{Topic: proto.MailTopic, Kind: proto.KindMail, Key: old.GetId(), Data: old, State: true})
		post(t, s, fresh)
		sentAll(t, s, box, "fresh@example.com")
		require.Empty(t, box.to("old@example.com"))
		failed := c.Get("/mails?status=failed").Is(200)
		require.Equal(t, "old@example.com", failed.Text("items.0.to"))
		require.NotEmpty(t, failed.Text("items.0.error"))
	})
	t.Run("a mail that is for later waits", func(t *testing.T) {
		m := letterOf(t, "later@example.com")
		m.NotBefore = s.Now().Add(time.Hour).Unix()
		post(t, s, m)
		post(t, s, letterOf(t, "soon@example.com"))
		s.Eventually(func() bool { return len(box.to("soon@example.com")) == 1 })
		require.Empty(t, box.to("later@example.com"))
		s.Travel(2 * time.Hour)
		s.Eventually(func() bool { return len(box.to("later@example.com")) == 1 })
	})
}

func TestASendingServerThatIsDownLosesNothing(t *testing.T) {
	t.Parallel()
	address := freeport.Address()
	s, _ := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + address })
	c := s.As("site_admin")
	for _, to := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		post(t, s, letterOf(t, to))
	}
	s.Eventually(func() bool { return len(c.Get("/mails?status=retrying").Is(200).Items()) == 3 })
	require.NotEmpty(t, c.Get("/mails").Text("items.0.error"))
	box := &mailbox{have: map[string][]string{}}
	l, err := net.Listen("tcp", address)
	require.NoError(t, err)
	box.serve(t, l)
	s.Travel(time.Hour)
	s.Eventually(func() bool { return len(c.Get("/mails?status=sent").Items()) == 3 })
	for _, to := range []string{"a@example.com", "b@example.com", "c@example.com"} {
		require.Len(t, box.to(to), 1)
	}
}

func TestReplicasDoNotSendOneMailTwice(t *testing.T) {
	t.Parallel()
	box, l := &mailbox{have: map[string][]string{}}, listen(t)
	box.serve(t, l)
	s, inside := start(t, func(c *app.Config) { c.SMTPURL = "smtp://" + l.Addr().String() })
	ctx, cancel := context.WithCancel(context.Background())
	others := sending(ctx, inside)
	t.Cleanup(func() { cancel(); <-others })
	require.NoError(t, s.Kit.DB.Do(ctx, func(tx *db.Tx) error {
		for range 60 {
			if err := tx.Mail(ctx, letterOf(t, "many@example.com")); err != nil {
				return err
			}
		}
		return nil
	}))
	s.Eventually(func() bool { return count(t, s, `select count(*) from mail where status = 'sent'`) == 60 })
	cancel()
	<-others // and no attempt is under way
	require.Len(t, box.to("many@example.com"), 60)
}

func TestTheWaitBetweenAttemptsGrowsAndEnds(t *testing.T) {
	require.Equal(t, 2*time.Second, backOff(1))
	require.Equal(t, 4*time.Second, backOff(2))
	require.Equal(t, longestWait, backOff(12))
	require.Equal(t, longestWait, backOff(1_000_000))
}

// sending sends mails until ctx ends, as the workers of two replicas do. It is closed when no attempt is under way any more.
func sending(ctx context.Context, r *Room) (ended chan struct{}) {
	var workers sync.WaitGroup
	for range 2 * senders {
		workers.Go(func() {
			for ctx.Err() == nil {
				if worked, _ := r.sendNext(ctx); !worked {
					db.Sleep(ctx, 20*time.Millisecond)
				}
			}
		})
	}
	ended = make(chan struct{})
	go func() { workers.Wait(); close(ended) }()
	return ended
}

// ownMails is a sender of mails beside that of the running service, which has no mail server.
func ownMails(t *testing.T, box *mailbox) (*apptest.Service, *Room, func() []string) {
	t.Helper()
	l := listen(t)
	box.serve(t, l)
	s, _ := start(t)
	kit := *s.Kit
	kit.Config.SMTPURL = "smtp://" + l.Addr().String()
	return s, New(&kit, nil), func() (statuses []string) {
		require.NoError(t, s.Kit.DB.Pool.QueryRow(context.Background(), `select coalesce(array_agg(status order by recipient), '{}') from mail`).Scan(&statuses))
		return statuses
	}
}

func TestAMailOnItsWayIsNotSentTwiceWhenTheProcessStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		answers bool
		status  string
	}{
		{"the server answers within the bound", true, statusSent},
		{"the server does not answer", false, statusUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			box := &mailbox{have: map[string][]string{}, stall: make(chan struct{})}
			s, inside, statuses := ownMails(t, box)
			post(t, s, letterOf(t, "an@example.com"))
			s.Settle()
			running, stop := context.WithCancel(t.Context())
			ended := sending(running, inside)
			s.Eventually(func() bool { return box.came.Load() == 1 })
			stop()
			if c.answers {
				time.AfterFunc(500*time.Millisecond, func() { close(box.stall) })
			} else {
				defer close(box.stall)
			}
			select {
			case <-ended:
			case <-time.After(time.Minute):
				require.Fail(t, "it waits for the server without an end")
			}
			require.Equal(t, []string{c.status}, statuses())
			// The next process leaves it alone.
			next, err := inside.claim(t.Context())
			require.NoError(t, err)
			require.Nil(t, next)
			require.Len(t, box.to("an@example.com"), 1)
			require.Equal(t, []string{c.status}, statuses())
		})
	}
}

func TestAFrozenReplicaDoesNotSendWhatAnotherHasSent(t *testing.T) {
	t.Parallel()
	box := &mailbox{have: map[string][]string{}}
	s, inside, statuses := ownMails(t, box)
	post(t, s, letterOf(t, "an@example.com"))
	s.Settle()
	frozen, err := inside.claim(t.Context())
	require.NoError(t, err)
	other, err := inside.claim(t.Context())
	require.NoError(t, err)
	require.Nil(t, other, "the lease holds")
	s.Travel(time.Hour)
	other, err = inside.claim(t.Context())
	require.NoError(t, err)
	require.Nil(t, other, "the lease is by the database's clock")

	execute := func(sql string) {
		_, err := s.Kit.DB.Pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	execute(`update mail set leased_until = now() - interval '1 second'`)
	other, err = inside.claim(t.Context())
	require.NoError(t, err)
	inside.attempt(t.Context(), other)
	require.Equal(t, []string{statusSent}, statuses())
	inside.attempt(t.Context(), frozen)
	require.Len(t, box.to("an@example.com"), 1)
	require.Equal(t, []string{statusSent}, statuses())
}

func TestAMailWhoseProcessDiedWhileItWasSentIsUnknown(t *testing.T) {
	t.Parallel()
	box := &mailbox{have: map[string][]string{}}
	s, inside, statuses := ownMails(t, box)
	post(t, s, letterOf(t, "an@example.com"))
	s.Settle()
	c, err := inside.claim(t.Context())
	require.NoError(t, err)
	require.NoError(t, inside.handOver(t.Context(), c))
	require.NoError(t, inside.endSending(t.Context()))
	require.Equal(t, []string{statusSending}, statuses(), "its process may still get an answer")
	_, err = s.Kit.DB.Pool.Exec(t.Context(), `update mail set leased_until = now() - interval '1 second'`)
	require.NoError(t, err)
	other, err := inside.claim(t.Context())
	require.NoError(t, err)
	require.Nil(t, other, "nobody sends it again")
	require.NoError(t, inside.endSending(t.Context()))
	require.Equal(t, []string{statusUnknown}, statuses())
	require.Equal(t, "unknown", s.As("site_admin").Get("/mails?status=unknown").Is(200).Text("items.0.status"))
	// The process was only frozen: its answer counts.
	require.NoError(t, s.Kit.DB.Do(t.Context(), func(tx *db.Tx) error { return c.finish(t.Context(), tx, nil, false) }))
	require.Equal(t, []string{statusSent}, statuses())
}

func TestAMailOfAnAppThatIsOffWaits(t *testing.T) {
	t.Parallel()
	box := &mailbox{have: map[string][]string{}}
	s, inside, statuses := ownMails(t, box)
	soon, late, other := letterOf(t, "soon@example.com"), letterOf(t, "late@example.com"), letterOf(t, "other@example.com")
	soon.App, soon.NotAfter = "booking", s.Now().Add(time.Hour).Unix()
	late.App, late.NotAfter = "booking", s.Now().Add(3*time.Hour).Unix()
	for _, m := range []*proto.Mail{soon, late, other} {
		post(t, s, m)
	}
	s.Settle()
	claimed, err := inside.claim(t.Context())
	require.NoError(t, err)
	s.SetApp("booking", false)
	inside.attempt(t.Context(), claimed)
	ctx, stop := context.WithCancel(t.Context())
	ended := sending(ctx, inside)
	defer func() { stop(); <-ended }()
	s.Eventually(func() bool { return len(box.to("other@example.com")) == 1 })
	s.Travel(2 * time.Hour)
	post(t, s, letterOf(t, "zoe@example.com"))
	s.Eventually(func() bool { return len(box.to("zoe@example.com")) == 1 })
	require.Empty(t, box.to("late@example.com"))
	require.Empty(t, box.to("soon@example.com"))
	s.SetApp("booking", true)
	s.Eventually(func() bool { return len(box.to("late@example.com")) == 1 })
	s.Eventually(func() bool {
		return slices.Equal(statuses(), []string{statusSent, statusSent, statusFailed, statusSent})
	})
	require.Empty(t, box.to("soon@example.com"), "its time was over when the app came back")
}

func TestAMailThatNobodyCouldSendForDaysIsNotSentAnyMore(t *testing.T) {
	t.Parallel()
	box := &mailbox{have: map[string][]string{}}
	s, inside, statuses := ownMails(t, box)
	post(t, s, letterOf(t, "old@example.com"))
	later := letterOf(t, "asked-early@example.com")
	later.NotBefore = s.Now().Add(6 * 24 * time.Hour).Unix()
	post(t, s, later)
	s.Settle()
	s.Travel(6*24*time.Hour + time.Hour)
	running, stop := context.WithCancel(t.Context())
	ended := sending(running, inside)
	s.Eventually(func() bool {
		return !slices.Contains(statuses(), statusQueued) && !slices.Contains(statuses(), statusSending)
	})
	require.Empty(t, box.to("old@example.com"))
	require.Len(t, box.to("asked-early@example.com"), 1)
	stop()
	<-ended

	// However old it is, a server may refuse it for a while.
	post(t, s, letterOf(t, "an@example.com"))
	s.Settle()
	for attempts, status := range map[int]string{1: statusRetrying, mostAttempts: statusFailed} {
		_, err := s.Kit.DB.Pool.Exec(t.Context(), `update mail set created_at = now() - interval '30 days', attempts = $1, next_at = now() where recipient = 'an@example.com'`, attempts-1)
		require.NoError(t, err)
		c, err := inside.claim(t.Context())
		require.NoError(t, err)
		require.NotNil(t, c)
		require.NoError(t, s.Kit.DB.Do(t.Context(), func(tx *db.Tx) error { return c.finish(t.Context(), tx, errors.New("451 later"), false) }))
		require.Equal(t, 1, count(t, s, `select count(*) from mail where recipient = 'an@example.com' and status = '`+status+`'`))
		_, err = s.Kit.DB.Pool.Exec(t.Context(), `update mail set status = 'queued', message = '' where recipient = 'an@example.com'`)
		require.NoError(t, err)
	}
}

func TestAMailIsSentOnceWhileTheClockIsSet(t *testing.T) {
	t.Parallel()
	box := &mailbox{have: map[string][]string{}, stall: make(chan struct{})}
	s, inside, statuses := ownMails(t, box)
	post(t, s, letterOf(t, "an@example.com"))
	s.Settle()
	running, stop := context.WithCancel(t.Context())
	ended := sending(running, inside)
	s.Eventually(func() bool { return box.came.Load() == 1 })
	for _, step := range []time.Duration{10 * time.Minute, -20 * time.Minute, 10 * time.Minute} {
		s.Travel(step)
		again, err := inside.claim(t.Context())
		require.NoError(t, err)
		require.Nil(t, again)
		require.NoError(t, inside.endSending(t.Context()))
		require.Equal(t, []string{statusSending}, statuses())
	}
	close(box.stall)
	s.Eventually(func() bool { return slices.Equal(statuses(), []string{statusSent}) })
	require.Len(t, box.to("an@example.com"), 1)
	stop()
	<-ended
	// A dead process's lease does not last longer because the server's clock went back.
	post(t, s, letterOf(t, "bo@example.com"))
	s.Settle()
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `update mail set status = 'queued', leased_until = now() + interval '10 minutes' where recipient = 'bo@example.com'`)
	require.NoError(t, err)
	c, err := inside.claim(t.Context())
	require.NoError(t, err)
	require.NotNil(t, c)
}
