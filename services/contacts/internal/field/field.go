package field

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/person"
)

// Field is a custom field.
type Field struct {
	ID         uuid.UUID  `json:"id" doc:"The id of the record."`
	Entity     string     `json:"entity" enum:"contact,organization,submission" doc:"The kind of record that the field belongs to."`
	Key        string     `json:"key" doc:"The name in fields; it never changes."`
	Label      string     `json:"label" doc:"What people read."`
	Type       string     `json:"type" enum:"text,long_text,email,phone,url,number,date,dropdown,choices,checkbox" doc:"What its values are."`
	Options    []string   `json:"options" doc:"The answers to choose from."`
	Group      *uuid.UUID `json:"group" nullable:"true" doc:"The id of the group; null for none."`
	SortOrder  int        `json:"sort_order" doc:"The place in lists, the lowest first."`
	Source     string     `json:"source" doc:"What made the field: team, or the form template that needs it."`
	ShowInList bool       `json:"show_in_list" doc:"It is a column of the list."`
	Archived   bool       `json:"archived" doc:"It is kept and no longer offered."`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was made."`
	Version    int64      `json:"version" doc:"The ETag that changes of the field take in If-Match."`
}

// RecordVersion is the answer's ETag.
func (f Field) RecordVersion() int64 { return f.Version }

var fieldTypes = []string{"text", "long_text", "email", "phone", "url", "number", "date", "dropdown", "choices", "checkbox"}

const (
	sourceTeam = "team"
	maxOptions = 500
	maxOption  = 190
	maxKey     = 60
)

// fieldColumns are read by readFields.
const fieldColumns = `id, version, entity, key, label, type, options, group_id as "group", sort_order, source, show_in_list, archived, created_at`

func readFields(ctx context.Context, tx *db.Tx, query string, args ...any) ([]Field, error) {
	return db.Rows[Field](ctx, tx, query, args...)
}

// fieldQuery asks for the fields of an entity.
type fieldQuery struct {
	Entity          string `json:"entity" required:"true" enum:"contact,organization,submission"`
	IncludeArchived bool   `json:"include_archived,omitempty"`
}

// listFields lists the custom fields of an entity in their order.
func (r *Room) listFields(ctx context.Context, tx *db.Tx, in fieldQuery) (db.List[Field], error) {
	fields, err := readFields(ctx, tx, `select `+fieldColumns+` from field where entity = $1 and (not archived or $2) order by sort_order, created_at, id`,
		in.Entity, in.IncludeArchived)
	return db.All(fields), err
}

// newField is what a custom field is made of.
type newField struct {
	Entity     string     `json:"entity" required:"true" enum:"contact,organization,submission" doc:"The kind of record that the field belongs to."`
	Type       string     `json:"type" required:"true" enum:"text,long_text,email,phone,url,number,date,dropdown,choices,checkbox" doc:"What its values are."`
	Label      string     `json:"label" required:"true" maxLength:"190" doc:"What people read."`
	Options    []string   `json:"options,omitempty" maxItems:"500" doc:"Needed for dropdown and choices; at most 190 characters each."`
	Group      *uuid.UUID `json:"group,omitempty" nullable:"true" doc:"The id of the group; null for none."`
	ShowInList bool       `json:"show_in_list,omitempty" doc:"It is a column of the list."`
}

// createField makes a custom field. Its key is derived from the label, and never changes.
func (r *Room) createField(ctx context.Context, tx *db.Tx, in newField) (Field, error) {
	f := Field{ID: db.NewID(), Entity: in.Entity, Type: in.Type, Label: in.Label, Options: in.Options, Group: in.Group, Source: sourceTeam,
		ShowInList: in.ShowInList, CreatedAt: tx.Now, Version: 1}
	if err := f.clean(); err != nil {
		return f, err
	}
	if f.Group != nil {
		if err := checkGroup(ctx, tx, *f.Group, f.Entity); err != nil {
			return f, err
		}
	}
	// One at a time: two labels may lead to one key.
	if err := tx.Lock(ctx, "contacts.field_keys", ""); err != nil {
		return f, err
	}
	var err error
	if f.Key, err = freeKey(ctx, tx, f.Entity, f.Label); err != nil {
		return f, err
	}
	return insertField(ctx, tx, f)
}

func insertField(ctx context.Context, tx *db.Tx, f Field) (Field, error) {
	err := tx.QueryRow(ctx, `
		insert into field (id, entity, key, label, type, options, group_id, source, show_in_list, created_at, sort_order)
		values (@id, @entity, @key, @label, @type, @options, @group, @source, @show_in_list, @created_at,
			(select least(coalesce(max(sort_order), 0)::bigint + 1, 2147483647) from field where entity = @entity))
		returning sort_order`,
		db.Args{"id": f.ID, "entity": f.Entity, "key": f.Key, "label": f.Label, "type": f.Type, "options": f.Options, "group": f.Group,
			"source": f.Source, "show_in_list": f.ShowInList, "created_at": f.CreatedAt}).Scan(&f.SortOrder)
	if err != nil {
		return f, err
	}
	return f, emitField(ctx, tx, proto.KindFieldCreated, f, nil)
}

func emitField(ctx context.Context, tx *db.Tx, kind string, f Field, changed []string) error {
	return tx.Emit(ctx, db.Event{Topic: proto.FieldTopic, Kind: kind, Key: f.ID.String(), Version: f.Version, Changed: changed, Data: f})
}

// maxLabel is how many characters a label may have.
const maxLabel = 190

// cleanLabel takes double blanks out of a label, and refuses one that is blank or has control characters.
func cleanLabel(label *string) error {
	*label = strings.Join(strings.Fields(*label), " ")
	if p := form.Name(*label, maxLabel); !p.IsZero() {
		return fault.Invalid("label", p)
	}
	return nil
}

// clean checks label and options and brings them into their stored form.
func (f *Field) clean() error {
	if err := cleanLabel(&f.Label); err != nil {
		return err
	}
	options := []string{}
	for i, o := range f.Options {
		o = strings.Join(strings.Fields(o), " ")
		switch {
		case o == "":
			return fault.Invalid("options", fault.NewProblem("empty", "must not contain an empty option"))
		case !form.Name(o, maxOption).IsZero():
			return fault.Invalid(fmt.Sprintf("options[%d]", i), form.Name(o, maxOption))
		case slices.Contains(options, o):
			return fault.Invalid("options", fault.NewProblem("twice", "must not contain an option twice"))
		}
		options = append(options, o)
	}
	f.Options = options
	choice := f.Type == "dropdown" || f.Type == "choices"
	switch {
	case choice && len(options) == 0:
		return fault.Invalid("options", fault.NewProblem("too_few", "must have at least one option for this type", "min", 1))
	case !choice && len(options) > 0:
		return fault.Invalid("options", fault.NewProblem("not_empty", "must be empty for this type"))
	case len(options) > maxOptions:
		return fault.Invalid("options", fault.TooMany(maxOptions))
	}
	return nil
}

// fieldKey derives a key from a label: lower-case letters, digits and underscores.
func fieldKey(label string) string {
	key := strings.Map(func(r rune) rune {
		if r == '-' {
			return '_'
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, person.Slug(label))
	key = strings.Trim(key, "_")
	if len(key) > maxKey {
		key = strings.Trim(key[:maxKey], "_")
	}
	if key == "" {
		return "field"
	}
	return key
}

func freeKey(ctx context.Context, tx *db.Tx, entity, label string) (string, error) {
	base := fieldKey(label)
	for n := 1; ; n++ {
		key := base
		if n > 1 {
			key = fmt.Sprintf("%s_%d", base, n)
		}
		var taken bool
		err := tx.QueryRow(ctx, `select exists (select from field where entity = $1 and key = $2)`, entity, key).Scan(&taken)
		if err != nil || !taken {
			return key, err
		}
	}
}

func checkGroup(ctx context.Context, tx *db.Tx, group uuid.UUID, entity string) error {
	var of string
	err := tx.QueryRow(ctx, `select entity from field_group where id = $1 for key share`, group).Scan(&of)
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.NotFound("field group")
	}
	if err == nil && of != entity {
		err = fault.Invalid("group", fault.NewProblem("other_entity", "must be a group of the same entity"))
	}
	return err
}

// fieldChange is what PATCH may change of a field.
type fieldChange struct {
	ID         uuid.UUID            `json:"id"`
	Label      opt.Value[string]    `json:"label,omitzero" maxLength:"190" doc:"What people read."`
	Options    opt.Value[[]string]  `json:"options,omitzero" maxItems:"500" doc:"The answers to choose from; replaces the list."`
	Group      opt.Value[uuid.UUID] `json:"group,omitzero" nullable:"true" doc:"The id of the group; null for none."`
	ShowInList opt.Value[bool]      `json:"show_in_list,omitzero" doc:"It is a column of the list."`
	SortOrder  opt.Value[int]       `json:"sort_order,omitzero" minimum:"0" maximum:"2147483647" doc:"The place in lists, the lowest first."`
	Archived   opt.Value[bool]      `json:"archived,omitzero" doc:"true takes it out of forms and lists; its values stay."`
}

// updateField changes a field; type and key stay. An archived field is hidden, its values are kept.
func (r *Room) updateField(ctx context.Context, tx *db.Tx, in fieldChange) (Field, error) {
	f, err := db.Find[Field](ctx, tx, fault.NotFound("field"), `select `+fieldColumns+` from field where id = $1 for update`, in.ID)
	if err != nil {
		return f, err
	}
	if err := tx.Match(f.Version); err != nil {
		return f, err
	}
	old := f
	in.Label.Apply(&f.Label)
	in.Options.Apply(&f.Options)
	in.Group.ApplyPtr(&f.Group)
	in.ShowInList.Apply(&f.ShowInList)
	in.SortOrder.Apply(&f.SortOrder)
	in.Archived.Apply(&f.Archived)
	if err := f.clean(); err != nil {
		return f, err
	}
	if in.Group.Given() {
		if err := checkGroup(ctx, tx, in.Group.V, f.Entity); err != nil {
			return f, err
		}
	}
	c := change.Set{}
	c.Note("label", old.Label, f.Label)
	c.Note("options", old.Options, f.Options)
	c.Note("group", old.Group, f.Group)
	c.Note("show_in_list", old.ShowInList, f.ShowInList)
	c.Note("sort_order", old.SortOrder, f.SortOrder)
	c.Note("archived", old.Archived, f.Archived)
	if len(c) == 0 {
		return f, nil
	}
	tx.Changed(c)
	f.Version++
	if _, err := tx.Exec(ctx, `update field set version = $2, label = $3, options = $4, group_id = $5, show_in_list = $6, sort_order = $7, archived = $8 where id = $1`,
		f.ID, f.Version, f.Label, f.Options, f.Group, f.ShowInList, f.SortOrder, f.Archived); err != nil {
		return f, err
	}
	return f, emitField(ctx, tx, proto.KindFieldUpdated, f, c.Names())
}

// archiveField hides a field and keeps its values.
func (r *Room) archiveField(ctx context.Context, tx *db.Tx, in op.ByID) (Field, error) {
	return r.updateField(ctx, tx, fieldChange{ID: in.ID, Archived: opt.Of(true)})
}

// ensureFields makes the fields that a form template needs and that are not there yet. One that is
// archived comes back.
func (r *Room) ensureFields(ctx context.Context, tx *db.Tx, _ bus.Event, m *proto.EnsureFields) error {
	if err := tx.Lock(ctx, "contacts.field_keys", ""); err != nil {
		return err
	}
	for _, want := range m.GetFields() {
		f := Field{ID: db.NewID(), Entity: want.GetEntity(), Key: fieldKey(want.GetKey()), Type: want.GetType(), Label: want.GetLabel(),
			Options: want.GetOptions(), Source: want.GetSource(), CreatedAt: tx.Now, Version: 1}
		if !slices.Contains(fieldTypes, f.Type) || !slices.Contains([]string{"contact", "organization", "submission"}, f.Entity) {
			return fmt.Errorf("contacts: a field of type %q for %q cannot be made", f.Type, f.Entity)
		}
		if err := f.clean(); err != nil {
			return err
		}
		var id uuid.UUID
		var archived bool
		err := tx.QueryRow(ctx, `select id, archived from field where entity = $1 and key = $2 for update`, f.Entity, f.Key).Scan(&id, &archived)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			_, err = insertField(ctx, tx, f)
		case err == nil && archived:
			_, err = r.updateField(ctx, tx, fieldChange{ID: id, Archived: opt.Of(false)})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// publishFields publishes field.updated for fields as they are now.
func publishFields(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	fields, err := readFields(ctx, tx, `select `+fieldColumns+` from field where id = any($1) order by id`, ids)
	if err != nil {
		return err
	}
	for _, f := range fields {
		if err := emitField(ctx, tx, proto.KindFieldUpdated, f, nil); err != nil {
			return err
		}
	}
	return nil
}
