package booking

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
)

// setSkills replaces who does a service whose row is locked.
func setSkills(ctx context.Context, tx *db.Tx, id uuid.UUID, staff []int64) error {
	if _, err := tx.Exec(ctx, `insert into staff (user_id) select unnest($1::bigint[]) on conflict (user_id) do update
		set removed_at = null where staff.removed_at is not null`, staff); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `delete from skill where service_id = $1 and not user_id = any($2)`, id, staff); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `insert into skill (service_id, user_id) select $1, unnest($2::bigint[]) on conflict do nothing`, id, staff)
	return err
}
