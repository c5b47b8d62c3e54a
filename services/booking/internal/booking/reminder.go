package booking

import (
	"context"

	"frontdesk/libs/db"
)

// dueReminders are the appointments a whose reminder is due at the time $1.
const dueReminders = `from appointment a, settings s where a.status = 'confirmed' and a.reminded_at is null and s.reminder_enabled and a.starts_at > $1
	and a.starts_at <= $1::timestamptz + make_interval(hours => s.reminder_hours)
	and a.timed_at < a.starts_at - make_interval(hours => s.reminder_hours)`

// remind mails the reminders that are due, once for each appointment that is still confirmed. An appointment that was booked
// or moved when its reminder would have been due already gets none.
func (s *service) remind(ctx context.Context) error {
	return s.eachDue(ctx, s.unreminded, dueReminders,
		func(ctx context.Context, tx *db.Tx, a record) error {
			if _, err := tx.Exec(ctx, `update appointment set reminded_at = $2 where id = $1`, a.ID, tx.Now); err != nil {
				return err
			}
			settings, err := readSettings(ctx, tx)
			if err != nil {
				return err
			}
			return s.notify(ctx, tx, a, mailReminder, settings)
		})
}
