package settings

import (
	"context"
	"errors"
	"fmt"
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

// Statuses of a mail in the queue.
const (
	statusQueued   = "queued"
	statusRetrying = "retrying"
	statusSent     = "sent"
	statusFailed   = "failed"
)

// enqueueMail stores the mail that e carries, once per id, unless its recipient was erased since.
func (s *service) enqueueMail(ctx context.Context, tx *db.Tx, e bus.Event, m *proto.Mail) error {
	mailID, err := uuid.Parse(m.GetId())
	if err != nil {
		return fmt.Errorf("id of a mail: %w", err)
	}
	next := tx.Now
	if at := m.GetNotBefore(); at > 0 {
		next = unix(at)
	}
	person := s.Keys.Person(address.Key(m.GetTo()))
	people := append(tx.PeopleNamed([]byte(m.GetSubject()), []byte(m.GetText())), person)
	_, err = tx.Exec(ctx, `insert into mail (id, message, recipient, subject, kind, status, next_at, created_at, person)
		select @id::uuid, @message::bytea, @recipient, @subject, @kind, @status, @next::timestamptz, @at::timestamptz, @person::bytea
		where not exists (select from forgotten_person where called = any(@people) and at > @at)
		on conflict (id) do nothing`,
		pgx.NamedArgs{"id": mailID, "message": e.Data, "recipient": m.GetTo(), "subject": m.GetSubject(), "kind": m.GetKind(), "status": statusQueued,
			"next": next, "at": e.At.Truncate(time.Second), "person": person, "people": people})
	if err != nil {
		return fmt.Errorf("put mail %s into the queue: %w", mailID, err)
	}
	return nil
}

const (
	// lease is for how long only the replica that claimed a mail may send it: longer than one attempt can last.
	lease = 2 * time.Minute
	// senders is how many mails a replica sends at a time.
	senders = 4
	// giveUp is how old a mail gets before it fails for a server that cannot be reached.
	giveUp = 5 * 24 * time.Hour
	// longestWait is the longest time between two attempts.
	longestWait = 15 * time.Minute
)

// sendMails claims and sends due mails until ctx ends, and then waits for the attempts under way.
func (s *service) sendMails(ctx context.Context) {
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
				slog.WarnContext(ctx, "no mail can be claimed", "error", err)
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
	// Attempts under way end first, so that no mail is sent twice.
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
	Lease     uuid.UUID
}

// claimMail leases the mail that is due longest to the caller; nil when none is due.
func (s *service) claimMail(ctx context.Context) (*claimed, error) {
	var m *claimed
	err := s.DB.Do(ctx, func(tx *db.Tx) error {
		m = nil
		c, err := one[claimed](ctx, tx, `update mail set next_at = $1, leased_by = $2, attempts = attempts + 1 where id = (
				select id from mail where status in ('queued', 'retrying') and next_at <= $3 order by next_at limit 1 for update skip locked)
			returning id, message, attempts, created_at, leased_by as lease`, tx.Now.Add(lease), uuid.New(), tx.Now)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("claim a mail: %w", err)
		}
		m = &c
		return nil
	})
	return m, err
}

// attempt sends a claimed mail once and stores the outcome, which it tries until the time of the attempt is over.
func (s *service) attempt(ctx context.Context, c *claimed) {
	// A stop waits for the mail server's answer, because without the answer it is unknown whether the mail was sent.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 40*time.Second)
	defer cancel()
	err := s.deliver(ctx, c.Message)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		e := s.DB.Do(ctx, func(tx *db.Tx) error { return c.finish(ctx, tx, err) })
		if e == nil || ctx.Err() != nil {
			break
		}
		slog.WarnContext(ctx, "outcome of a mail is not stored yet", "mail", c.ID, "error", e)
		pause(ctx, wait)
	}
	if err != nil {
		slog.WarnContext(ctx, "mail was not sent", "mail", c.ID, "attempt", c.Attempts, "error", err)
	}
}

func (s *service) deliver(ctx context.Context, message []byte) error {
	var m proto.Mail
	if err := protobuf.Unmarshal(message, &m); err != nil {
		return fmt.Errorf("%w: decode: %w", mail.ErrRejected, err)
	}
	if m.GetReplyTo() == "" {
		m.ReplyTo = s.replyTo()
	}
	return mail.Send(ctx, s.Config.SMTPURL, &m, s.Config.MailFrom)
}

// replyTo is the address for answers to mails that name none.
func (s *service) replyTo() string {
	var g struct {
		ReplyTo string `json:"reply_to"`
	}
	s.Site.Read(docGeneral, &g)
	return g.ReplyTo
}

// finish stores the outcome of an attempt, unless the lease has passed to another replica. cause is nil for a mail that was
// sent; one that the server rejected for good, or that is too old, has failed.
func (c *claimed) finish(ctx context.Context, tx *db.Tx, cause error) error {
	var err error
	switch {
	case cause == nil:
		// The body may hold links that work for whoever has them: it is deleted once it has been sent.
		_, err = tx.Exec(ctx, `update mail set status = $3, message = null, sent_at = $4, error = '', leased_by = null where id = $1 and leased_by = $2`,
			c.ID, c.Lease, statusSent, tx.Now)
	case errors.Is(cause, mail.ErrRejected) || tx.Now.Sub(c.CreatedAt) > giveUp:
		_, err = tx.Exec(ctx, `update mail set status = $3, message = null, error = $4, leased_by = null where id = $1 and leased_by = $2`,
			c.ID, c.Lease, statusFailed, cause.Error())
	default:
		_, err = tx.Exec(ctx, `update mail set status = $3, next_at = $4, error = $5, leased_by = null where id = $1 and leased_by = $2`,
			c.ID, c.Lease, statusRetrying, tx.Now.Add(backOff(c.Attempts)), cause.Error())
	}
	if err != nil {
		return fmt.Errorf("store the outcome of mail %s: %w", c.ID, err)
	}
	return nil
}

// backOff is the time until the next attempt: 2 s after the first one, twice as long after each further one, at most
// longestWait.
func backOff(attempts int) time.Duration {
	return min(2*time.Second<<min(attempts-1, 20), longestWait)
}

// SentMail is a mail as administrators see it: without its body, which may hold links for its recipient alone.
type SentMail struct {
	ID        uuid.UUID  `json:"id" format:"uuid"`
	To        string     `json:"to" db:"recipient"`
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
	where := &db.Where{}
	if in.Status != "" {
		where.And("m.status = ?", in.Status)
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from mail m where `+where.String(), where.Args...).Scan(&c.Total); err != nil {
			return db.List[SentMail]{}, fmt.Errorf("count mails: %w", err)
		}
	}
	where.After(c, "m")
	all, err := many[SentMail](ctx, tx, db.LimitTo(`select id, recipient, subject, kind, status, attempts, error, created_at, sent_at from mail m
		where `+where.String()+` order by created_at desc, id desc`, c.Limit), where.Args...)
	if err != nil {
		return db.List[SentMail]{}, fmt.Errorf("list mails: %w", err)
	}
	return db.Close(c, all, func(m SentMail) (time.Time, uuid.UUID) { return m.CreatedAt, m.ID }), nil
}
