package booking

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// replaceServices makes a person do these services and no other active ones.
func replaceServices(ctx context.Context, tx *db.Tx, user int64, before, after []uuid.UUID) error {
	byBytes := func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) }
	all := slices.Concat(before, after)
	slices.SortFunc(all, byBytes)
	if err := ensureStaff(ctx, tx, user); err != nil {
		return err
	}
	for _, id := range slices.Compact(all) {
		s, err := lockService(ctx, tx, id)
		if err != nil {
			return err
		}
		does, shall := slices.Contains(s.Staff, user), slices.Contains(after, id)
		switch {
		case does == shall:
			continue
		case shall:
			s.Staff = append(s.Staff, user)
			slices.Sort(s.Staff)
		default:
			s.Staff = slices.DeleteFunc(s.Staff, func(u int64) bool { return u == user })
		}
		if err := setSkills(ctx, tx, id, s.Staff); err != nil {
			return err
		}
		if _, err := saveService(ctx, tx, s, proto.KindServiceUpdated); err != nil {
			return err
		}
	}
	return nil
}

// dropServices makes a person do no service at all, archived ones included.
func dropServices(ctx context.Context, tx *db.Tx, user int64) error {
	rows, err := tx.Query(ctx, `select service_id from skill where user_id = $1`, user)
	if err != nil {
		return err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil {
		return err
	}
	return replaceServices(ctx, tx, user, ids, nil)
}
