package times

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
)

const calendarLock = "booking.calendar"

// beforeHold is what letGo goes back to.
const beforeHold = `savepoint calendar`

// queueHold holds, with a batch, the calendar of a user from then on.
func queueHold(b *pgx.Batch, user int64) {
	b.Queue(beforeHold)
	db.QueueLock(b, calendarLock, user)
}

// QueueHold is queueHold, unless an appointment is running at start already. It sets taken if one is.
func QueueHold(b *pgx.Batch, user int64, start time.Time, taken *bool) {
	b.Queue(beforeHold)
	b.Queue(`select taken, case when not taken then pg_advisory_xact_lock(@lock)::text end from (select exists (select from appointment
		where user_id = @user and `+appointments.TakesTime+` and starts_at > @start::timestamptz - interval '1 day' and starts_at <= @start and ends_at > @start) as taken offset 0) x`,
		db.Args{"lock": db.LockKey(calendarLock, user), "user": user, "start": start}).QueryRow(func(row pgx.Row) error { return row.Scan(taken, nil) })
}

// letGo gives up the calendar that was held last, so that the next in line does not wait for this transaction's answer.
func letGo(ctx context.Context, tx *db.Tx) error {
	_, err := tx.Exec(ctx, `rollback to `+beforeHold)
	return err
}

// LockCalendars holds the calendars of users until the transaction ends.
func LockCalendars(ctx context.Context, tx *db.Tx, users ...int64) error {
	slices.Sort(users)
	for _, user := range users {
		if err := tx.Lock(ctx, calendarLock, user); err != nil {
			return err
		}
	}
	return nil
}
