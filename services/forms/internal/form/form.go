package form

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
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
	UsedOn         []usedOn              `json:"used_on" doc:"Published pages that show the form."`
	Booking        bool                  `json:"booking" doc:"Whether the form can ask for the details of a booking: it is published, has a required email field and is not in the trash."`
	CreatedAt      time.Time             `json:"created_at" doc:"When it was made."`
	UpdatedAt      time.Time             `json:"updated_at" doc:"When it last changed."`
	DeletedAt      *time.Time            `json:"deleted_at" doc:"When it was moved to the trash; null while it is not there."`

	version int64
}

// RecordVersion is the answer's ETag.
func (f Form) RecordVersion() int64 { return f.version }

// usedOn is a page that shows a form.
type usedOn struct {
	ID    int64  `json:"id" doc:"The id of the page."`
	Title string `json:"title" doc:"The title of the page."`
	URL   string `json:"url" doc:"The address of the page."`
}

type formID struct {
	ID int64 `json:"id" minimum:"1"`
}

// canBook reports whether the form can ask for the details of a booking.
func (f Form) canBook() bool {
	return f.DeletedAt == nil && f.Status == statusPublish && form.NeedsEmail(f.Definition.Elements)
}

const columns = `id, version, name, status, definition, created_at, updated_at, deleted_at`

// scan reads a row of columns; complete adds counts and pages.
func scan(row pgx.CollectableRow) (Form, error) {
	var f Form
	var raw []byte
	err := row.Scan(&f.ID, &f.version, &f.Name, &f.Status, &raw, &f.CreatedAt, &f.UpdatedAt, &f.DeletedAt)
	if err != nil {
		return f, err
	}
	f.UsedOn = []usedOn{}
	f.Definition, err = definition.Load(raw)
	f.Booking = f.canBook()
	return f, err
}

// read reads a form without counts and pages, also one in the trash; 404 svc_not_found for an unknown id.
func read(ctx context.Context, tx *db.Tx, id int64) (Form, error) {
	rows, err := tx.Query(ctx, `select `+columns+` from form where id = $1`, id)
	if err != nil {
		return Form{}, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, fault.NotFound("form")
	}
	return f, err
}

// lock is read for whoever changes the form.
func lock(ctx context.Context, tx *db.Tx, id int64) (Form, error) {
	if _, err := tx.Exec(ctx, `select from form where id = $1 for no key update`, id); err != nil {
		return Form{}, err
	}
	return read(ctx, tx, id)
}

const failTrashed = "The form is in the trash. Restore it first."

// live refuses a form in the trash: 409 svc_invalid_status. It takes what read and lock give.
func live(f Form, err error) (Form, error) {
	if err == nil && f.DeletedAt != nil {
		err = fault.InvalidStatus("deleted", failTrashed)
	}
	return f, err
}

// complete adds to forms what is not theirs: counts and pages. id limits the counting to one form; 0 is all.
func (r *Room) complete(ctx context.Context, tx *db.Tx, id int64, forms []Form) error {
	if err := r.count(ctx, tx, id, forms); err != nil {
		return err
	}
	showing := r.pages.showing()
	for i := range forms {
		f := &forms[i]
		for _, p := range showing[f.ID] {
			f.UsedOn = append(f.UsedOn, usedOn{p.ID, p.Title, p.URL})
		}
	}
	return nil
}

func (r *Room) completeOne(ctx context.Context, tx *db.Tx, f Form) (Form, error) {
	one := []Form{f}
	err := r.complete(ctx, tx, f.ID, one)
	return one[0], err
}

// formQuery asks for the forms, or for those in the trash.
type formQuery struct {
	Deleted bool `json:"deleted,omitempty" doc:"Only those in the trash; else they are left out."`
}

func (r *Room) list(ctx context.Context, tx *db.Tx, in formQuery) (db.List[Form], error) {
	rows, err := tx.Query(ctx, `select `+columns+` from form where (deleted_at is not null) = $1 order by id`, in.Deleted)
	if err != nil {
		return db.List[Form]{}, err
	}
	forms, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return db.List[Form]{}, err
	}
	return db.All(forms), r.complete(ctx, tx, 0, forms)
}

func (r *Room) get(ctx context.Context, tx *db.Tx, in formID) (Form, error) {
	f, err := read(ctx, tx, in.ID)
	if err != nil {
		return f, err
	}
	return r.completeOne(ctx, tx, f)
}

// emit publishes a form as it is now.
func emit(ctx context.Context, tx *db.Tx, kind string, f Form, changed []string) error {
	return tx.Emit(ctx, db.Event{Topic: proto.FormTopic, Kind: kind, Key: keyOf(f.ID), Version: f.version, Changed: changed, Data: f})
}

// publish publishes forms as they are now: form.deleted for those in the trash, form.updated for all others.
func publish(ctx context.Context, tx *db.Tx, ids []int64) error {
	rows, err := tx.Query(ctx, `select `+columns+` from form where id = any($1) order by id`, ids)
	if err != nil {
		return err
	}
	forms, err := pgx.CollectRows(rows, scan)
	if err != nil {
		return err
	}
	for _, f := range forms {
		kind := proto.KindFormUpdated
		if f.DeletedAt != nil {
			kind = proto.KindFormDeleted
		}
		if err := emit(ctx, tx, kind, f, nil); err != nil {
			return err
		}
	}
	return nil
}

// Managers are the addresses of the people who may manage forms.
func (r *Room) Managers() (emails []string) {
	for _, u := range r.Identity.Team() {
		if !u.GetInvited() && r.Identity.Rights(u.GetId())[auth.ManageForms] {
			emails = append(emails, u.GetEmail())
		}
	}
	return emails
}
