package booking

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// restored marks the reminders of a backup that are due by now as sent, because they may have been since, and declines the
// requests whose time is over without telling anybody again.
func (s *service) restored(ctx context.Context) (did []string, err error) {
	if !s.Apps.On(s.Service) {
		return nil, nil
	}
	reminders, requests := 0, 0
	err = s.DB.Do(ctx, func(tx *db.Tx) error {
		tx.History = true
		tag, err := tx.Exec(ctx, `update appointment set reminded_at = $1 where id in (select a.id `+dueReminders+`)`, tx.Now)
		if err != nil {
			return fmt.Errorf("mark the reminders that are due: %w", err)
		}
		rows, err := tx.Query(ctx, `select a.id `+dueRequests+` order by a.id`, tx.Now)
		if err != nil {
			return err
		}
		due, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		if err != nil {
			return err
		}
		for _, id := range due {
			a, err := s.lock(ctx, tx, id)
			if err != nil {
				return err
			}
			if err := s.expireRequest(ctx, tx, a); err != nil {
				return fmt.Errorf("decline the request %s: %w", id, err)
			}
		}
		reminders, requests = int(tag.RowsAffected()), len(due)
		return nil
	})
	if reminders > 0 {
		did = append(did, fmt.Sprintf("%d reminders that are due are not sent, because they may have been sent since the backup", reminders))
	}
	if requests > 0 {
		did = append(did, fmt.Sprintf("%d requests that nobody answered in time are declined without a mail, because they may have been declined since the backup", requests))
	}
	return did, err
}
