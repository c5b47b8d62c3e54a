package forms

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

// The states of a form.
const (
	statusDraft   = "draft"
	statusPublish = "publish"
)

// Form is a form as REST and events show one.
type Form struct {
	ID             int64                 `json:"id" doc:"The id of the form."`
	Name           string                `json:"name" doc:"The name of the form, for the team."`
	Status         string                `json:"status" enum:"draft,publish" doc:"publish or draft."`
	Definition     definition.Definition `json:"definition"`
	Submissions30d int64                 `json:"submissions_30d" doc:"Submissions received in the last 30 days, of those the caller may see."`
	Spam30d        int64                 `json:"spam_30d" doc:"Spam of the last 30 days."`
	UsedOn         []UsedOn              `json:"used_on" doc:"Published pages that show the form."`
	Booking        bool                  `json:"booking" doc:"Whether the form can ask for the details of a booking: it is published and has a required email field."`
	CreatedAt      time.Time             `json:"created_at" doc:"When it was made."`
	UpdatedAt      time.Time             `json:"updated_at" doc:"When it last changed."`

	version int64
}

// RecordVersion is the answer's ETag.
func (f Form) RecordVersion() int64 { return f.version }

// UsedOn is a page that shows a form.
type UsedOn struct {
	ID    int64  `json:"id" doc:"The id of the page."`
	Title string `json:"title" doc:"The title of the page."`
	URL   string `json:"url" doc:"The address of the page."`
}

type formID struct {
	ID int64 `json:"id" minimum:"1"`
}

// canBook reports whether the form can ask for the details of a booking.
func (f Form) canBook() bool {
	return f.Status == statusPublish && form.NeedsEmail(f.Definition.Elements)
}

const formColumns = `id, version, name, status, definition, created_at, updated_at`

// scanForm reads a row of formColumns; complete adds counts and pages.
func scanForm(row pgx.CollectableRow) (Form, error) {
	var f Form
	var raw []byte
	err := row.Scan(&f.ID, &f.version, &f.Name, &f.Status, &raw, &f.CreatedAt, &f.UpdatedAt)
	if err != nil {
		return f, err
	}
	f.UsedOn = []UsedOn{}
	f.Definition, err = definition.Load(raw)
	f.Booking = f.canBook()
	return f, err
}

// readForm reads a form that is not in the trash, without counts and pages; 404 svc_not_found otherwise.
func readForm(ctx context.Context, tx *db.Tx, id int64) (Form, error) {
	rows, err := tx.Query(ctx, `select `+formColumns+` from form where id = $1 and deleted_at is null`, id)
	if err != nil {
		return Form{}, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, scanForm)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, fault.NotFound("form")
	}
	return f, err
}

// lockForm is readForm for whoever changes the form.
func lockForm(ctx context.Context, tx *db.Tx, id int64) (Form, error) {
	if _, err := tx.Exec(ctx, `select from form where id = $1 for no key update`, id); err != nil {
		return Form{}, err
	}
	return readForm(ctx, tx, id)
}

// formCounts is how many submissions a form had.
type formCounts struct{ received, spam int64 }

// complete adds to forms what is not theirs: counts and pages. id limits the counting to one form; 0 is all.
func (s *service) complete(ctx context.Context, tx *db.Tx, id int64, forms []Form) error {
	counts, err := countSubmissions(ctx, tx, id, tx.Now.AddDate(0, 0, -30))
	if err != nil {
		return err
	}
	showing := s.pages.showing()
	for i := range forms {
		f := &forms[i]
		f.Submissions30d, f.Spam30d = counts[f.ID].received, counts[f.ID].spam
		for _, p := range showing[f.ID] {
			f.UsedOn = append(f.UsedOn, UsedOn{p.ID, p.Title, p.URL})
		}
	}
	return nil
}

func (s *service) completeOne(ctx context.Context, tx *db.Tx, f Form) (Form, error) {
	one := []Form{f}
	err := s.complete(ctx, tx, f.ID, one)
	return one[0], err
}

func (s *service) listForms(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Form], error) {
	rows, err := tx.Query(ctx, `select `+formColumns+` from form where deleted_at is null order by id`)
	if err != nil {
		return db.List[Form]{}, err
	}
	forms, err := pgx.CollectRows(rows, scanForm)
	if err != nil {
		return db.List[Form]{}, err
	}
	return db.All(forms), s.complete(ctx, tx, 0, forms)
}

func (s *service) getForm(ctx context.Context, tx *db.Tx, in formID) (Form, error) {
	f, err := readForm(ctx, tx, in.ID)
	if err != nil {
		return f, err
	}
	return s.completeOne(ctx, tx, f)
}

// emitForm publishes a form as it is now.
func emitForm(ctx context.Context, tx *db.Tx, kind string, f Form, changed []string) error {
	return tx.Emit(ctx, db.Event{Topic: proto.FormTopic, Kind: kind, Key: formKey(f.ID), Version: f.version, Changed: changed, Data: f})
}

// publishForms publishes forms as they are now: form.deleted for those in the trash, form.updated for all others.
func publishForms(ctx context.Context, tx *db.Tx, ids []int64) error {
	for _, q := range []struct{ kind, where string }{{proto.KindFormUpdated, "deleted_at is null"}, {proto.KindFormDeleted, "deleted_at is not null"}} {
		rows, err := tx.Query(ctx, `select `+formColumns+` from form where id = any($1) and `+q.where+` order by id`, ids)
		if err != nil {
			return err
		}
		forms, err := pgx.CollectRows(rows, scanForm)
		if err != nil {
			return err
		}
		for _, f := range forms {
			if err := emitForm(ctx, tx, q.kind, f, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
