package form

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

type newForm struct {
	Name       string         `json:"name" required:"true" maxLength:"190" doc:"The name of the form, for the team."`
	Status     string         `json:"status" enum:"draft,publish" doc:"draft when left out."`
	Definition definition.Raw `json:"definition" doc:"What the form consists of; either this or template."`
	Template   string         `json:"template" maxLength:"50" doc:"Key of a template to start from; the fields it needs are made."`
}

type changedForm struct {
	ID         int64             `json:"id" minimum:"1"`
	Name       opt.Value[string] `json:"name,omitzero" maxLength:"190" doc:"The name of the form, for the team."`
	Status     opt.Value[string] `json:"status,omitzero" enum:"draft,publish" doc:"publish shows it to visitors, draft does not."`
	Definition definition.Raw    `json:"definition,omitempty" doc:"Replaces the definition whole."`
}

const maxName = 190

func keyOf(id int64) string { return strconv.FormatInt(id, 10) }

func (r *Room) create(ctx context.Context, tx *db.Tx, in newForm) (Form, error) {
	f := Form{Name: strings.TrimSpace(in.Name), Status: cmp.Or(in.Status, statusDraft)}
	if wrong := form.Name(in.Name, maxName); !wrong.IsZero() {
		return f, fault.Invalid("name", wrong)
	}
	if (len(in.Definition) == 0) == (in.Template == "") {
		return f, fault.Invalid("definition", fault.NewProblem("exactly_one", "or template must be given, and not both", "of", []string{"definition", "template"}))
	}
	var err error
	if in.Template != "" {
		f.Definition, err = fromTemplate(ctx, tx, in.Template)
	} else {
		f.Definition, err = r.parse(tx, in.Definition, nil)
	}
	if err != nil {
		return f, err
	}
	if f.Status == statusPublish && !f.Definition.HasField() {
		return f, fault.Invalid("definition.elements", withoutField())
	}
	return r.insert(ctx, tx, f)
}

func withoutField() fault.Problem {
	return fault.NewProblem("no_field", "must have a field before the form can be published")
}

// insert stores a new form with the name, status and definition of f, and publishes it.
func (r *Room) insert(ctx context.Context, tx *db.Tx, f Form) (Form, error) {
	raw, err := json.Marshal(f.Definition)
	if err != nil {
		return f, err
	}
	f.CreatedAt, f.UpdatedAt, f.version, f.UsedOn, f.Booking = tx.Now, tx.Now, 1, []usedOn{}, f.canBook()
	err = tx.QueryRow(ctx, `insert into form (name, status, definition, created_at, updated_at) values ($1, $2, $3, $4, $4) returning id`,
		f.Name, f.Status, raw, tx.Now).Scan(&f.ID)
	if err != nil {
		return f, fmt.Errorf("insert form: %w", err)
	}
	if err := r.addColumns(ctx, tx, f); err != nil {
		return f, err
	}
	return f, emit(ctx, tx, proto.KindFormCreated, f, nil)
}

func (r *Room) update(ctx context.Context, tx *db.Tx, in changedForm) (Form, error) {
	if err := in.check(); err != nil {
		return Form{}, err
	}
	before, err := live(lock(ctx, tx, in.ID))
	if err != nil {
		return before, err
	}
	if err := tx.Match(before.version); err != nil {
		return before, err
	}
	after := before
	after.Name, after.Status = strings.TrimSpace(in.Name.Or(before.Name)), in.Status.Or(before.Status)
	if in.Definition.Given() {
		if after.Definition, err = r.parse(tx, in.Definition, before.Definition.Notify.Emails); err != nil {
			return after, err
		}
	}
	changed, err := changes(before, after)
	if err != nil {
		return after, err
	}
	if len(changed) == 0 {
		return r.completeOne(ctx, tx, before)
	}
	if after.Status == statusPublish && !after.Definition.HasField() {
		place := "status"
		if in.Definition.Given() {
			place = "definition.elements"
		}
		return after, fault.Invalid(place, withoutField())
	}
	if slices.Contains(changed, "definition") {
		tx.Was(change.Set{"definition": {Old: before.Definition}})
	}
	if err := tx.ChangedFrom(before, after); err != nil {
		return after, err
	}
	return r.change(ctx, tx, after, changed)
}

func (in changedForm) check() error {
	found := fault.Problems{}
	if in.Name.Given() {
		found.Add("name", form.Name(in.Name.V, maxName))
	}
	if in.Definition.Null() {
		found.Add("definition", fault.Null())
	}
	return found.Err()
}

// changes names the properties that differ.
func changes(before, after Form) (changed []string, err error) {
	if before.Name != after.Name {
		changed = append(changed, "name")
	}
	if before.Status != after.Status {
		changed = append(changed, "status")
	}
	was, err := json.Marshal(before.Definition)
	if err != nil {
		return nil, err
	}
	is, err := json.Marshal(after.Definition)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(was, is) {
		changed = append(changed, "definition")
	}
	return changed, nil
}

// change stores a locked form as it is now, and publishes it.
func (r *Room) change(ctx context.Context, tx *db.Tx, f Form, changed []string) (Form, error) {
	raw, err := json.Marshal(f.Definition)
	if err != nil {
		return f, err
	}
	f.Booking, f.UpdatedAt, f.version = f.canBook(), tx.Now, f.version+1
	_, err = tx.Exec(ctx, `update form set name = $2, status = $3, definition = $4, updated_at = $5, version = $6 where id = $1`,
		f.ID, f.Name, f.Status, raw, tx.Now, f.version)
	if err != nil {
		return f, fmt.Errorf("update form %d: %w", f.ID, err)
	}
	if err := r.addColumns(ctx, tx, f); err != nil {
		return f, err
	}
	if f, err = r.completeOne(ctx, tx, f); err != nil {
		return f, err
	}
	return f, emit(ctx, tx, proto.KindFormUpdated, f, changed)
}

// trash moves a form to the trash, where visitors no longer find it; its submissions stay.
func trash(ctx context.Context, tx *db.Tx, in formID) (op.None, error) {
	f, err := live(lock(ctx, tx, in.ID))
	if err != nil {
		return op.None{}, err
	}
	if err := tx.Match(f.version); err != nil {
		return op.None{}, err
	}
	f.DeletedAt = &tx.Now
	_, err = move(ctx, tx, f, proto.KindFormDeleted)
	return op.None{}, err
}

// restore takes a form out of the trash, with the status that it had.
func (r *Room) restore(ctx context.Context, tx *db.Tx, in formID) (Form, error) {
	f, err := lock(ctx, tx, in.ID)
	if err != nil {
		return f, err
	}
	if f.DeletedAt == nil {
		return f, fault.InvalidStatus("active", failNotTrashed)
	}
	f.DeletedAt = nil
	if f, err = move(ctx, tx, f, proto.KindFormRestored); err != nil {
		return f, err
	}
	return r.completeOne(ctx, tx, f)
}

const failNotTrashed = "The form is not in the trash."

// move stores whether a locked form is in the trash, and publishes it.
func move(ctx context.Context, tx *db.Tx, f Form, kind string) (Form, error) {
	f.Booking, f.UpdatedAt, f.version = f.canBook(), tx.Now, f.version+1
	if _, err := tx.Exec(ctx, `update form set deleted_at = $2, updated_at = $3, version = $4 where id = $1`, f.ID, f.DeletedAt, tx.Now, f.version); err != nil {
		return f, fmt.Errorf("%s %d: %w", kind, f.ID, err)
	}
	return f, emit(ctx, tx, kind, f, nil)
}

const copySuffix = " (copy)"

// duplicate creates a draft with the same definition, notification addresses included.
func (r *Room) duplicate(ctx context.Context, tx *db.Tx, in formID) (Form, error) {
	f, err := live(read(ctx, tx, in.ID))
	if err != nil {
		return f, err
	}
	return r.insert(ctx, tx, Form{Name: definition.Cut(f.Name, maxName-len(copySuffix)) + copySuffix, Status: statusDraft, Definition: f.Definition})
}

// parse checks a definition against the site of now. emails are the addresses that the form notifies already. If a contact
// field is unknown that may still be on its way, the transaction runs again.
func (r *Room) parse(tx *db.Tx, raw definition.Raw, emails []string) (definition.Definition, error) {
	fields := r.fields.named()
	d, err := definition.Parse(json.RawMessage(raw), definition.Env{
		Fields: fields, NotifyEmails: emails, MayAddEmails: tx.Who.Session, KnownUser: r.Identity.OnTeam})
	if err != nil && namesUnknownField(raw, fields) {
		err = tx.Later(err, fieldArrives)
	}
	return d, err
}

// fieldArrives is how long a custom field that was made just now may take to get here.
const fieldArrives = 400 * time.Millisecond

// namesUnknownField reports whether a definition names a contact field that is not among those known.
func namesUnknownField(raw definition.Raw, known form.Fields) bool {
	var d struct{ Elements []struct{ Target string } }
	if json.Unmarshal(raw, &d) != nil || len(d.Elements) > definition.MaxElements {
		return false
	}
	for _, e := range d.Elements {
		if _, ok := known[e.Target]; !ok && strings.HasPrefix(e.Target, "contact.fields.") {
			return true
		}
	}
	return false
}
