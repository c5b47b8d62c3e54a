package field

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// group is a heading that fields stand under.
type group struct {
	ID        uuid.UUID `json:"id" doc:"The id of the record."`
	Entity    string    `json:"entity" enum:"contact,organization,submission" doc:"The kind of record that the field belongs to."`
	Label     string    `json:"label" doc:"What people read."`
	SortOrder int       `json:"sort_order" doc:"The place in lists, the lowest first."`
	Version   int64     `json:"version" doc:"The ETag that changes of the group take in If-Match."`
}

// RecordVersion is the answer's ETag.
func (g group) RecordVersion() int64 { return g.Version }

const groupColumns = `id, entity, label, sort_order, version`

// groupQuery asks for the groups of an entity.
type groupQuery struct {
	Entity string `json:"entity" required:"true" enum:"contact,organization,submission"`
}

// listGroups lists the field groups of an entity in their order.
func (r *Room) listGroups(ctx context.Context, tx *db.Tx, in groupQuery) (db.List[group], error) {
	rows, err := tx.Query(ctx, `select `+groupColumns+` from field_group where entity = $1 order by sort_order, created_at, id`, in.Entity)
	if err != nil {
		return db.List[group]{}, err
	}
	groups, err := pgx.CollectRows(rows, pgx.RowToStructByName[group])
	return db.All(groups), err
}

// newGroup is what a group is made of.
type newGroup struct {
	Entity string `json:"entity" required:"true" enum:"contact,organization,submission" doc:"The kind of record that the field belongs to."`
	Label  string `json:"label" required:"true" maxLength:"190" doc:"What people read."`
}

// createGroup makes a field group, behind the others.
func (r *Room) createGroup(ctx context.Context, tx *db.Tx, in newGroup) (group, error) {
	g := group{ID: db.NewID(), Entity: in.Entity, Label: in.Label, Version: 1}
	if err := cleanLabel(&g.Label); err != nil {
		return g, err
	}
	err := tx.QueryRow(ctx, `
		insert into field_group (id, entity, label, created_at, sort_order)
		values ($1, $2, $3, $4, (select least(coalesce(max(sort_order), 0)::bigint + 1, 2147483647) from field_group where entity = $2)) returning sort_order`,
		g.ID, g.Entity, g.Label, tx.Now).Scan(&g.SortOrder)
	return g, err
}

// groupChange is what PATCH may change of a group.
type groupChange struct {
	ID        uuid.UUID         `json:"id"`
	Label     opt.Value[string] `json:"label,omitzero" maxLength:"190" doc:"What people read."`
	SortOrder opt.Value[int]    `json:"sort_order,omitzero" minimum:"0" maximum:"2147483647" doc:"The place in lists, the lowest first."`
}

// updateGroup changes a group's label or place.
func (r *Room) updateGroup(ctx context.Context, tx *db.Tx, in groupChange) (group, error) {
	g, err := lockGroup(ctx, tx, in.ID)
	if err != nil {
		return g, err
	}
	was := g
	in.Label.Apply(&g.Label)
	in.SortOrder.Apply(&g.SortOrder)
	if err := cleanLabel(&g.Label); err != nil {
		return g, err
	}
	if g == was {
		return g, nil
	}
	c := change.Set{}
	c.Note("label", was.Label, g.Label)
	c.Note("sort_order", was.SortOrder, g.SortOrder)
	tx.Changed(c)
	g.Version++
	_, err = tx.Exec(ctx, `update field_group set version = $2, label = $3, sort_order = $4 where id = $1`, g.ID, g.Version, g.Label, g.SortOrder)
	return g, err
}

// lockGroup locks a group for a change; 404 svc_not_found for none, 412 svc_version_mismatch for one that the caller has seen otherwise.
func lockGroup(ctx context.Context, tx *db.Tx, id uuid.UUID) (group, error) {
	g, err := db.Find[group](ctx, tx, fault.NotFound("field group"), `select `+groupColumns+` from field_group where id = $1 for update`, id)
	if err != nil {
		return g, err
	}
	return g, tx.Match(g.Version)
}

// deleteGroup removes a group; its fields stay, without one.
func (r *Room) deleteGroup(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	// Locked before its fields, as a field that joins it does.
	if _, err := lockGroup(ctx, tx, in.ID); err != nil {
		return op.None{}, err
	}
	fields, err := readFields(ctx, tx, `update field set group_id = null, version = version + 1 where group_id = $1 returning `+fieldColumns, in.ID)
	if err != nil {
		return op.None{}, err
	}
	for _, f := range fields {
		if err := emitField(ctx, tx, proto.KindFieldUpdated, f, []string{"group"}); err != nil {
			return op.None{}, err
		}
	}
	_, err = tx.Exec(ctx, `delete from field_group where id = $1`, in.ID)
	return op.None{}, err
}
