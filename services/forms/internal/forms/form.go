package forms

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

// FormRef names a form.
type FormRef struct {
	ID   int64  `json:"id" doc:"The id of the form."`
	Name string `json:"name" doc:"The name of the form."`
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

// complete adds to forms what is not theirs: counts and pages. id limits the counting to one form; 0 is all.
func (s *service) complete(ctx context.Context, tx *db.Tx, id int64, forms []Form) error {
	w := ownSubmissions(tx)
	w.And("s.created_at >= ?", tx.Now.AddDate(0, 0, -30))
	if id != 0 {
		w.And("s.form_id = ?", id)
	}
	rows, err := tx.Query(ctx, `select s.form_id, count(*) filter (where s.status = 'received'), count(*) filter (where s.status = 'spam')
		from submission s left join contact c on c.id = s.contact_id where `+w.String()+` group by s.form_id`, w.Args...)
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

// published is a form that visitors can send in, or could when they did.
type published struct {
	id, version int64
	// fields is the revision of the custom fields that the questions are worked out with.
	fields     int64
	name       string
	definition definition.Definition
	questions  []form.Question
	// consents is the version of the consents' words.
	consents string
}

func (s *service) newPublished(id, version int64, name string, raw []byte) (published, error) {
	p := published{id: id, version: version, fields: s.fields.revision.Load(), name: name}
	var err error
	if p.definition, err = definition.Load(raw); err != nil {
		return p, fmt.Errorf("form %d: %w", id, err)
	}
	p.questions, p.consents = form.Ask(p.definition.Elements, s.fields.named()), form.ConsentVersion(p.definition.Elements)
	return p, nil
}

// newToken makes a time token for the form with the consents of now.
func (s *service) newToken(p published) string {
	return s.token.Make(formKey(p.id), p.consents, s.DB.Now())
}

// checkToken refuses a token that newToken did not make for this form, or made for consents in other words than those of now.
func (s *service) checkToken(p published, token string) error {
	seen, err := s.token.Check(formKey(p.id), token, s.DB.Now())
	if err == nil && p.consents != "" && seen != p.consents {
		err = fault.InvalidToken("The words of the form have changed. Load it again.")
	}
	return err
}

// formCache keeps published forms, worked out.
type formCache struct {
	mu    sync.Mutex
	forms map[int64]published
}

const maxRemembered = 1000

func (c *formCache) get(id int64) (published, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.forms[id]
	return p, ok
}

func (c *formCache) put(p published) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.forms == nil || len(c.forms) >= maxRemembered {
		c.forms = map[int64]published{}
	}
	c.forms[p.id] = p
}

// rememberedForm gives a form as it was published when this replica last read it. It may have changed since: whoever goes
// by it lets the transaction assume stillPublished.
func (s *service) rememberedForm(id int64) (published, bool) {
	p, ok := s.forms.get(id)
	return p, ok && p.fields == s.fields.revision.Load()
}

// publishedForm reads the form with this id; 404 svc_not_found when it is a draft, in the trash or unknown. The replica
// remembers it from the commit on.
func (s *service) publishedForm(ctx context.Context, tx *db.Tx, id int64) (published, error) {
	known, ok := s.rememberedForm(id)
	if !ok {
		known = published{}
	}
	var version int64
	var name string
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, case when version <> $2 then definition end from form
		where id = $1 and status = 'publish' and deleted_at is null`, id, known.version).Scan(&version, &name, &raw)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return published{}, fault.NotFound("form")
	case err != nil:
		return published{}, err
	case raw == nil:
		return known, nil
	}
	p, err := s.newPublished(id, version, name, raw)
	if err == nil {
		tx.AfterCommit(func() { s.forms.put(p) })
	}
	return p, err
}

// anyForm reads a form in whatever state it is, for what was sent with it before.
func (s *service) anyForm(ctx context.Context, tx *db.Tx, id int64) (published, error) {
	var version int64
	var name string
	var raw []byte
	err := tx.QueryRow(ctx, `select version, name, definition from form where id = $1`, id).Scan(&version, &name, &raw)
	if errors.Is(err, pgx.ErrNoRows) {
		return published{}, fault.NotFound("form")
	}
	if err != nil {
		return published{}, err
	}
	return s.newPublished(id, version, name, raw)
}
