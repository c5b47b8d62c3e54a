package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/letter"
	"frontdesk/libs/mail"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/timeline"
)

// newMail is what somebody of the team writes to a contact.
type newMail struct {
	ID          uuid.UUID            `json:"id"`
	Subject     string               `json:"subject" required:"true" maxLength:"190" doc:"The line over it; line breaks become blanks."`
	Body        string               `json:"body" required:"true" maxLength:"5000" doc:"Plain text; an empty line begins a paragraph."`
	Appointment opt.Value[uuid.UUID] `json:"appointment,omitzero" nullable:"true" doc:"Id of an appointment of the contact that it is about."`
}

// writtenMail is the mail as the list of mails shows it.
type writtenMail struct {
	ID        string     `json:"id" format:"uuid" doc:"The id of the record."`
	To        string     `json:"to" doc:"The address that it went to."`
	Subject   string     `json:"subject" doc:"The line over it."`
	Kind      string     `json:"kind" doc:"What the mail is about."`
	Status    string     `json:"status" enum:"queued" doc:"How far it is."`
	Attempts  int        `json:"attempts" doc:"How often it was tried."`
	Error     string     `json:"error" doc:"What the mail server said; empty for nothing."`
	CreatedAt time.Time  `json:"created_at" doc:"When it was asked for."`
	SentAt    *time.Time `json:"sent_at" doc:"When the mail server took it; null while it has not."`
}

// failNoAddress is when nobody can be written to, see op.Fails.
const failNoAddress = "The contact has no address."

// writeMail mails a contact what somebody wrote, in the name of the business, with the writer's address for answers.
func (r *Room) writeMail(ctx context.Context, tx *db.Tx, in newMail) (writtenMail, error) {
	c, err := contact.LockLive(ctx, tx, in.ID)
	if err != nil {
		return writtenMail{}, err
	}
	subject, body := strings.Join(strings.Fields(in.Subject), " "), strings.TrimSpace(in.Body)
	wrong := fault.Problems{}
	if subject == "" {
		wrong.Add("subject", fault.Empty())
	}
	if body == "" {
		wrong.Add("body", fault.Empty())
	}
	if err := wrong.Err(); err != nil {
		return writtenMail{}, err
	}
	if in.Appointment.Given() {
		if err := isOf(ctx, tx, in.Appointment.V, c.ID); err != nil {
			return writtenMail{}, err
		}
	}
	if c.Email == "" {
		return writtenMail{}, fault.Conflict("no_address", failNoAddress)
	}
	m, err := mail.Render(r.letter(tx.Who.UserID, c, subject, body))
	if errors.Is(err, mail.ErrContent) {
		// The rules of mail are stricter than those by which addresses and texts were accepted.
		return writtenMail{}, fault.Invalid("subject", fault.NewProblem("not_mailable", "or the address cannot be put into a mail"))
	}
	if err != nil {
		return writtenMail{}, fmt.Errorf("render a mail by hand: %w", err)
	}
	// An erasure finds it by the contact too, whose address may have changed by then.
	m.Records = []string{c.ID.String()}
	data := map[string]any{"mail": map[string]any{"id": m.GetId()}}
	if in.Appointment.Given() {
		data["appointment"] = map[string]any{"id": in.Appointment.V}
	}
	if _, err := timeline.Log(ctx, tx, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Mail, Subject: subject, Body: body, Data: data}); err != nil {
		return writtenMail{}, err
	}
	if err := contact.Touch(ctx, tx, c.ID); err != nil {
		return writtenMail{}, err
	}
	return writtenMail{ID: m.GetId(), To: m.GetTo(), Subject: m.GetSubject(), Kind: m.GetKind(), Status: "queued", CreatedAt: tx.Now}, tx.Mail(ctx, m)
}

// isOf refuses an appointment that the actor may not see, or that is another contact's: 404 svc_not_found.
func isOf(ctx context.Context, tx *db.Tx, appointment, contact uuid.UUID) error {
	err := tx.QueryRow(ctx, `select from appointment where id = $1 and contact_id = $2 and ($3::bigint = 0 or staff_id = $3)`, appointment, contact, tx.Who.OwnUser()).Scan()
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.NotFound("appointment")
	}
	return err
}

// letter is the mail of a user to a contact. Its small print says who wrote it.
func (r *Room) letter(user int64, c contact.Contact, subject, body string) mail.Content {
	var general struct {
		Country string `json:"country"`
	}
	r.Site.Read("general", &general)
	t, business := letter.Reader("", general.Country, r.Config.Zone), r.Site.Business()
	out := mail.Content{Kind: mail.ByHand, To: mail.Person{Name: person.DisplayName(c.FirstName, c.LastName, "", ""), Address: address.Key(c.Email)}, Language: t.Language,
		Business: business, Subject: subject, Paragraphs: letter.Paragraphs(body), Footer: []string{t.T("written", "business", business.Name)}}
	if u, ok := r.Identity.User(user); ok {
		out.ReplyTo = u.GetEmail()
		if u.GetName() != "" {
			out.Footer = []string{t.T("written_by", "by", u.GetName(), "business", business.Name)}
		}
	}
	return out
}
