package settings

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

// takeMail puts a mail into the queue, once per id.
func (s *service) takeMail(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != "mail" {
		return nil
	}
	var m proto.Mail
	if err := e.Decode(&m); err != nil {
		return err
	}
	mailID, err := uuid.Parse(m.GetId())
	if err != nil {
		return err
	}
	next := tx.Now
	if at := m.GetNotBefore(); at > 0 {
		next = unix(at)
	}
	_, err = tx.Exec(ctx, `insert into mail (id, message, recipient, subject, kind, status, next_at, created_at, person)
		select $1::uuid, $2::bytea, $3, $4, $5, 'queued', $6::timestamptz, $7::timestamptz, $8::bytea where not exists (select from forgotten where person = $8 and at >= $7)
		on conflict (id) do nothing`, mailID, e.Data, m.GetTo(), m.GetSubject(), m.GetKind(), next, e.At.Truncate(time.Second), s.Keys.Person(address.Key(m.GetTo())))
	return err
}

const (
	// lease is how long a mail is left to the replica that took it: more than one attempt can last.
	lease = 2 * time.Minute
	// senders work on the queue at a time.
	senders = 4
	// giveUp is how long a server that cannot be reached is tried.
	giveUp = 5 * 24 * time.Hour
	// longestWait between two attempts.
	longestWait = 15 * time.Minute
)

// sendMail works on the queue until ctx ends.
func (s *service) sendMail(ctx context.Context) {
	if s.Config.SMTPURL == "" {
		slog.WarnContext(ctx, "no SVC_SMTP_URL: mails wait in the queue")
		<-ctx.Done()
		return
	}
	free := make(chan struct{}, senders)
	for range senders {
		free <- struct{}{}
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-free:
		}
		m, err := s.claimMail(ctx)
		if err != nil || m == nil {
			if err != nil && ctx.Err() == nil {
				slog.WarnContext(ctx, "mail queue cannot be read", "error", err)
			}
			free <- struct{}{}
			pause(ctx, 250*time.Millisecond)
			continue
		}
		go func() {
			defer func() { free <- struct{}{} }()
			s.attempt(ctx, m)
		}()
	}
	// What is being sent is sent to its end, so that it is not sent again.
	for range senders {
		<-free
	}
}

// claimed is a mail that this replica alone may send until its lease ends.
type claimed struct {
	ID        uuid.UUID
	Message   []byte
	Attempts  int
	CreatedAt time.Time
	lease     uuid.UUID
}

func (s *service) claimMail(ctx context.Context) (*claimed, error) {
	var m *claimed
	err := s.DB.Do(ctx, func(tx *db.Tx) error {
		c := claimed{lease: uuid.New()}
		err := tx.QueryRow(ctx, `update mail set next_at = $1, leased_by = $2, attempts = attempts + 1 where id = (
				select id from mail where status in ('queued', 'retrying') and next_at <= $3 order by next_at limit 1 for update skip locked)
			returning id, message, attempts, created_at`, tx.Now.Add(lease), c.lease, tx.Now).Scan(&c.ID, &c.Message, &c.Attempts, &c.CreatedAt)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err == nil {
			m = &c
		}
		return err
	})
	return m, err
}

// attempt sends a claimed mail once and writes down how it went.
func (s *service) attempt(ctx context.Context, c *claimed) {
	// A stop waits for the server's answer rather than leave it open whether the mail went out.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	err := s.deliver(ctx, c.Message)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		e := s.DB.Do(ctx, func(tx *db.Tx) error { return c.finish(ctx, tx, err) })
		if e == nil || ctx.Err() != nil {
			break
		}
		slog.WarnContext(ctx, "outcome of a mail is not written down yet", "mail", c.ID, "error", e)
		pause(ctx, wait)
	}
	if err != nil {
		slog.WarnContext(ctx, "mail was not sent", "mail", c.ID, "attempt", c.Attempts, "error", err)
	}
}

func (s *service) deliver(ctx context.Context, message []byte) error {
	var m proto.Mail
	if err := protobuf.Unmarshal(message, &m); err != nil {
		return errors.Join(mail.ErrRejected, err)
	}
	if m.GetReplyTo() == "" {
		m.ReplyTo = s.replyTo()
	}
	return mail.Send(ctx, s.Config.SMTPURL, &m, s.Config.MailFrom)
}

// replyTo is where answers go when a mail does not say.
func (s *service) replyTo() string {
	var g struct {
		ReplyTo string `json:"reply_to"`
	}
	s.Site.Read(docGeneral, &g)
	return g.ReplyTo
}

func (c *claimed) finish(ctx context.Context, tx *db.Tx, cause error) error {
	var err error
	switch {
	case cause == nil:
		// The body may hold links that open doors: it goes once it has been sent.
		_, err = tx.Exec(ctx, `update mail set status = 'sent', message = null, sent_at = $3, error = '', leased_by = null where id = $1 and leased_by = $2`,
			c.ID, c.lease, tx.Now)
	case errors.Is(cause, mail.ErrRejected) || tx.Now.Sub(c.CreatedAt) > giveUp:
		_, err = tx.Exec(ctx, `update mail set status = 'failed', message = null, error = $3, leased_by = null where id = $1 and leased_by = $2`,
			c.ID, c.lease, cause.Error())
	default:
		_, err = tx.Exec(ctx, `update mail set status = 'retrying', next_at = $3, error = $4, leased_by = null where id = $1 and leased_by = $2`,
			c.ID, c.lease, tx.Now.Add(backOff(c.Attempts)), cause.Error())
	}
	return err
}

// backOff is the wait after so many attempts: seconds at first, for a server that is just starting again.
func backOff(attempts int) time.Duration {
	return min(2*time.Second<<min(attempts-1, 20), longestWait)
}

// SentMail is a mail as administrators see it: never its body, which may hold links for its reader alone.
type SentMail struct {
	ID        uuid.UUID  `json:"id" format:"uuid"`
	To        string     `json:"to"`
	Subject   string     `json:"subject"`
	Kind      string     `json:"kind"`
	Status    string     `json:"status" enum:"queued,retrying,sent,failed"`
	Attempts  int        `json:"attempts"`
	Error     string     `json:"error"`
	CreatedAt time.Time  `json:"created_at"`
	SentAt    *time.Time `json:"sent_at"`
}

// mailsKept is for how long administrators see what was sent.
const mailsKept = 30 * 24 * time.Hour

func listMails(ctx context.Context, tx *db.Tx, in struct {
	Status string `json:"status,omitempty" enum:"queued,retrying,sent,failed"`
	db.Page
}) (db.List[SentMail], error) {
	c, err := tx.Page(in.Page, "mails", in)
	if err != nil {
		return db.List[SentMail]{}, err
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from mail where $1 = '' or status = $1`, in.Status).Scan(&c.Total); err != nil {
			return db.List[SentMail]{}, err
		}
	}
	rows, err := tx.Query(ctx, `select id, recipient, subject, kind, status, attempts, error, created_at, sent_at from mail
		where ($1 = '' or status = $1) and ($2 or (created_at, id) < ($3, $4)) order by created_at desc, id desc limit $5`,
		in.Status, c.First, c.At, c.ID, c.Limit)
	if err != nil {
		return db.List[SentMail]{}, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[SentMail])
	return db.Close(c, all, func(m SentMail) (time.Time, uuid.UUID) { return m.CreatedAt, m.ID }), err
}
