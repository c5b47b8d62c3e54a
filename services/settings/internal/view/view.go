package view

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/settings/internal/document"
	"frontdesk/services/settings/internal/row"
)

// view is a list as somebody wants to see it again.
type view struct {
	ID        uuid.UUID      `json:"id" doc:"The id of the record."`
	Entity    string         `json:"entity" enum:"contacts,organizations,appointments,submissions" doc:"The list."`
	Name      string         `json:"name" doc:"What it is called."`
	Query     map[string]any `json:"query" doc:"Parameters of the list and their values: texts, numbers, booleans, or arrays of texts where a parameter repeats."`
	Columns   []string       `json:"columns" doc:"The columns that it shows; empty for the usual ones."`
	Shared    bool           `json:"shared" doc:"true if the whole team sees it."`
	Position  int32          `json:"position" doc:"Its place among the views of the list, the lowest first."`
	UserID    *int64         `json:"user_id" doc:"The user id of whom it belongs to; null for a shared one whose owner has left without a successor."`
	CreatedAt time.Time      `json:"created_at" doc:"When it was made."`
	UpdatedAt time.Time      `json:"updated_at" doc:"When it last changed."`
	document.Stamp
}

// stored is a row of the table saved_view.
type stored struct {
	ID        uuid.UUID
	Entity    string
	Name      string
	Query     map[string]any
	Columns   []string
	Shared    bool
	Position  int32
	UserID    *int64
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

const columns = `id, entity, name, query, columns, shared, position, user_id, version, created_at, updated_at`

func (v stored) shown() view {
	return view{ID: v.ID, Entity: v.Entity, Name: v.Name, Query: v.Query, Columns: v.Columns, Shared: v.Shared, Position: v.Position, UserID: v.UserID,
		CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, Stamp: document.At(v.Version)}
}

func (v stored) ownedBy(who db.Actor) bool { return v.UserID != nil && *v.UserID == who.UserID }

// parameters are those of the lists that a view may keep: all but the page.
var parameters = map[string][]string{
	"contacts": {"search", "status", "marketing", "tag", "owner", "organization", "source", "appointment_from", "appointment_to", "no_appointment_since",
		"created_since", "updated_since", "include_deleted", "deleted", "sort"},
	"organizations": {"search", "owner", "updated_since", "deleted", "sort"},
	"appointments":  {"from", "to", "staff", "service", "status", "contact", "search", "conflict", "source", "updated_since", "whole"},
	"submissions":   {"form", "status", "contact", "created_since", "created_until"},
}

// What a view may have at most.
const (
	mostOfPerson = 50
	longestName  = 60
	longestValue = 200
	mostValues   = 20
)

// find runs a statement that gives one row of columns; 404 when it gives none.
func find(ctx context.Context, tx *db.Tx, sql string, args ...any) (stored, error) {
	return db.Find[stored](ctx, tx, fault.NotFound("view"), sql, args...)
}

// seen is the condition of views that the actor $1 sees.
const seen = `(user_id = $1 or shared)`

func list(ctx context.Context, tx *db.Tx, in struct {
	Entity string `json:"entity,omitempty" enum:"contacts,organizations,appointments,submissions" doc:"Views of this list; all when left out."`
}) (db.List[view], error) {
	all, err := db.Rows[stored](ctx, tx, `select `+columns+` from saved_view where `+seen+` and ($2 = '' or entity = $2) order by position, lower(name), id`, tx.Who.UserID, in.Entity)
	if err != nil {
		return db.List[view]{}, fmt.Errorf("list views: %w", err)
	}
	var views []view
	for _, v := range all {
		views = append(views, v.shown())
	}
	return db.All(views), nil
}

func get(ctx context.Context, tx *db.Tx, in op.ByID) (view, error) {
	v, err := find(ctx, tx, `select `+columns+` from saved_view where `+seen+` and id = $2`, tx.Who.UserID, in.ID)
	return v.shown(), err
}

func create(ctx context.Context, tx *db.Tx, in struct {
	Entity   string         `json:"entity" required:"true" enum:"contacts,organizations,appointments,submissions" doc:"The list."`
	Name     string         `json:"name" required:"true" maxLength:"60" doc:"What it is called."`
	Query    map[string]any `json:"query,omitempty" doc:"Parameters of the list and their values; per_page and cursor are none of a view."`
	Columns  []string       `json:"columns,omitempty" maxItems:"100" doc:"The columns that it shows; the usual ones when left out."`
	Shared   bool           `json:"shared,omitempty" doc:"true shows it to the whole team."`
	Position int32          `json:"position,omitempty" minimum:"0" doc:"Its place among the views of the list, the lowest first."`
}) (view, error) {
	v := stored{ID: db.NewID(), Entity: in.Entity, Name: strings.TrimSpace(in.Name), Query: in.Query, Columns: in.Columns, Shared: in.Shared, Position: in.Position, UserID: &tx.Who.UserID}
	if err := v.check(); err != nil {
		return view{}, err
	}
	if v.Shared && !tx.Who.Can(auth.ManageCRM) {
		return view{}, fault.Forbidden(auth.ManageCRM)
	}
	if err := tx.Lock(ctx, "settings.view", tx.Who.UserID); err != nil {
		return view{}, err
	}
	var n int
	if err := tx.QueryRow(ctx, `select count(*) from saved_view where user_id = $1`, tx.Who.UserID).Scan(&n); err != nil {
		return view{}, fmt.Errorf("count views: %w", err)
	}
	if n >= mostOfPerson {
		return view{}, fault.Conflict("too_many", fmt.Sprintf("You have %d views. Delete one of them first.", n))
	}
	v, err := find(ctx, tx, `insert into saved_view (id, entity, name, query, columns, shared, position, user_id, created_at, updated_at)
		values (@id, @entity, @name, @query, @columns, @shared, @position, @user, @now, @now) returning `+columns, db.Args{"id": v.ID, "entity": v.Entity,
		"name": v.Name, "query": v.Query, "columns": v.Columns, "shared": v.Shared, "position": v.Position, "user": v.UserID, "now": tx.Now})
	return v.shown(), err
}

// check fills in what is empty, and says what is wrong with a view.
func (v *stored) check() error {
	if v.Query == nil {
		v.Query = map[string]any{}
	}
	if v.Columns == nil {
		v.Columns = []string{}
	}
	problems := fault.Problems{}
	if p := form.Name(v.Name, longestName); !p.IsZero() {
		problems.Add("name", p)
	}
	for name, value := range v.Query {
		if !slices.Contains(parameters[v.Entity], name) {
			problems.Add("query."+name, fault.Unknown())
		} else if p := valueProblem(value); !p.IsZero() {
			problems.Add("query."+name, p)
		}
	}
	for i, c := range v.Columns {
		if p := form.Name(c, longestValue); !p.IsZero() {
			problems.Add(fmt.Sprintf("columns.%d", i), p)
		}
	}
	return problems.Err()
}

// valueProblem says what is wrong with the value of a parameter.
func valueProblem(value any) fault.Problem {
	switch value := value.(type) {
	case string:
		if utf8.RuneCountInString(value) > longestValue {
			return fault.TooLong(longestValue)
		}
		return fault.Problem{}
	case float64, json.Number, bool:
		return fault.Problem{}
	case []any:
		if len(value) > mostValues {
			return fault.TooMany(mostValues)
		}
		if !slices.ContainsFunc(value, func(one any) bool {
			text, ok := one.(string)
			return !ok || utf8.RuneCountInString(text) > longestValue
		}) {
			return fault.Problem{}
		}
	}
	return fault.Type("a text, a number, a boolean or an array of texts")
}

// lock locks a view that the actor may change: their own, and shared ones with svc_manage_crm.
func lock(ctx context.Context, tx *db.Tx, id uuid.UUID) (stored, error) {
	v, err := find(ctx, tx, `select `+columns+` from saved_view where `+seen+` and id = $2 for update`, tx.Who.UserID, id)
	if err != nil {
		return v, err
	}
	if !v.ownedBy(tx.Who) && !tx.Who.Can(auth.ManageCRM) {
		return v, fault.Forbidden(auth.ManageCRM)
	}
	return v, tx.Match(v.Version)
}

func update(ctx context.Context, tx *db.Tx, in struct {
	op.ByID
	Name     opt.Value[string]         `json:"name,omitzero" maxLength:"60" doc:"What it is called."`
	Query    opt.Value[map[string]any] `json:"query,omitzero" doc:"Parameters of the list and their values, in the place of those before."`
	Columns  opt.Value[[]string]       `json:"columns,omitzero" maxItems:"100" doc:"The columns that it shows; empty for the usual ones."`
	Shared   opt.Value[bool]           `json:"shared,omitzero" doc:"true shows it to the whole team, false to its owner alone."`
	Position opt.Value[int32]          `json:"position,omitzero" minimum:"0" doc:"Its place among the views of the list, the lowest first."`
}) (view, error) {
	v, err := lock(ctx, tx, in.ID)
	if err != nil {
		return view{}, err
	}
	before := v.shown()
	in.Name.Apply(&v.Name)
	v.Name = strings.TrimSpace(v.Name)
	in.Query.Apply(&v.Query)
	in.Columns.Apply(&v.Columns)
	in.Shared.Apply(&v.Shared)
	in.Position.Apply(&v.Position)
	if err := v.check(); err != nil {
		return view{}, err
	}
	if v.Shared && !before.Shared && !tx.Who.Can(auth.ManageCRM) {
		return view{}, fault.Forbidden(auth.ManageCRM)
	}
	if !v.Shared && v.UserID == nil {
		return view{}, fault.Conflict("no_owner", "Nobody owns this view, so nobody would see it. Delete it instead.")
	}
	if len(document.Differences(before, v.shown())) == 0 {
		return before, nil
	}
	if err := tx.ChangedFrom(before, v.shown()); err != nil {
		return view{}, err
	}
	v, err = find(ctx, tx, `update saved_view set name = $2, query = $3, columns = $4, shared = $5, position = $6, version = version + 1, updated_at = $7
		where id = $1 returning `+columns, v.ID, v.Name, v.Query, v.Columns, v.Shared, v.Position, tx.Now)
	return v.shown(), err
}

func remove(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	v, err := lock(ctx, tx, in.ID)
	if err != nil {
		return op.None{}, err
	}
	if _, err := tx.Exec(ctx, `delete from saved_view where id = $1`, v.ID); err != nil {
		return op.None{}, fmt.Errorf("delete view: %w", err)
	}
	return op.None{}, nil
}

// Leave deletes what somebody who leaves the team kept for themselves, and gives what they share to the successor; to nobody if there is no such user.
func Leave(ctx context.Context, tx *db.Tx, user, successor int64) error {
	if _, err := tx.Exec(ctx, `delete from saved_view where user_id = $1 and not shared`, user); err != nil {
		return fmt.Errorf("delete views of who leaves: %w", err)
	}
	if _, err := tx.Exec(ctx, `update saved_view set user_id = (select id from person where id = $2 for key share), version = version + 1, updated_at = $3 where user_id = $1`,
		user, successor, tx.Now); err != nil {
		return fmt.Errorf("hand over views: %w", err)
	}
	return nil
}

// forget deletes the views that name an erased person or look for them: they find nobody any more.
func forget(ctx context.Context, tx *db.Tx, p *erasure.Person) (gone []uuid.UUID, err error) {
	err = row.Each(ctx, tx, func(v stored) error {
		query, err := json.Marshal(v.Query)
		if err != nil {
			return err
		}
		if p.MentionedIn(v.Name) || p.HasName(v.Name) || p.InJSON(query) {
			gone = append(gone, v.ID)
		}
		return nil
	}, `select `+columns+` from saved_view where created_at < $1 or updated_at < $1 order by id for update`, p.At)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `delete from saved_view where id = any($1)`, gone); err != nil {
		return nil, fmt.Errorf("delete views that name an erased person: %w", err)
	}
	return gone, nil
}
