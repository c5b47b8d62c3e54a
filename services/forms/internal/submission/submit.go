package submission

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

type submitInput struct {
	ID     int64          `json:"id" minimum:"1"`
	Values definition.Raw `json:"values" required:"true" doc:"Answers by element id or target."`
	Token  string         `json:"token" maxLength:"200" doc:"The time token that came with the form."`
	HpURL  string         `json:"hp_url" maxLength:"2048" doc:"People do not see this field and leave it empty."`
	Page   string         `json:"page" maxLength:"2048" doc:"Address of the page that shows the form: http, https or empty."`
	// Language is checked by the enum.
	Language string `json:"language" enum:"en,nl,fr,de" doc:"Language of the page, and so of what the visitor is mailed; that of the business's country when left out."`
}

// thanks is what the visitor gets for a submission.
type thanks struct {
	AfterSubmit definition.AfterSubmit `json:"after_submit"`
}

// submit stores what a visitor sends.
func (r *Room) submit(ctx context.Context, tx *db.Tx, in submitInput) (thanks, error) {
	f, err := r.forms.ForVisitor(ctx, tx, in.ID)
	if err != nil {
		return thanks{}, err
	}
	e, err := r.readSubmit(f, in)
	if err != nil {
		return thanks{}, err
	}
	tx.Who.Label = cmp.Or(e.visitor, "Visitor")
	if e.status() == statusSpam || e.result() == resultPending {
		tx.Defer(insert, e.row(tx)) // nothing reads it before the commit
	} else if _, err := tx.Exec(ctx, insert, e.row(tx)); err != nil {
		return thanks{}, fmt.Errorf("insert submission: %w", err)
	}
	return thanks{f.Definition.AfterSubmit}, r.followUp(ctx, tx, e)
}

// readSubmit checks what a visitor sent, in this order: honeypot and token (400 svc_invalid_token), values and page (400
// svc_invalid_param).
func (r *Room) readSubmit(f definition.Published, in submitInput) (entry, error) {
	if in.HpURL != "" {
		return entry{}, fault.InvalidToken("The form could not be accepted. Load it again.")
	}
	if err := r.forms.CheckToken(f, in.Token); err != nil {
		return entry{}, err
	}
	if in.Values.Null() {
		return entry{}, fault.Invalid("values", fault.Null())
	}
	values, err := in.Values.Entries()
	if err != nil {
		return entry{}, fault.Invalid("values", fault.Type("an object"))
	}
	answers, err := form.Check(f.Questions, values)
	if err != nil {
		return entry{}, err
	}
	page := strings.TrimSpace(in.Page)
	if wrong := form.Page(page); !wrong.IsZero() {
		return entry{}, fault.Invalid("page", wrong)
	}
	e := r.newEntry(f, origin{id: db.NewID(), page: page, values: values, language: in.Language}, answers)
	e.spam = definition.Spam(answers)
	return e, nil
}

// origin is where a submission comes from.
type origin struct {
	id     uuid.UUID
	page   string
	values map[string]any
	// language is the visitor's, empty if unknown.
	language string
	// contact and appointment are set for the details of a booking.
	contact, appointment *uuid.UUID
}

// entry is a submission as it will be stored.
type entry struct {
	origin
	form  definition.Published
	lines []form.Line
	// visitor is how the person is called, email the address by which their spam is found. Both can be empty.
	visitor, email string
	// command asks contacts for the visitor's contact; nil if the answers name no person.
	command *proto.EnsureContact
	// spam is why it is taken for spam; problem why it cannot be processed. Empty when neither.
	spam, problem string
}

func (r *Room) newEntry(f definition.Published, from origin, a form.Answers) entry {
	c := a.Contact
	return entry{origin: from, form: f, lines: a.Lines, visitor: definition.NameOf(c.FirstName, c.LastName, c.Email, c.Phone), email: address.Key(c.Email),
		command: r.ensureContact(f, from, a)}
}

func (e entry) status() string {
	if e.spam != "" {
		return statusSpam
	}
	return statusReceived
}

func (e entry) result() string {
	if e.spam == "" && e.command != nil {
		return resultPending
	}
	return resultNone
}

// insert stores an entry, unless it was stored before.
const insert = `insert into submission (id, form_id, status, result, appointment_id, values, answers, page, email, spam_reason, error, held, created_at,
		people, read_as, requested_id)
	values (@id, @form, @status, @result, @appointment, @values, @answers, @page, @email, nullif(@spam, ''), nullif(@problem, ''), @held, @now, @people, @read_as, @requested)
	on conflict (id) do nothing`

func (e entry) row(tx *db.Tx) db.Args {
	lines := e.lines
	if lines == nil {
		lines = []form.Line{}
	}
	// The command of spam is sent if a person marks the submission as not spam, that of another again if no answer comes.
	var held []byte
	if e.command != nil {
		held = encoded(protobuf.Marshal(e.command))
	}
	values := encoded(json.Marshal(e.values))
	return db.Args{"id": e.id, "form": e.form.ID, "status": e.status(), "result": e.result(), "appointment": e.appointment,
		"values": values, "answers": encoded(json.Marshal(lines)), "page": e.page, "email": e.email, "spam": e.spam, "problem": e.problem,
		"held": held, "now": tx.Now, "people": tx.PeopleNamed(values, []byte(e.page)), "read_as": erasure.Reading, "requested": e.requested()}
}

// requested is the id that contacts is asked for, by which an erasure finds the submission before contacts has answered.
func (e entry) requested() *uuid.UUID {
	if e.command != nil {
		return optionalID(e.command.GetContactId())
	}
	return e.contact
}

// encoded is the encoding of a value that always encodes: checked answers, lines and commands do.
func encoded(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}

// followUp sends the command for the contact of a received submission, or publishes the submission at once when it has
// none, and notifies. Of spam nothing follows.
func (r *Room) followUp(ctx context.Context, tx *db.Tx, e entry) error {
	if e.spam != "" {
		return nil
	}
	if e.command != nil {
		err := tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: commandKey(e.command), Data: e.command})
		if err != nil {
			return err
		}
	} else if _, err := emit(ctx, tx, proto.KindFormSubmitted, e.id, nil); err != nil {
		return err
	}
	return r.notify(ctx, tx, e.form, e.lines, e.form.Definition.Notify.Emails)
}

func commandKey(c *proto.EnsureContact) string {
	if c.GetEmail() != "" {
		return address.Key(c.GetEmail())
	}
	return c.GetContactId()
}

// ensureContact is the command for the contact that the answers describe; nil when they describe none.
func (r *Room) ensureContact(f definition.Published, from origin, a form.Answers) *proto.EnsureContact {
	c, to := a.Contact, f.Definition.NewContacts
	if c == (form.Contact{}) || c.Email == "" && !to.Create {
		return nil
	}
	id := db.NewID()
	if from.contact != nil {
		id = *from.contact
	}
	cmd := a.EnsureContact()
	cmd.ContactId, cmd.Origin, cmd.OriginId, cmd.Language = id.String(), originSubmission, from.id.String(), from.language
	cmd.Tags, cmd.Status, cmd.Source, cmd.Create = to.Tags, to.Status, cmp.Or(to.Source, definition.Cut(f.Name, definition.MaxSource)), to.Create
	// Who has left the team since the form was saved owns nothing new.
	if to.OwnerUserID != nil && r.Identity.OnTeam(*to.OwnerUserID) {
		cmd.OwnerUserId = *to.OwnerUserID
	}
	return cmd
}

// optionalID parses an id of a command; nil if the id is empty.
func optionalID(s string) *uuid.UUID {
	id, err := uuid.Parse(s)
	if err != nil {
		return nil
	}
	return &id
}
