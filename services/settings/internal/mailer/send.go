package mailer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/mail"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/document"
)

const (
	// lease is for how long no other replica claims a mail: longer than one attempt can last. A replica that was frozen for
	// longer finds that it may not hand the mail over any more.
	lease = 2 * time.Minute
	// senders is how many mails a replica sends at a time.
	senders = 4
	// giveUp is for how long a mail is tried at a server that cannot be reached, and how late it may be tried at all: what nobody could
	// send for so long, because there was no server or its app was off, has become wrong.
	giveUp = 5 * 24 * time.Hour
	// longestWait is the longest time between two attempts.
	longestWait = 15 * time.Minute
	// mostAttempts fill the time of giveUp, but for the first minutes.
	mostAttempts = int(giveUp / longestWait)
)

// outcomes are the statuses of mails that are not sent again.
var outcomes = []string{statusSent, statusFailed, statusUnknown}

// endedMails counts mails by what their last attempt came to.
var endedMails = app.NewOutcomes("mail.ended", "{mail}", "mails that are not sent again, by outcome: sent, failed or unknown")

// sendNext sends the mail that is due longest, once. When the process stops it ends as attempt does, so that no mail is sent twice.
func (r *Room) sendNext(ctx context.Context) (worked bool, err error) {
	m, err := r.claim(ctx)
	if err != nil || m == nil {
		return false, err
	}
	r.attempt(ctx, m)
	return true, nil
}

// claimed is a mail that no other replica claims until the lease ends.
type claimed struct {
	ID       uuid.UUID
	Message  []byte
	Attempts int
	DueAt    time.Time
	NotAfter *time.Time
	Lease    uuid.UUID
}

// claim leases the mail that is due longest to the caller; nil when none is due. Mails of an app that is off are not due, and a mail about
// something is due only behind those about it that came before. The
// clock of the database may be set back: a lease that ends later than any can has ended.
func (r *Room) claim(ctx context.Context) (*claimed, error) {
	var m *claimed
	err := r.DB.Do(ctx, func(tx *db.Tx) error {
		m = nil
		c, err := db.One[claimed](ctx, tx, `update mail set leased_until = clock_timestamp() + $1::interval, leased_by = $2, attempts = attempts + 1 where id = (
				select id from mail m where status in ('queued', 'retrying') and next_at <= $3 and app <> all($4)
					and not held(leased_until, $1)
					and not exists (select from mail e where e.about = m.about and e.turn < m.turn and e.status in ('queued', 'retrying', 'sending'))
				order by next_at limit 1 for update skip locked)
			returning id, message, attempts, next_at as due_at, not_after, leased_by as lease`, lease, uuid.New(), tx.Now, r.appsOff())
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

// appsOff names the apps that are off.
func (r *Room) appsOff() []string {
	off := []string{}
	for _, a := range r.Apps.State().Apps {
		if !r.Apps.On(a.ID) {
			off = append(off, a.ID)
		}
	}
	return off
}

// handOver lets the end of a claimed mail be sent, with which the server may take it. It fails if another replica has claimed the
// mail since, or if its app was switched off. From here on no replica sends the mail again before the server has refused it.
func (r *Room) handOver(ctx context.Context, c *claimed) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		tag, err := tx.Exec(ctx, `update mail set status = $3, leased_until = clock_timestamp() + $4::interval
			where id = $1 and leased_by = $2 and status in ('queued', 'retrying') and app <> all($5)`, c.ID, c.Lease, statusSending, lease, r.appsOff())
		if err == nil && tag.RowsAffected() == 0 {
			err = errNotMine
		}
		return err
	})
}

var errNotMine = errors.New("another replica has claimed the mail, or its app is off")

// errTooLate is the error of a mail whose time is over.
var errTooLate = errors.New("it was too late to send it")

const (
	// storeFor is how long the outcome of an attempt is tried to be stored, storeLast how long once the process stops.
	storeFor  = time.Minute
	storeLast = 2 * time.Second
)

// attempt sends a claimed mail once and stores the outcome. When the process stops, it ends at once if the server cannot have
// taken the mail yet, and else waits for the answer as long as mail.Send does.
func (r *Room) attempt(ctx context.Context, c *claimed) {
	err := errTooLate
	if now := r.DB.Now(); (c.NotAfter == nil || now.Before(*c.NotAfter)) && now.Sub(c.DueAt) <= giveUp {
		err = r.deliver(ctx, c)
	}
	stopping := ctx.Err() != nil
	store, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeFor)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(storeLast, cancel) })()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 2*time.Second) {
		e := r.DB.Do(store, func(tx *db.Tx) error { return c.finish(store, tx, err, stopping) })
		if e == nil || store.Err() != nil {
			break
		}
		slog.WarnContext(ctx, "outcome of a mail is not stored yet", "mail", c.ID, "error", e)
		db.Sleep(store, wait)
	}
	if err != nil {
		slog.WarnContext(ctx, "mail was not sent", "mail", c.ID, "attempt", c.Attempts, "error", err)
	}
}

func (r *Room) deliver(ctx context.Context, c *claimed) error {
	var m proto.Mail
	if err := protobuf.Unmarshal(c.Message, &m); err != nil {
		return fmt.Errorf("%w: decode: %w", mail.ErrRejected, err)
	}
	if m.GetReplyTo() == "" {
		m.ReplyTo = r.replyTo()
	}
	from := mail.Sender(r.Config.MailFrom, r.Site.Business().Name)
	return mail.Send(ctx, r.Config.SMTPURL, &m, from, func(ctx context.Context) error { return r.handOver(ctx, c) })
}

// replyTo is the address for answers to mails that name none.
func (r *Room) replyTo() string {
	var g struct {
		ReplyTo string `json:"reply_to"`
	}
	r.Site.Read(document.General, &g)
	return g.ReplyTo
}

// finish stores the outcome of an attempt, unless the mail has passed to another replica. cause is nil for a mail that was sent;
// one that the server rejected for good, or that was tried for long enough, has failed. A mail that the stop of the process kept from being
// handed over is due at once.
func (c *claimed) finish(ctx context.Context, tx *db.Tx, cause error, stopping bool) error {
	status, next, reason := statusRetrying, tx.Now.Add(backOff(c.Attempts)), ""
	if cause != nil {
		reason = cause.Error()
	}
	switch {
	case cause == nil:
		status = statusSent
	case errors.Is(cause, mail.ErrUnknown):
		status = statusUnknown
	case errors.Is(cause, mail.ErrRejected), errors.Is(cause, errTooLate), c.Attempts >= mostAttempts:
		status = statusFailed
	case stopping:
		next = tx.Now
	}
	// The body may hold links that work for whoever has them: it is deleted with the last attempt. An answer that comes after
	// the mail was given up as unknown still counts, but a body that is gone cannot be sent again.
	err := tx.QueryRow(ctx, `update mail set next_at = @next, error = @error, leased_until = '-infinity',
			status = case when @status = 'retrying' and message is null then 'failed' else @status end,
			message = case when @status = 'retrying' then message end, sent_at = case when @status = 'sent' then @now::timestamptz end
		where id = @id and leased_by = @lease returning status`,
		db.Args{"id": c.ID, "lease": c.Lease, "status": status, "next": next, "error": reason, "now": tx.Now}).Scan(&status)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("store the outcome of mail %s: %w", c.ID, err)
	}
	if slices.Contains(outcomes, status) {
		tx.AfterCommit(func() { endedMails.Add(ctx, status, 1) })
	}
	return nil
}

// endSending gives up the mails whose outcome nobody stored: their process died, or lost the database, after it had handed them
// over.
func (r *Room) endSending(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		tag, err := tx.Exec(ctx, `update mail set status = $1, error = $2, message = null
			where status = 'sending' and not held(leased_until, $3)`,
			statusUnknown, mail.ErrUnknown.Error(), lease)
		if err != nil {
			return fmt.Errorf("end mails without an answer: %w", err)
		}
		if n := tag.RowsAffected(); n > 0 {
			slog.ErrorContext(ctx, "mails may or may not have been sent", "mails", n)
		}
		return nil
	})
}

// backOff is the time until the next attempt: 2 s after the first one, twice as long after each further one, at most
// longestWait.
func backOff(attempts int) time.Duration {
	return min(2*time.Second<<min(attempts-1, 20), longestWait)
}
