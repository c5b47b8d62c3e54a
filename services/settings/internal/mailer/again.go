package mailer

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// seenMail is a mail with what it said.
type seenMail struct {
	ID        uuid.UUID  `json:"id" format:"uuid" doc:"The id of the record."`
	To        string     `json:"to" doc:"The address that it went to."`
	Subject   string     `json:"subject" doc:"The line over it."`
	Kind      string     `json:"kind" doc:"What the mail is about."`
	Status    string     `json:"status" enum:"queued,retrying,sending,sent,failed,unknown" doc:"How far it is."`
	Attempts  int        `json:"attempts" doc:"How often it was tried."`
	Error     string     `json:"error" doc:"What the mail server said; empty for nothing."`
	CreatedAt time.Time  `json:"created_at" doc:"When it was asked for."`
	SentAt    *time.Time `json:"sent_at" doc:"When the mail server took it; null while it has not."`
	Text      *string    `json:"text" nullable:"true" doc:"The mail as plain text, with … for the tokens of its links; null for a mail about an account, and for one of before its text was kept."`
	HTML      *string    `json:"html" nullable:"true" doc:"The mail as a page, likewise. It loads nothing but the logo."`
	// Again says whether and why not resend-mail would refuse.
	Again string `json:"again" enum:"yes,waiting,no_text,ask_again,expired" doc:"Whether the mail can be sent again: yes, or why not. waiting: it is on its way; ask_again: who is asked about marketing is asked on their own page."`
}

// storedMail is what resending looks at.
type storedMail struct {
	sentMail
	About  string
	Kept   []byte
	Tokens [][]byte
	Over   bool
}

// find finds a mail that the actor may see, locked or not; 404 svc_not_found otherwise.
func find(ctx context.Context, tx *db.Tx, id uuid.UUID, lock string) (storedMail, error) {
	where := visible(tx)
	where.And("m.id = ?", id)
	// What a mail said is over when its time is, and when a newer one about the same took its place.
	return db.Find[storedMail](ctx, tx, fault.NotFound("mail"), `select id, recipient, subject, kind, status, attempts, error, created_at, sent_at, coalesce(about, '') as about, kept, tokens,
		coalesce(not_after <= `+where.Bind("?", tx.Now)+`, false) or exists (select from mail n where n.about = m.about and n.turn > m.turn and (n.replaces or n.kind = m.kind)) as over
		from mail m where `+where.String()+lock, where.Args...)
}

// again is whether a mail can be sent again.
func (s storedMail) again() string {
	switch {
	case s.Status == statusQueued, s.Status == statusRetrying, s.Status == statusSending:
		return "waiting"
	case s.Kept == nil:
		return "no_text"
	case strings.HasPrefix(s.Kind, "marketing."):
		return "ask_again"
	case s.Over:
		return "expired"
	}
	return "yes"
}

// see shows a mail with what it said.
func see(ctx context.Context, tx *db.Tx, in op.ByID) (seenMail, error) {
	s, err := find(ctx, tx, in.ID, "")
	if err != nil {
		return seenMail{}, err
	}
	out := seenMail{ID: s.ID, To: s.To, Subject: s.Subject, Kind: s.Kind, Status: s.Status, Attempts: s.Attempts, Error: s.Error, CreatedAt: s.CreatedAt, SentAt: s.SentAt,
		Again: s.again()}
	if s.Kept == nil {
		return out, nil
	}
	var m proto.Mail
	if err := protobuf.Unmarshal(s.Kept, &m); err != nil {
		return out, fmt.Errorf("decode what is kept of mail %s: %w", s.ID, err)
	}
	text, html := hiddenToken.ReplaceAllString(m.GetText(), "$1"), hiddenToken.ReplaceAllString(m.GetHtml(), "$1")
	out.Text, out.HTML = &text, &html
	return out, nil
}

// Refusals of resend-mail.
const (
	failNoText  = "The mail is about an account, or older than the texts that are kept."
	failAsk     = "The mail is about marketing: request-marketing-consent asks a contact once more."
	failPurpose = "The appointment is over, or a newer mail about the same took its place."
)

// resend puts a mail into the queue once more. Its links get new tokens, which booking is asked to let in.
func resend(ctx context.Context, tx *db.Tx, in op.ByID) (sentMail, error) {
	s, err := find(ctx, tx, in.ID, " for update of m")
	if err != nil {
		return sentMail{}, err
	}
	switch s.again() {
	case "waiting":
		return sentMail{}, fault.InvalidStatus(s.Status, "The mail is on its way.")
	case "no_text":
		return sentMail{}, fault.Conflict("no_text", failNoText)
	case "ask_again":
		return sentMail{}, fault.Conflict("ask_again", failAsk)
	case "expired":
		return sentMail{}, fault.Conflict("expired", failPurpose)
	}
	var kept proto.Mail
	if err := protobuf.Unmarshal(s.Kept, &kept); err != nil {
		return sentMail{}, fmt.Errorf("decode what is kept of mail %s: %w", s.ID, err)
	}
	m, hashes := withTokens(&kept, len(s.Tokens))
	for i, hash := range hashes {
		if err := tx.Emit(ctx, db.Event{Topic: proto.BookingCommandTopic, Kind: proto.KindRenewLink, Key: s.About, Data: &proto.RenewLink{From: s.Tokens[i], To: hash}}); err != nil {
			return sentMail{}, err
		}
	}
	message, err := protobuf.Marshal(m)
	if err != nil {
		return sentMail{}, fmt.Errorf("encode mail %s: %w", s.ID, err)
	}
	// Every mail that goes out is published, which is how a rehearsal knows of it. The queue has this one, so it does not take it a second time.
	m.Id = s.ID.String()
	if err := tx.Mail(ctx, m); err != nil {
		return sentMail{}, err
	}
	if hashes == nil {
		hashes = [][]byte{}
	}
	return db.One[sentMail](ctx, tx, `update mail set message = $2, tokens = $3, status = 'queued', error = '', sent_at = null, next_at = $4, leased_by = null, leased_until = '-infinity'
		where id = $1 returning id, recipient, subject, kind, status, attempts, error, created_at, sent_at`, s.ID, message, hashes, tx.Now)
}
