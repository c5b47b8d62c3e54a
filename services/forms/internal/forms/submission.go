package forms

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// The states of a submission, and what can become of its contact besides what contacts says.
const (
	statusReceived = "received"
	statusSpam     = "spam"

	resultPending = "pending"
	resultNone    = "none"
)

// Submission is what a visitor sent, as REST and events show it.
type Submission struct {
	ID           uuid.UUID      `json:"id" format:"uuid"`
	Form         FormRef        `json:"form"`
	Status       string         `json:"status" enum:"received,spam"`
	Result       Result         `json:"result"`
	Contact      opt.Value[Ref] `json:"contact" doc:"The visitor's contact, null while there is none."`
	Organization opt.Value[Ref] `json:"organization" doc:"The organization that the contact belongs to first of all."`
	Values       object         `json:"values" doc:"As sent, by element id or target."`
	Page         string         `json:"page" doc:"Where it was sent from."`
	SpamReason   *string        `json:"spam_reason" doc:"Why it is taken for spam, null when it is not."`
	Error        *string        `json:"error" doc:"Why it could not be processed, null when it could."`
	CreatedAt    time.Time      `json:"created_at"`

	version int64
	// people are the hashes of the addresses in it.
	people [][]byte
}

// Result is what became of a submission.
type Result struct {
	Contact string `json:"contact" enum:"created,updated,unchanged,pending,none" doc:"pending until contacts has answered; none for spam and for forms that make no contact."`
}

// Ref names a contact or an organization.
type Ref struct {
	ID   uuid.UUID `json:"id" format:"uuid"`
	Name string    `json:"name"`
}

type submissionID struct {
	ID uuid.UUID `json:"id"`
}

const (
	submissionColumns = `s.id, s.version, s.form_id, f.name, s.status, s.result, s.contact_id, coalesce(c.name, ''), o.id, coalesce(o.name, ''),
		s.values, s.page, s.spam_reason, s.error, s.created_at, coalesce(s.people, '{}')`
	submissionFrom = ` from submission s join form f on f.id = s.form_id
		left join contact c on c.id = s.contact_id left join organization o on o.id = c.organization_id`
)

func scanSubmission(row pgx.CollectableRow) (Submission, error) {
	var s Submission
	var contact, organization *uuid.UUID
	var contactName, organizationName string
	err := row.Scan(&s.ID, &s.version, &s.Form.ID, &s.Form.Name, &s.Status, &s.Result.Contact, &contact, &contactName, &organization, &organizationName,
		(*[]byte)(&s.Values), &s.Page, &s.SpamReason, &s.Error, &s.CreatedAt, &s.people)
	if contact != nil {
		s.Contact = opt.Of(Ref{*contact, contactName})
	}
	if organization != nil {
		s.Organization = opt.Of(Ref{*organization, organizationName})
	}
	return s, err
}

// readSubmission reads one that the actor may see; 404 svc_not_found otherwise.
func readSubmission(ctx context.Context, tx *db.Tx, id uuid.UUID) (Submission, error) {
	w := where{}
	w.and("s.id = ?", id)
	w.own(tx)
	rows, err := tx.Query(ctx, `select `+submissionColumns+submissionFrom+` where `+w.String(), w.args...)
	if err != nil {
		return Submission{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, scanSubmission)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, fault.NotFound("submission")
	}
	return s, err
}

func getSubmission(ctx context.Context, tx *db.Tx, in submissionID) (Submission, error) {
	return readSubmission(ctx, tx, in.ID)
}

type findSubmission struct {
	db.Page
	Form         int64      `json:"form,omitempty" minimum:"1"`
	Status       string     `json:"status,omitempty" enum:"received,spam"`
	Contact      *uuid.UUID `json:"contact,omitempty"`
	CreatedSince *time.Time `json:"created_since,omitempty" format:"date-time"`
}

func findSubmissions(ctx context.Context, tx *db.Tx, in findSubmission) (db.List[Submission], error) {
	c, err := tx.Page(in.Page, "submissions", in)
	if err != nil {
		return db.List[Submission]{}, err
	}
	w := where{}
	w.own(tx)
	if in.Form != 0 {
		w.and("s.form_id = ?", in.Form)
	}
	if in.Status != "" {
		w.and("s.status = ?", in.Status)
	}
	if in.Contact != nil {
		w.and("s.contact_id = ?", *in.Contact)
	}
	if in.CreatedSince != nil {
		w.and("s.created_at >= ?", *in.CreatedSince)
	}
	if c.First {
		from := ` from submission s`
		if tx.Who.Own {
			from += ` join contact c on c.id = s.contact_id`
		}
		if err := tx.QueryRow(ctx, `select count(*)`+from+` where `+w.String(), w.args...).Scan(&c.Total); err != nil {
			return db.List[Submission]{}, err
		}
	} else {
		w.and("(s.created_at, s.id) < (?, ?)", c.At, c.ID)
	}
	w.args = append(w.args, c.Limit)
	rows, err := tx.Query(ctx, `select `+submissionColumns+submissionFrom+` where `+w.String()+` order by s.created_at desc, s.id desc limit `+w.last(), w.args...)
	if err != nil {
		return db.List[Submission]{}, err
	}
	list, err := pgx.CollectRows(rows, scanSubmission)
	return db.Close(c, list, func(s Submission) (time.Time, uuid.UUID) { return s.CreatedAt, s.ID }), err
}

// emitSubmission tells the other services of a submission as it is now, whoever may see it.
func emitSubmission(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string) (Submission, error) {
	rows, err := tx.Query(ctx, `select `+submissionColumns+submissionFrom+` where s.id = $1`, id)
	if err != nil {
		return Submission{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, scanSubmission)
	if err != nil {
		return s, err
	}
	return s, tx.Emit(ctx, db.Event{Topic: proto.SubmissionTopic, Kind: kind, Key: id.String(), Version: s.version, Changed: changed, Data: s,
		Extra: &proto.PeopleNamed{Called: s.people}})
}

// line is one answer as people read it, kept with the submission: a form may change later.
type line struct {
	Element string `json:"element"`
	Target  string `json:"target"`
	Label   string `json:"label"`
	Kind    string `json:"kind"`
	Text    string `json:"text"`
}

// linesOf are the answers of a submission. One to a custom field that is gone stands there as it was sent.
func linesOf(d definition.Definition, a definition.Answers) []line {
	lines := []line{}
	for _, l := range a.Lines {
		lines = append(lines, line(l))
	}
	for i := range d.Elements {
		if e := &d.Elements[i]; e.Type == definition.TypeField && e.Gone() {
			if text, ok := sentFor(e, a.Values); ok {
				lines = append(lines, line{Element: e.ID, Target: e.Target, Label: e.Caption(), Kind: definition.KindText, Text: text})
			}
		}
	}
	return lines
}

// unchecked are the answers of a submission that cannot be processed, as they were sent.
func unchecked(d definition.Definition, values map[string]any) (lines []definition.Line) {
	for i := range d.Elements {
		e := &d.Elements[i]
		if text, ok := sentFor(e, values); ok && e.Kind() != "" && !e.Gone() {
			lines = append(lines, definition.Line{Element: e.ID, Target: e.Target, Label: e.Caption(), Kind: e.Kind(), Text: text})
		}
	}
	return lines
}

// sentFor is what was sent for an element.
func sentFor(e *definition.Element, values map[string]any) (text string, ok bool) {
	for _, key := range []string{e.ID, e.Target} {
		if v, sent := values[key]; sent {
			return plain(v), true
		}
	}
	return "", false
}

// plain is a value that no field explains, as text.
func plain(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	if v == nil {
		return ""
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
