package forms

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
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
	ID             int64                 `json:"id"`
	Name           string                `json:"name"`
	Status         string                `json:"status" enum:"draft,publish"`
	Definition     definition.Definition `json:"definition"`
	Submissions30d int64                 `json:"submissions_30d" doc:"Submissions received in the last 30 days, of those the caller may see."`
	Spam30d        int64                 `json:"spam_30d" doc:"Spam of the last 30 days."`
	UsedOn         []UsedOn              `json:"used_on" doc:"Published pages that show the form."`
	Booking        bool                  `json:"booking" doc:"Whether the form can ask for the details of a booking: it is published and has a required email field."`
	CreatedAt      time.Time             `json:"created_at"`
	UpdatedAt      time.Time             `json:"updated_at"`

	version int64
}

// UsedOn is a page that shows a form.
type UsedOn struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// FormRef names a form.
type FormRef struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type formID struct {
	ID int64 `json:"id" minimum:"1"`
}

const formColumns = `id, version, name, status, definition, created_at, updated_at`

// scanForm reads a row of formColumns.
func (s *service) scanForm(row pgx.CollectableRow) (Form, error) {
	var f Form
	var raw []byte
	err := row.Scan(&f.ID, &f.version, &f.Name, &f.Status, &raw, &f.CreatedAt, &f.UpdatedAt)
	if err != nil {
		return f, err
	}
	f.UsedOn = []UsedOn{}
	f.Definition, err = definition.Load(raw, s.fields.list())
	f.Booking = f.Status == statusPublish && definition.NeedsEmail(f.Definition)
	return f, err
}

// readForm reads a form that is not in the trash, without counts; lock is appended to the query.
func (s *service) readForm(ctx context.Context, tx *db.Tx, id int64, lock string) (Form, error) {
	rows, err := tx.Query(ctx, `select `+formColumns+` from form where id = $1 and deleted_at is null`+lock, id)
	if err != nil {
		return Form{}, err
	}
	f, err := pgx.CollectExactlyOneRow(rows, s.scanForm)
	if errors.Is(err, pgx.ErrNoRows) {
		return f, fault.NotFound("form")
	}
	return f, err
}

// complete adds to forms what is not theirs: counts and pages. id limits the counting to one form; 0 is all.
func (s *service) complete(ctx context.Context, tx *db.Tx, id int64, forms []Form) error {
	w := where{}
	w.and("s.created_at >= ?", tx.Now.AddDate(0, 0, -30))
	if id != 0 {
		w.and("s.form_id = ?", id)
	}
	w.own(tx)
	rows, err := tx.Query(ctx, `select s.form_id, count(*) filter (where s.status = 'received'), count(*) filter (where s.status = 'spam')
		from submission s left join contact c on c.id = s.contact_id where `+w.String()+` group by s.form_id`, w.args...)
	if err != nil {
		return err
	}
	counts := map[int64][2]int64{}
	var form, received, spam int64
	_, err = pgx.ForEachRow(rows, []any{&form, &received, &spam}, func() error {
		counts[form] = [2]int64{received, spam}
		return nil
	})
	showing := s.pages.showing()
	for i := range forms {
		f := &forms[i]
		f.Submissions30d, f.Spam30d = counts[f.ID][0], counts[f.ID][1]
		for _, p := range showing[f.ID] {
			f.UsedOn = append(f.UsedOn, UsedOn{p.ID, p.Title, p.URL})
		}
	}
	return err
}

func (s *service) completeOne(ctx context.Context, tx *db.Tx, f Form) (Form, error) {
	one := []Form{f}
	err := s.complete(ctx, tx, f.ID, one)
	return one[0], err
}

func (s *service) listForms(ctx context.Context, tx *db.Tx, _ struct{}) (db.List[Form], error) {
	rows, err := tx.Query(ctx, `select `+formColumns+` from form where deleted_at is null order by id`)
	if err != nil {
		return db.List[Form]{}, err
	}
	forms, err := pgx.CollectRows(rows, s.scanForm)
	if err != nil {
		return db.List[Form]{}, err
	}
	return db.All(forms), s.complete(ctx, tx, 0, forms)
}

func (s *service) getForm(ctx context.Context, tx *db.Tx, in formID) (Form, error) {
	f, err := s.readForm(ctx, tx, in.ID, "")
	if err != nil {
		return f, err
	}
	return s.completeOne(ctx, tx, f)
}

// emitForm tells the other services of a form as it is now.
func emitForm(ctx context.Context, tx *db.Tx, kind string, f Form, changed []string) error {
	return tx.Emit(ctx, db.Event{Topic: proto.FormTopic, Kind: kind, Key: formKey(f.ID), Version: f.version, Changed: changed, Data: f})
}

// published is a form that visitors can send in.
type published struct {
	id, version int64
	fields      int64 // revision of the custom fields
	name        string
	definition  definition.Definition
}

// formCache keeps the definitions of published forms in their parsed form.
type formCache struct {
	mu    sync.Mutex
	forms map[int64]published
}

// rememberedForm is a form as it was published when it was last read. It may have changed since: what is
// done with it says so to the database.
func (s *service) rememberedForm(id int64) (published, bool) {
	s.forms.mu.Lock()
	defer s.forms.mu.Unlock()
	have, ok := s.forms.forms[id]
	return have, ok && have.fields == s.fields.revision.Load()
}

// publishedForm is the form with this id; 404 svc_not_found when it is a draft, in the trash or unknown.
func (s *service) publishedForm(ctx context.Context, tx *db.Tx, id int64) (published, error) {
	s.forms.mu.Lock()
	have := s.forms.forms[id]
	s.forms.mu.Unlock()
	p := published{id: id, fields: s.fields.revision.Load()}
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, case when version <> $2 then definition end from form
		where id = $1 and status = 'publish' and deleted_at is null`, id, have.version).Scan(&p.version, &p.name, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		s.forms.mu.Lock()
		defer s.forms.mu.Unlock()
		delete(s.forms.forms, id)
		return p, fault.NotFound("form")
	}
	if err != nil {
		return p, err
	}
	if raw == nil && have.fields == p.fields {
		return have, nil
	}
	if raw == nil {
		if raw, err = json.Marshal(have.definition); err != nil {
			return p, err
		}
	}
	if p.definition, err = definition.Load(raw, s.fields.list()); err != nil {
		return p, err
	}
	s.forms.mu.Lock()
	defer s.forms.mu.Unlock()
	if s.forms.forms == nil || len(s.forms.forms) >= 1000 {
		s.forms.forms = map[int64]published{}
	}
	s.forms.forms[id] = p
	return p, nil
}

// anyForm is a form whatever its state is, for what was asked with it before.
func (s *service) anyForm(ctx context.Context, tx *db.Tx, id int64) (published, error) {
	p := published{id: id, fields: s.fields.revision.Load()}
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, definition from form where id = $1`, id).Scan(&p.version, &p.name, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, fault.NotFound("form")
	}
	if err != nil {
		return p, err
	}
	p.definition, err = definition.Load(raw, s.fields.list())
	return p, err
}
