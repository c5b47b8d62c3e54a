package forms

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

type sentForm struct {
	ID     int64  `json:"id" minimum:"1"`
	Values object `json:"values" required:"true" doc:"Answers by element id or target."`
	Token  string `json:"token" maxLength:"200" doc:"The time token that came with the form."`
	HpURL  string `json:"hp_url" maxLength:"2048" doc:"People do not see this field and leave it empty."`
	Page   string `json:"page" maxLength:"2048" doc:"Address of the page that shows the form."`
}

// Sent is what the visitor gets for a submission.
type Sent struct {
	AfterSubmit definition.AfterSubmit `json:"after_submit"`
}

// Token is a fresh time token.
type Token struct {
	Token string `json:"token"`
}

func (s *service) formToken(ctx context.Context, tx *db.Tx, in formID) (Token, error) {
	f, err := s.publishedForm(ctx, tx, in.ID)
	if err != nil {
		return Token{}, err
	}
	return Token{s.token.Make(formKey(f.id), s.DB.Now())}, nil
}

// stillPublished: the form is published, in the version that this replica remembers.
const stillPublished = db.Assumption("the form is still the published one")

// submit stores what a visitor sends. The form is the remembered one, which saves reading it: both what is stored and
// what is refused by it holds only if it is still the published one.
func (s *service) submit(ctx context.Context, tx *db.Tx, in sentForm) (Sent, error) {
	f, remembered := s.rememberedForm(in.ID)
	if !remembered || !tx.Trusts(stillPublished) {
		var err error
		if f, err = s.publishedForm(ctx, tx, in.ID); err != nil {
			return Sent{}, err
		}
	}
	tx.Assume(stillPublished, `exists (select from form where id = $1 and version = $2 and status = 'publish' and deleted_at is null)`, f.id, f.version)
	if in.HpURL != "" {
		return Sent{}, fault.InvalidToken("The form could not be accepted. Load it again.")
	}
	if err := s.token.Check(formKey(f.id), in.Token, s.DB.Now()); err != nil {
		return Sent{}, err
	}
	values, err := in.Values.entries()
	if err != nil {
		return Sent{}, fault.Param("values", "must be an object")
	}
	answers, err := definition.Values(f.definition, values)
	if err != nil {
		return Sent{}, err
	}
	c := answers.Contact
	if tx.Who.Label = nameOf(c.FirstName, c.LastName, c.Email, c.Phone); tx.Who.Label == "" {
		tx.Who.Label = "Visitor"
	}
	e := entry{id: db.NewID(), form: f, answers: answers, sent: in.Values, page: oneLine(in.Page), spam: definition.Spam(answers), fresh: true}
	_, err = s.take(ctx, tx, e)
	return Sent{f.definition.AfterSubmit}, err
}

// entry is a submission on its way in.
type entry struct {
	id      uuid.UUID
	form    published
	answers definition.Answers
	sent    object
	page    string
	// spam is why it is taken for spam; problem why it cannot be processed. Empty when neither.
	spam, problem string
	// fresh tells that the id was made for it, so that it cannot have been taken before.
	fresh bool
	// contact and appointment are set for the details of a booking.
	contact, appointment *uuid.UUID
}

// take stores a submission and sets going what follows from it. One that was taken before, or is refused,
// changes nothing.
func (s *service) take(ctx context.Context, tx *db.Tx, e entry) (taken bool, err error) {
	var held []byte
	result, status := resultNone, statusReceived
	command := e.command(s)
	if e.spam != "" {
		status = statusSpam
		if command != nil {
			if held, err = protobuf.Marshal(command); err != nil {
				return false, err
			}
		}
	} else if command != nil && e.problem == "" {
		result = resultPending
	}
	lines := linesOf(e.form.definition, e.answers)
	readable, err := json.Marshal(lines)
	if err != nil {
		return false, err
	}
	requested := e.contact
	if command != nil {
		id := uuid.MustParse(command.GetContactId())
		requested = &id
	}
	insert := `insert into submission (id, form_id, status, result, appointment_id, values, answers, page, email, spam_reason, error, held, created_at, people, requested_id)
		values (@id, @form, @status, @result, @appointment, @values, @answers, @page, @email, nullif(@spam, ''), nullif(@problem, ''), @held, @now, @people, @requested)
		on conflict (id) do nothing`
	args := pgx.NamedArgs{"id": e.id, "form": e.form.id, "status": status, "result": result, "appointment": e.appointment, "values": e.sent.text(), "answers": readable,
		"page": e.page, "email": address.Key(e.answers.Contact.Email), "spam": e.spam, "problem": e.problem, "held": held, "now": tx.Now,
		"people": tx.PeopleNamed([]byte(e.sent), []byte(e.page)), "requested": requested}
	// Only what goes on at once needs to see it; all else goes in with the commit.
	if e.fresh && (status == statusSpam || result == resultPending) {
		tx.Defer(insert, args)
	} else if tag, err := tx.Exec(ctx, insert, args); err != nil || tag.RowsAffected() == 0 {
		return false, err
	}
	if status == statusSpam {
		return true, nil
	}
	return true, s.process(ctx, tx, e.id, result, command, lines, e.form)
}

// process does what follows from a received submission: asks for the contact, or tells of the submission at
// once when there is none to ask for, and notifies.
func (s *service) process(ctx context.Context, tx *db.Tx, id uuid.UUID, result string, command *proto.EnsureContact, lines []line, f published) error {
	if result == resultPending {
		err := tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: "ensure_contact", Key: commandKey(command), Data: command})
		if err != nil {
			return err
		}
	} else if _, err := emitSubmission(ctx, tx, "form.submitted", id, nil); err != nil {
		return err
	}
	return s.notify(ctx, tx, f, lines, f.definition.Notify.Emails)
}

func commandKey(c *proto.EnsureContact) string {
	if c.GetEmail() != "" {
		return address.Key(c.GetEmail())
	}
	return c.GetContactId()
}

// command asks contacts for the contact that the answers describe; nil when they describe none.
func (e entry) command(s *service) *proto.EnsureContact {
	c, to := e.answers.Contact, e.form.definition.NewContacts
	if c == (definition.Contact{}) || c.Email == "" && !to.Create {
		return nil
	}
	id := db.NewID()
	if e.contact != nil {
		id = *e.contact
	}
	cmd := &proto.EnsureContact{
		ContactId: id.String(), Email: c.Email, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone,
		Tags: to.Tags, Status: to.Status, Source: to.Source, Origin: "submission", OriginId: e.id.String(), Create: to.Create,
		OrganizationName: e.answers.Organization["name"],
	}
	if cmd.GetSource() == "" {
		cmd.Source = cut(e.form.name, definition.MaxSource)
	}
	// Who has left the team since the form was saved owns nothing new.
	if to.OwnerUserID != nil && s.Identity.OnTeam(*to.OwnerUserID) {
		cmd.OwnerUserId = *to.OwnerUserID
	}
	for _, consent := range e.answers.Consents {
		cmd.Consents = append(cmd.Consents, &proto.Consent{Purpose: consent.Purpose, Text: consent.Text, Marketing: consent.Marketing})
	}
	cmd.Fields = encoded(e.answers.ContactFields)
	details := map[string]string{}
	for name, value := range e.answers.Organization {
		if name != "name" {
			details[name] = value
		}
	}
	cmd.Organization = encoded(details)
	return cmd
}

// encoded is a map as JSON, or nothing when it is empty.
func encoded[V any](m map[string]V) []byte {
	if len(m) == 0 {
		return nil
	}
	raw, err := json.Marshal(m)
	if err != nil {
		panic(err) // maps of checked answers always encode
	}
	return raw
}

// nameOf is how a person is called: by name, else by address or number.
func nameOf(first, last, email, phone string) string {
	for _, name := range []string{strings.TrimSpace(first + " " + last), email, phone} {
		if name != "" {
			return name
		}
	}
	return ""
}

// oneLine is text without what does not belong into an address.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s))
}

func cut(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most])
}

// recordSubmission stores the details of a booking as a submission of their form. The appointment stands
// whatever they are: what cannot be processed is kept with the reason.
func (s *service) recordSubmission(ctx context.Context, tx *db.Tx, c *proto.RecordSubmission) error {
	id, err := uuid.Parse(c.GetSubmissionId())
	if err != nil {
		return err
	}
	form, err := s.anyForm(ctx, tx, c.GetFormId())
	if err != nil {
		return err
	}
	e := entry{id: id, form: form, sent: object(c.GetValues()), page: oneLine(c.GetPage())}
	if contact, err := uuid.Parse(c.GetContactId()); err == nil {
		e.contact = &contact
	}
	if appointment, err := uuid.Parse(c.GetAppointmentId()); err == nil {
		e.appointment = &appointment
	}
	values, err := e.sent.entries()
	if err != nil || len(e.sent) > maxSubmission {
		e.sent, e.problem = nil, "The answers could not be read."
		_, err = s.take(ctx, tx, e)
		return err
	}
	if e.answers, err = definition.Values(form.definition, values); err != nil {
		f := (*fault.Fault)(nil)
		if !errors.As(err, &f) {
			return err
		}
		e.problem, e.answers = f.Message, definition.Answers{Values: values, Lines: unchecked(form.definition, values)}
	}
	_, err = s.take(ctx, tx, e)
	return err
}
