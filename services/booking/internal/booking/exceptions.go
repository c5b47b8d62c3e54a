package booking

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/slots"
)

// exceptions are what changes weekly hours: closures of the whole business, and the time off and extra hours of each person.
type exceptions struct {
	closures []slots.Exception
	of       map[int64][]slots.Exception
}

// queueExceptionsOf reads, with a batch, the exceptions of users and of everybody that reach into the days between.
func queueExceptionsOf(b *pgx.Batch, to *exceptions, users []int64, first, last slots.Day) {
	queueExceptions(b, to, `where (user_id is null or user_id = any($1)) and date_to >= $2::text::date - 2 and date_from <= $3::text::date + 4`,
		users, first.String(), last.String())
}

// queueComingExceptions reads, with a batch, the exceptions of everybody that are not over.
func queueComingExceptions(b *pgx.Batch, to *exceptions, now time.Time) {
	queueExceptions(b, to, `where date_to >= $1::date - 4`, now)
}

func queueExceptions(b *pgx.Batch, to *exceptions, where string, args ...any) {
	b.Queue(`select user_id, date_from - date '1970-01-01', date_to - date '1970-01-01', start_min, end_min, extra from exception `+where, args...).Query(func(rows pgx.Rows) error {
		to.of = map[int64][]slots.Exception{}
		var user *int64
		var e slots.Exception
		_, err := pgx.ForEachRow(rows, []any{&user, &e.From, &e.To, &e.Block.Start, &e.Block.End, &e.Extra}, func() error {
			if user == nil {
				to.closures = append(to.closures, e)
			} else {
				to.of[*user] = append(to.of[*user], e)
			}
			return nil
		})
		return err
	})
}

// deleteExceptions deletes the time off and extra hours of somebody who leaves.
func deleteExceptions(ctx context.Context, tx *db.Tx, user int64) error {
	_, err := tx.Exec(ctx, `delete from exception where user_id = $1`, user)
	return err
}
