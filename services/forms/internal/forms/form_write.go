package forms

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

type newForm struct {
	Name       string `json:"name" required:"true" maxLength:"190"`
	Status     string `json:"status" enum:"draft,publish" doc:"draft when left out."`
	Definition object `json:"definition" doc:"What the form consists of; either this or template."`
	Template   string `json:"template" maxLength:"50" doc:"Key of a template to start from; the fields it needs are made."`
}

type changedForm struct {
	ID         int64             `json:"id" minimum:"1"`
	Name       opt.Value[string] `json:"name,omitzero" maxLength:"190"`
	Status     opt.Value[string] `json:"status,omitzero" enum:"draft,publish"`
	Definition object            `json:"definition,omitempty" doc:"Replaces the definition whole."`
}

func formKey(id int64) string { return strconv.FormatInt(id, 10) }

func (s *service) createForm(ctx context.Context, tx *db.Tx, in newForm) (Form, error) {
	f := Form{Name: strings.TrimSpace(in.Name), Status: in.Status}
	if f.Name == "" {
		return f, fault.Param("name", "must not be empty")
	}
	if f.Status == "" {
		f.Status = statusDraft
	}
	if (len(in.Definition) == 0) == (in.Template == "") {
		return f, fault.Param("definition", "or template must be given, and not both")
	}
	var err error
	if in.Template != "" {
		f.Definition, err = fromTemplate(ctx, tx, in.Template)
	} else {
		f.Definition, err = s.parse(ctx, tx, in.Definition, nil)
	}
	if err != nil {
		return f, err
	}
	return s.insertForm(ctx, tx, f)
}

// insertForm stores a new form of this name, status and definition, and tells of it.
func (s *service) insertForm(ctx context.Context, tx *db.Tx, f Form) (Form, error) {
	raw, err := json.Marshal(f.Definition)
	if err != nil {
		return f, err
	}
	f.CreatedAt, f.UpdatedAt, f.version, f.UsedOn = tx.Now, tx.Now, 1, []UsedOn{}
	f.Booking = f.Status == statusPublish && definition.NeedsEmail(f.Definition)
	err = tx.QueryRow(ctx, `insert into form (name, status, definition, created_at, updated_at) values ($1, $2, $3, $4, $4) returning id`,
		f.Name, f.Status, raw, tx.Now).Scan(&f.ID)
	if err != nil {
		return f, err
	}
	if err := s.addColumns(ctx, tx, f); err != nil {
		return f, err
	}
	return f, emitForm(ctx, tx, "form.created", f, nil)
}

func fromTemplate(ctx context.Context, tx *db.Tx, key string) (definition.Definition, error) {
	for _, t := range definition.Templates() {
		if t.Key != key {
			continue
		}
		cmd := &proto.EnsureFields{}
		for _, f := range t.Fields {
			cmd.Fields = append(cmd.Fields, &proto.EnsureFields_Field{Entity: f.Entity, Key: f.Key, Label: f.Label, Type: f.Type, Options: f.Options, Source: "forms"})
		}
		if len(cmd.GetFields()) == 0 {
			return t.Definition, nil
		}
		return t.Definition, tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: "ensure_fields", Key: "fields", Data: cmd})
	}
	return definition.Definition{}, fault.Param("template", "must be the key of a template")
}

func (s *service) updateForm(ctx context.Context, tx *db.Tx, in changedForm) (Form, error) {
	if in.Name.Null || in.Status.Null {
		return Form{}, fault.Params(nulls(map[string]bool{"name": in.Name.Null, "status": in.Status.Null}))
	}
	if len(in.Definition) > 0 {
		s.awaitFields(ctx, in.Definition)
	}
	f, err := s.readForm(ctx, tx, in.ID, " for no key update")
	if err != nil {
		return f, err
	}
	var changed []string
	if name := strings.TrimSpace(in.Name.Or(f.Name)); name != f.Name {
		if name == "" {
			return f, fault.Param("name", "must not be empty")
		}
		f.Name, changed = name, append(changed, "name")
	}
	if status := in.Status.Or(f.Status); status != f.Status {
		f.Status, changed = status, append(changed, "status")
	}
	before, err := json.Marshal(f.Definition)
	if err != nil {
		return f, err
	}
	after := before
	if len(in.Definition) > 0 {
		if f.Definition, err = s.parse(ctx, tx, in.Definition, f.Definition.Notify.Emails); err != nil {
			return f, err
		}
		if after, err = json.Marshal(f.Definition); err != nil {
			return f, err
		}
		if string(after) != string(before) {
			changed = append(changed, "definition")
		}
	}
	if len(changed) == 0 {
		return s.completeOne(ctx, tx, f)
	}
	f.Booking = f.Status == statusPublish && definition.NeedsEmail(f.Definition)
	f.UpdatedAt, f.version = tx.Now, f.version+1
	_, err = tx.Exec(ctx, `update form set name = $2, status = $3, definition = $4, updated_at = $5, version = $6 where id = $1`,
		f.ID, f.Name, f.Status, after, tx.Now, f.version)
	if err != nil {
		return f, err
	}
	if err := s.addColumns(ctx, tx, f); err != nil {
		return f, err
	}
	if f, err = s.completeOne(ctx, tx, f); err != nil {
		return f, err
	}
	return f, emitForm(ctx, tx, "form.updated", f, changed)
}

// deleteForm moves a form to the trash: it is gone for everybody, its submissions stay.
func (s *service) deleteForm(ctx context.Context, tx *db.Tx, in formID) (op.None, error) {
	f, err := s.readForm(ctx, tx, in.ID, " for no key update")
	if err != nil {
		return op.None{}, err
	}
	f.UpdatedAt, f.version = tx.Now, f.version+1
	_, err = tx.Exec(ctx, `update form set deleted_at = $2, updated_at = $2, version = $3 where id = $1`, f.ID, tx.Now, f.version)
	if err != nil {
		return op.None{}, err
	}
	return op.None{}, emitForm(ctx, tx, "form.deleted", f, nil)
}

const copySuffix = " (copy)"

// duplicateForm makes a draft of the same definition, notification addresses included.
func (s *service) duplicateForm(ctx context.Context, tx *db.Tx, in formID) (Form, error) {
	f, err := s.readForm(ctx, tx, in.ID, "")
	if err != nil {
		return f, err
	}
	return s.insertForm(ctx, tx, Form{Name: cut(f.Name, 190-len(copySuffix)) + copySuffix, Status: statusDraft, Definition: f.Definition})
}

// Template is a form to start from.
type Template struct {
	Key         string `json:"key"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

func listTemplates(context.Context, *db.Tx, struct{}) (db.List[Template], error) {
	var list []Template
	for _, t := range definition.Templates() {
		list = append(list, Template{t.Key, t.Name, t.Description})
	}
	return db.All(list), nil
}

func nulls(null map[string]bool) map[string]string {
	params := map[string]string{}
	for name, is := range null {
		if is {
			params[name] = "must not be null"
		}
	}
	return params
}

// parse checks a definition against the site of now. emails are the addresses that the form notifies already.
func (s *service) parse(ctx context.Context, tx *db.Tx, raw object, emails []string) (definition.Definition, error) {
	s.awaitFields(ctx, raw)
	d, err := definition.Parse(json.RawMessage(raw), definition.Env{
		Fields: s.fields.list(), NotifyEmails: emails, MayAddEmails: tx.Who.Session, KnownUser: s.Identity.OnTeam})
	return d, err
}

// awaitFields gives custom fields that a definition names a moment to arrive: they may have been made just now.
func (s *service) awaitFields(ctx context.Context, raw object) {
	var d struct{ Elements []struct{ Target string } }
	if json.Unmarshal(raw, &d) != nil || len(d.Elements) > definition.MaxElements {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s.fields.Wait(ctx, func() bool {
		known := map[string]bool{}
		for _, f := range s.fields.All() {
			known[f.Entity+".fields."+f.Key] = true
		}
		for _, e := range d.Elements {
			if strings.HasPrefix(e.Target, "contact.fields.") && !known[e.Target] {
				return false
			}
		}
		return true
	})
}

// addColumns remembers what the form asks for, under its newest label.
func (s *service) addColumns(ctx context.Context, tx *db.Tx, f Form) error {
	raw, err := json.Marshal(f.Definition)
	if err != nil {
		return err
	}
	d, err := definition.Load(raw, s.fields.list())
	if err != nil {
		return err
	}
	var keys, labels []string
	for i := range d.Elements {
		if e := &d.Elements[i]; e.Type == definition.TypeField || e.Type == definition.TypeConsent {
			keys, labels = append(keys, columnKey(e.ID, e.Target)), append(labels, e.Caption())
		}
	}
	_, err = tx.Exec(ctx, `insert into form_column (form_id, key, label)
		select $1, k, l from unnest($2::text[], $3::text[]) with ordinality as u (k, l, n) order by n
		on conflict (form_id, key) do update set label = excluded.label`, f.ID, keys, labels)
	return err
}

// columnKey is what makes answers of two versions of a form, or of two forms, the same column.
func columnKey(element, target string) string {
	if target == "" {
		return "consent:" + element
	}
	return target
}
