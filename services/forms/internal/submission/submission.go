package submission

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// The states of a submission, and the results that contacts does not give: of one that waits for it, or never asks.
const (
	statusReceived = "received"
	statusSpam     = "spam"

	resultPending = "pending"
	resultNone    = "none"
)

// originSubmission is the origin of commands to contacts.
const originSubmission = "submission"

// submission is what a visitor sent, as REST and events show it.
type submission struct {
	ID           uuid.UUID      `json:"id" format:"uuid" doc:"The id of the record."`
	Form         formRef        `json:"form"`
	Status       string         `json:"status" enum:"received,spam" doc:"received or spam."`
	Result       result         `json:"result"`
	Contact      opt.Value[ref] `json:"contact" doc:"The visitor's contact, null until contacts has made it."`
	Organization opt.Value[ref] `json:"organization" doc:"The organization that the contact belongs to first of all."`
	Values       definition.Raw `json:"values" doc:"As sent, by element id or target."`
	Page         string         `json:"page" doc:"Where it was sent from."`
	SpamReason   *string        `json:"spam_reason" doc:"Why it is taken for spam, null when it is not: a rule (links, advert, link_markup, link_in_name, test_string; team where the team marked it) and, behind a colon, the words that it found."`
	Error        *string        `json:"error" doc:"Why it could not be processed, null when it could."`
	CreatedAt    time.Time      `json:"created_at" doc:"When it was sent."`

	version int64
	// people are the hashes of the addresses in it.
	people [][]byte
}

// result is what became of a submission.
type result struct {
	Contact string `json:"contact" enum:"created,updated,unchanged,pending,none" doc:"pending until contacts has answered; none for spam and for forms that make no contact."`
}

// formRef names a form.
type formRef struct {
	ID   int64  `json:"id" doc:"The id of the form."`
	Name string `json:"name" doc:"The name of the form."`
}

// ref names a contact or an organization.
type ref struct {
	ID   uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	Name string    `json:"name" doc:"Its name at that time."`
}

const (
	columns = `s.id, s.version, s.form_id, f.name as form_name, s.status, s.result, s.contact_id, coalesce(c.name, '') as contact_name,
		o.id as organization_id, coalesce(o.name, '') as organization_name, s.values, s.page, s.spam_reason, s.error, s.created_at,
		coalesce(s.people, '{}') as people`
	joined = ` from submission s join form f on f.id = s.form_id
		left join contact c on c.id = s.contact_id left join organization o on o.id = c.organization_id`
)

// row is a row of columns.
type row struct {
	ID               uuid.UUID
	Version          int64
	FormID           int64
	FormName         string
	Status, Result   string
	ContactID        *uuid.UUID
	ContactName      string
	OrganizationID   *uuid.UUID
	OrganizationName string
	Values           []byte
	Page             string
	SpamReason       *string
	Error            *string
	CreatedAt        time.Time
	People           [][]byte
}

func scan(from pgx.CollectableRow) (submission, error) {
	r, err := pgx.RowToStructByName[row](from)
	if err != nil {
		return submission{}, err
	}
	s := submission{ID: r.ID, Form: formRef{r.FormID, r.FormName}, Status: r.Status, Result: result{r.Result}, Values: r.Values, Page: r.Page,
		SpamReason: r.SpamReason, Error: r.Error, CreatedAt: r.CreatedAt, version: r.Version, people: r.People}
	if r.ContactID != nil {
		s.Contact = opt.Of(ref{*r.ContactID, r.ContactName})
	}
	if r.OrganizationID != nil {
		s.Organization = opt.Of(ref{*r.OrganizationID, r.OrganizationName})
	}
	return s, nil
}

// visible keeps to submissions (s) of contacts (c) that the actor may see.
func visible(tx *db.Tx) *db.Where {
	w := &db.Where{}
	if tx.Who.Own {
		w.And("c.owner_user_id = ?", tx.Who.UserID)
	}
	return w
}

// read reads a submission that the actor may see; 404 svc_not_found otherwise.
func read(ctx context.Context, tx *db.Tx, id uuid.UUID) (submission, error) {
	w := visible(tx)
	w.And("s.id = ?", id)
	rows, err := tx.Query(ctx, `select `+columns+joined+` where `+w.String(), w.Args...)
	if err != nil {
		return submission{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, fault.NotFound("submission")
	}
	return s, err
}

func get(ctx context.Context, tx *db.Tx, in op.ByID) (submission, error) {
	return read(ctx, tx, in.ID)
}

// filter are the conditions that list and export share; all given ones must hold.
type filter struct {
	Form         int64      `json:"form,omitempty" minimum:"1" doc:"One form; all when left out."`
	Status       string     `json:"status,omitempty" enum:"received,spam"`
	Contact      *uuid.UUID `json:"contact,omitempty"`
	CreatedSince *time.Time `json:"created_since,omitempty" format:"date-time"`
	CreatedUntil *time.Time `json:"created_until,omitempty" format:"date-time" doc:"Before this moment."`
}

type findSubmission struct {
	db.Page
	filter
}

func list(ctx context.Context, tx *db.Tx, in findSubmission) (db.List[submission], error) {
	c, err := tx.Page(in.Page, "submissions", in)
	if err != nil {
		return db.List[submission]{}, err
	}
	w := in.where(tx)
	if c.First {
		if c.Total, err = in.total(ctx, tx, w); err != nil {
			return db.List[submission]{}, err
		}
	}
	w.After(c, "s")
	rows, err := tx.Query(ctx, `select `+columns+joined+` where `+w.String()+db.LimitTo(` order by s.created_at desc, s.id desc`, c.Limit), w.Args...)
	if err != nil {
		return db.List[submission]{}, err
	}
	list, err := pgx.CollectRows(rows, scan)
	return db.Close(c, list, func(s submission) (time.Time, uuid.UUID) { return s.CreatedAt, s.ID }), err
}

// total is how many submissions w allows, which is f.where.
func (f filter) total(ctx context.Context, tx *db.Tx, w *db.Where) (n int64, err error) {
	if !tx.Who.Own && f.Contact == nil && f.CreatedSince == nil && f.CreatedUntil == nil {
		var form []string
		if f.Form != 0 {
			form = []string{strconv.FormatInt(f.Form, 10)}
		}
		return tx.CountRows(ctx, "submission", form, db.Only(f.Status))
	}
	from := ` from submission s`
	if tx.Who.Own {
		from += ` join contact c on c.id = s.contact_id`
	}
	err = tx.QueryRow(ctx, `select count(*)`+from+` where `+w.String(), w.Args...).Scan(&n)
	return n, err
}

// where is visible that f selects.
func (f filter) where(tx *db.Tx) *db.Where {
	w := visible(tx)
	if f.Form != 0 {
		w.And("s.form_id = ?", f.Form)
	}
	if f.Status != "" {
		w.And("s.status = ?", f.Status)
	}
	if f.Contact != nil {
		w.And("s.contact_id = ?", *f.Contact)
	}
	if f.CreatedSince != nil {
		w.And("s.created_at >= ?", *f.CreatedSince)
	}
	if f.CreatedUntil != nil {
		w.And("s.created_at < ?", *f.CreatedUntil)
	}
	return w
}

// emit publishes a submission as it is now, whoever may see it.
func emit(ctx context.Context, tx *db.Tx, kind string, id uuid.UUID, changed []string) (submission, error) {
	rows, err := tx.Query(ctx, `select `+columns+joined+` where s.id = $1`, id)
	if err != nil {
		return submission{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, scan)
	if err != nil {
		return s, err
	}
	return s, tx.Emit(ctx, db.Event{Topic: proto.SubmissionTopic, Kind: kind, Key: id.String(), Version: s.version, Changed: changed, Data: s,
		Extra: &proto.PeopleNamed{Called: s.people}})
}

// publish publishes submission.updated for submissions as they are now.
func publish(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	for _, id := range ids {
		if _, err := emit(ctx, tx, proto.KindSubmissionUpdated, id, nil); err != nil {
			return err
		}
	}
	return nil
}
