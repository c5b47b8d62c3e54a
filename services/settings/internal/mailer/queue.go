package mailer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/libs/letter"
	"frontdesk/libs/mail"
	"frontdesk/proto"
)

// Statuses of a mail. One that is sending is with the server, which has not answered yet; one whose answer never came is
// unknown, and it is not sent again: the server has taken most of these.
const (
	statusQueued   = "queued"
	statusRetrying = "retrying"
	statusSending  = "sending"
	statusSent     = "sent"
	statusFailed   = "failed"
	statusUnknown  = "unknown"
)

// Queue renders a mail in the name of the business and puts it into the queue.
func (r *Room) Queue(ctx context.Context, tx *db.Tx, c mail.Content) error {
	var err error
	if c.Business, err = r.site.Letterhead(ctx, tx); err != nil {
		return err
	}
	if c.Footer == nil {
		c.Footer = []string{letter.Reader(c.Language, "", r.Config.Zone).T("used", "business", c.Business.Name)}
	}
	m, err := mail.Render(c)
	if errors.Is(err, mail.ErrContent) {
		// The rules of mail are stricter than those by which addresses and texts were accepted.
		return fault.Invalid("email", fault.NewProblem("not_mailable", "or the text cannot be put into a mail"))
	}
	if err != nil {
		return fmt.Errorf("render mail %s: %w", c.Kind, err)
	}
	return tx.Mail(ctx, m)
}

// onMail puts the mail that e carries into the queue, once per id, unless its recipient was erased since. A mail of history is stored as
// failed: it may have been sent before, or comes too late.
func (r *Room) onMail(ctx context.Context, tx *db.Tx, e bus.Event, m *proto.Mail) error {
	mailID, err := uuid.Parse(m.GetId())
	if err != nil {
		return fmt.Errorf("id of a mail: %w", err)
	}
	next := tx.Now
	if at := m.GetNotBefore(); at > 0 {
		next = time.Unix(at, 0).UTC()
	}
	var notAfter *time.Time
	if at := m.GetNotAfter(); at > 0 {
		end := time.Unix(at, 0).UTC()
		notAfter = &end
	}
	status, message, problem := statusQueued, e.Data, ""
	if e.History {
		status, message, problem = statusFailed, nil, "The mail is too old, or may have been sent already."
	}
	person := r.Keys.Person(address.Key(m.GetTo()))
	ids, named := erasure.Mentions(r.Keys.Person, []byte(m.GetSubject()), []byte(m.GetText()))
	for _, id := range m.GetRecords() {
		if id, err := uuid.Parse(id); err == nil {
			ids = append(ids, id)
		}
	}
	var kept []byte
	tokens := [][]byte{}
	if isShown(m.GetKind()) {
		bare, hashes := withoutTokens(r.Config.PublicURL, m)
		if kept, err = protobuf.Marshal(bare); err != nil {
			return fmt.Errorf("encode what is kept of mail %s: %w", mailID, err)
		}
		tokens = append(tokens, hashes...)
	}
	tag, err := tx.Exec(ctx, `insert into mail (id, message, recipient, subject, kind, status, error, next_at, not_after, app, created_at, person, user_id, about, turn,
			kept, tokens, replaces, named_ids, named)
		select @id::uuid, @message::bytea, @recipient, @subject, @kind, @status, @error, @next::timestamptz, @not_after::timestamptz, @app, @at::timestamptz,
			@person::bytea, nullif(@user_id::bigint, 0), nullif(@about, ''), case when @about <> '' then nextval('mail_turn') end,
			@kept::bytea, @tokens::bytea[], @replaces, @ids::uuid[], @named::bytea[]
		where not exists (select from forgotten_person where called = any(@people) and at > @at)
		on conflict (id) do nothing`,
		db.Args{"id": mailID, "message": message, "recipient": m.GetTo(), "subject": m.GetSubject(), "kind": m.GetKind(), "status": status, "error": problem,
			"next": next, "not_after": notAfter, "app": m.GetApp(), "at": e.At.Truncate(time.Second), "person": person, "people": append(named, person), "user_id": e.Actor.UserID, "about": m.GetAbout(),
			"kept": kept, "tokens": tokens, "replaces": m.GetReplaces(), "ids": ids, "named": named})
	if err != nil {
		return fmt.Errorf("put mail %s into the queue: %w", mailID, err)
	}
	if tag.RowsAffected() == 0 || m.GetAbout() == "" || status != statusQueued {
		return nil
	}
	return dropReplaced(ctx, tx, mailID, m)
}

// dropReplaced ends the waiting mails about the same that are not true any more since m. One that the server has already stays, and m
// waits for it.
func dropReplaced(ctx context.Context, tx *db.Tx, id uuid.UUID, m *proto.Mail) error {
	_, err := tx.Exec(ctx, `update mail set status = 'failed', message = null, leased_by = null, error = 'A newer mail about the same took its place.'
		where about = $1 and turn < (select turn from mail where id = $2) and status in ('queued', 'retrying') and (kind = $3 or $4)`, m.GetAbout(), id, m.GetKind(), m.GetReplaces())
	if err != nil {
		return fmt.Errorf("drop the mails that %s replaces: %w", id, err)
	}
	return nil
}

// sentMail is a mail as administrators see it in lists.
type sentMail struct {
	ID        uuid.UUID  `json:"id" format:"uuid" doc:"The id of the record."`
	To        string     `json:"to" db:"recipient" doc:"The address that it went to."`
	Subject   string     `json:"subject" doc:"The line over it."`
	Kind      string     `json:"kind" doc:"What the mail is about."`
	Status    string     `json:"status" enum:"queued,retrying,sending,sent,failed,unknown" doc:"How far it is."`
	Attempts  int        `json:"attempts" doc:"How often it was tried."`
	Error     string     `json:"error" doc:"What the mail server said; empty for nothing."`
	CreatedAt time.Time  `json:"created_at" doc:"When it was asked for."`
	SentAt    *time.Time `json:"sent_at" doc:"When the mail server took it; null while it has not."`
}

// mailsKept is for how long administrators see what was sent.
const mailsKept = 30 * 24 * time.Hour

// visible is the condition for the mails m that the actor may see: who sees only their own records sees what they sent, and what was sent to them.
func visible(tx *db.Tx) *db.Where {
	where := &db.Where{}
	if tx.Who.Own {
		where.And("(m.user_id = ? or lower(m.recipient) = (select lower(email) from person where id = ?))", tx.Who.UserID, tx.Who.UserID)
	}
	return where
}

// list lists the mails that the actor may see.
func list(ctx context.Context, tx *db.Tx, in struct {
	Status string `json:"status,omitempty" enum:"queued,retrying,sending,sent,failed,unknown"`
	db.Page
}) (db.List[sentMail], error) {
	c, err := tx.Page(in.Page, "mails", in)
	if err != nil {
		return db.List[sentMail]{}, err
	}
	where := visible(tx)
	if in.Status != "" {
		where.And("m.status = ?", in.Status)
	}
	if c.First {
		if tx.Who.Own {
			err = tx.QueryRow(ctx, `select count(*) from mail m where `+where.String(), where.Args...).Scan(&c.Total)
		} else {
			c.Total, err = tx.CountRows(ctx, "mail", db.Only(in.Status))
		}
		if err != nil {
			return db.List[sentMail]{}, fmt.Errorf("count mails: %w", err)
		}
	}
	where.After(c, "m")
	all, err := db.Rows[sentMail](ctx, tx, db.LimitTo(`select id, recipient, subject, kind, status, attempts, error, created_at, sent_at from mail m
		where `+where.String()+` order by created_at desc, id desc`, c.Limit), where.Args...)
	if err != nil {
		return db.List[sentMail]{}, fmt.Errorf("list mails: %w", err)
	}
	return db.Close(c, all, func(m sentMail) (time.Time, uuid.UUID) { return m.CreatedAt, m.ID }), nil
}

// forget deletes the mails to a person and those that name them, whether they wait or were sent, and answers with the ids of these mails.
func forget(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `delete from mail where (person = any($1) or named && $1 or named_ids && $3) and created_at < $2 returning id`, p.Called(), p.At, p.IDs())
	if err != nil {
		return nil, err
	}
	to, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return nil, err
	}
	about, err := deleteMailsAbout(ctx, tx, p)
	return append(to, about...), err
}

// deleteMailsAbout deletes the mails to others that wait to be sent and name the person, by an address or as one of its records.
func deleteMailsAbout(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `select id, message from mail where status in ('queued', 'retrying', 'sending') and message is not null and created_at < $1`, p.At)
	if err != nil {
		return nil, err
	}
	var about []uuid.UUID
	var id uuid.UUID
	var message []byte
	if _, err := pgx.ForEachRow(rows, []any{&id, &message}, func() error {
		var m proto.Mail
		if err := protobuf.Unmarshal(message, &m); err != nil {
			return err
		}
		if p.MentionedIn(m.GetSubject()) || p.MentionedIn(m.GetText()) || slices.ContainsFunc(m.GetRecords(), p.MentionedIn) {
			about = append(about, id)
		}
		return nil
	}); err != nil || len(about) == 0 {
		return nil, err
	}
	_, err = tx.Exec(ctx, `delete from mail where id = any($1)`, about)
	return about, err
}

// cancelWaiting ends the mails that wait in a backup, because they may have been sent since.
func (r *Room) cancelWaiting(ctx context.Context) (did []string, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		did = nil
		tx.History = true
		mails, err := tx.Exec(ctx, `update mail set status = $1, message = null, leased_by = null, error = 'The mail waited when the backup was made, and may have been sent since.'
			where status in ($2, $3)`, statusFailed, statusQueued, statusRetrying)
		if err != nil {
			return fmt.Errorf("end the mails that wait: %w", err)
		}
		if n := mails.RowsAffected(); n > 0 {
			did = append(did, fmt.Sprintf("%d mails that waited are not sent, because they may have been sent since the backup", n))
		}
		return nil
	})
	return did, err
}

// DeleteOutdated deletes up to n mails whose time of keeping is over, and returns how many.
func DeleteOutdated(ctx context.Context, tx *db.Tx, n int) (deleted int, err error) {
	tag, err := tx.Exec(ctx, `delete from mail where id = any(array(select id from mail where created_at < $1 and status in ('sent', 'failed', 'unknown')
		order by created_at limit $2 for update skip locked))`, tx.Now.Add(-mailsKept), n)
	return int(tag.RowsAffected()), err
}
