package booking

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// remind mails the reminders that are due: once for each appointment that is still confirmed, and none
// while the app is off. One that was booked or moved when its reminder would have been due already gets none.
func (s *service) remind(ctx context.Context) error {
	for ctx.Err() == nil && s.Apps.On(appID) {
		var due []uuid.UUID
		err := s.DB.Read(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query(ctx, `select a.id `+fromDue+` order by a.starts_at limit 100`, tx.Now)
			if err != nil {
				return err
			}
			due, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, id := range due {
			if err := s.remindOne(ctx, id); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

const fromDue = `from appointment a, settings s where a.status = 'confirmed' and a.reminded_at is null and s.reminder_enabled and a.starts_at > $1
	and a.starts_at <= $1::timestamptz + make_interval(hours => s.reminder_hours)
	and a.timed_at < a.starts_at - make_interval(hours => s.reminder_hours)`

// remindOne reads the appointment again under its lock, so that a cancellation of this moment counts and
// a second job finds nothing to do.
func (s *service) remindOne(ctx context.Context, id uuid.UUID) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if !s.Apps.On(appID) {
			return nil
		}
		a, err := s.lock(ctx, tx, id)
		if missed(err) {
			return nil
		}
		if err != nil {
			return err
		}
		var still bool
		if err := tx.QueryRow(ctx, `select exists (select `+fromDue+` and a.id = $2)`, tx.Now, id).Scan(&still); err != nil || !still {
			return err
		}
		if _, err := tx.Exec(ctx, `update appointment set reminded_at = $2 where id = $1`, id, tx.Now); err != nil {
			return err
		}
		settings, err := readSettings(ctx, tx)
		if err != nil {
			return err
		}
		return s.notify(ctx, tx, a, mailReminder, settings)
	})
}
