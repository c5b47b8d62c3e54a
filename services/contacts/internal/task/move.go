package task

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/address"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
)

// MoveContact gives the tasks of one contact to another, and publishes them.
func MoveContact(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error {
	return move(ctx, tx, []string{"contact"}, `update task set version = version + 1, updated_at = $3, contact_id = $1 where contact_id = $2 returning id`, winner, loser, tx.Now)
}

// MoveOrganization is MoveContact for organizations.
func MoveOrganization(ctx context.Context, tx *db.Tx, winner, loser uuid.UUID) error {
	return move(ctx, tx, []string{"organization"}, `update task set version = version + 1, updated_at = $3, organization_id = $1 where organization_id = $2 returning id`,
		winner, loser, tx.Now)
}

func move(ctx context.Context, tx *db.Tx, names []string, update string, args ...any) error {
	ids, err := contact.IDsOf(ctx, tx, update, args...)
	if err != nil || len(ids) == 0 {
		return err
	}
	return emit(ctx, tx, proto.KindTaskUpdated, names, ids...)
}

// Give gives locked tasks to another owner, or to nobody, and publishes them.
func Give(ctx context.Context, tx *db.Tx, ids []uuid.UUID, to *int64) error {
	return move(ctx, tx, []string{"owner_user_id"}, `update task set version = version + 1, updated_at = $3, owner_user_id = $2, assigned_by = null,
		assigned_at = case when $2::bigint is not null then clock_timestamp() end where id = any($1) returning id`, ids, to, tx.Now)
}

// Erase deletes the tasks about a contact that is erased, and gives their ids.
func Erase(ctx context.Context, tx *db.Tx, id uuid.UUID) ([]uuid.UUID, error) {
	rows, err := tx.Query(ctx, `delete from task where contact_id = $1 returning id, version`, id)
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	var versions []int64
	var one uuid.UUID
	var version int64
	if _, err := pgx.ForEachRow(rows, []any{&one, &version}, func() error {
		ids, versions = append(ids, one), append(versions, version+1)
		return nil
	}); err != nil {
		return nil, err
	}
	for i, gone := range ids {
		// What the task said may name the person.
		if err := tx.Emit(ctx, db.Event{Topic: proto.TaskTopic, Kind: proto.KindTaskDeleted, Key: gone.String(), Version: versions[i], Data: map[string]any{"id": gone}}); err != nil {
			return nil, err
		}
		tx.Tombstone(proto.TaskTopic, gone.String())
	}
	return ids, nil
}

// Strike takes the addresses of people who are erased out of all other tasks.
func Strike(ctx context.Context, tx *db.Tx, p *erasure.Person) error {
	rows, err := tx.Query(ctx, `select id, title, body from task where title || ' ' || body`+address.MayHaveSQL+` order by id for update`)
	if err != nil {
		return err
	}
	update := &pgx.Batch{}
	var struck []uuid.UUID
	var id uuid.UUID
	var title, body string
	if _, err := pgx.ForEachRow(rows, []any{&id, &title, &body}, func() error {
		title, inTitle := p.StrikeFrom(title)
		body, inBody := p.StrikeFrom(body)
		if inTitle || inBody {
			struck = append(struck, id)
			update.Queue(`update task set version = version + 1, updated_at = $4, title = $2, body = $3 where id = $1`, id, title, body, tx.Now)
		}
		return nil
	}); err != nil || len(struck) == 0 {
		return err
	}
	if err := tx.SendBatch(ctx, update).Close(); err != nil {
		return err
	}
	return emit(ctx, tx, proto.KindTaskUpdated, []string{"title"}, struck...)
}
