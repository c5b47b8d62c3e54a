package appointments

import (
	"cmp"
	"context"
	"encoding/binary"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/slots"
)

// Open are the statuses of appointments that take time. The constraint appointment_overlap has the same ones.
const Open = `('pending', 'confirmed', 'pending_payment')`

// TakesTime is the condition that an appointment takes time: nothing else happens in it.
const TakesTime = `status in ('pending', 'confirmed', 'pending_payment', 'completed')`

// longest is how far beyond a period an appointment can reach into it: a day of length, a day of buffer
// and, around a change of clocks, a few hours.
const longest = 51 * time.Hour

// Taken is the time of people that is taken, by user.
type Taken map[int64]*slots.Taken

// of is the time of a user, to add to.
func (t Taken) of(user int64) *slots.Taken {
	if t[user] == nil {
		t[user] = &slots.Taken{}
	}
	return t[user]
}

// QueueTaken reads, with a batch, the time of users that is taken and can touch a period of local days: by appointments, and, of those connected,
// by calendars of other programs as they were last read. The appointment except, if any, takes no time.
func QueueTaken(b *pgx.Batch, taken Taken, zone *time.Location, users, connected []int64, from, to slots.Day, except uuid.UUID) {
	begin, end := slots.Bounds(zone, from, to)
	begin, end = begin.Add(-longest), end.Add(longest)
	b.Queue(`select user_id, starts_at, ends_at, buffer_before, buffer_after from appointment
		where user_id = any(@users) and `+TakesTime+` and starts_at >= @begin and starts_at < @end and id <> @except`,
		db.Args{"users": users, "begin": begin, "end": end, "except": except}).Query(func(rows pgx.Rows) error {
		var id int64
		var t slots.Busy
		_, err := pgx.ForEachRow(rows, []any{&id, &t.Start, &t.End, &t.Before, &t.After}, func() error {
			to := taken.of(id)
			to.Busy = append(to.Busy, t)
			return nil
		})
		return err
	})
	if len(connected) > 0 {
		queueElsewhere(b, taken, connected, begin, end)
	}
}

// queueElsewhere reads, with a batch, the times that begin from begin on and before end, of calendars of other programs. A row has those of a month, in one
// value: a row for each cost a search of twenty people with 200 times each a quarter of its time, arrays of them 14 %, and bytes 3 %.
func queueElsewhere(b *pgx.Batch, taken Taken, users []int64, begin, end time.Time) {
	b.Queue(`select user_id, extract(epoch from month)::bigint, times from external_month where user_id = any(@users)
		and month >= date_trunc('month', @begin::timestamptz at time zone 'UTC') and month < @end::timestamptz at time zone 'UTC'`,
		db.Args{"users": users, "begin": begin, "end": end}).Query(func(rows pgx.Rows) error {
		var id, month int64
		var times pgtype.DriverBytes
		_, err := pgx.ForEachRow(rows, []any{&id, &month, &times}, func() error {
			to := taken.of(id)
			to.Elsewhere = unpack(to.Elsewhere, month, times, begin.Unix(), end.Unix())
			return nil
		})
		for _, of := range taken {
			if byStart := func(a, b slots.Elsewhere) int { return cmp.Compare(a.Start, b.Start) }; !slices.IsSortedFunc(of.Elsewhere, byStart) {
				slices.SortFunc(of.Elsewhere, byStart) // several calendars
			}
		}
		return err
	})
}

// unpack appends the times of a month, as external_month has them, that begin from begin on and before end.
func unpack(to []slots.Elsewhere, month int64, times []byte, begin, end int64) []slots.Elsewhere {
	const size = 8
	for to = slices.Grow(to, len(times)/size); len(times) >= size; times = times[size:] {
		if start := month + int64(binary.BigEndian.Uint32(times)); start >= begin && start < end {
			to = append(to, slots.Elsewhere{Start: start, End: start + int64(binary.BigEndian.Uint32(times[4:]))})
		}
	}
	return to
}

// OverExternal is the condition that an appointment a which is open falls on a time that a calendar of its person's other program takes.
const OverExternal = `a.status in ` + Open + ` and exists (select from external_time t where t.user_id = a.user_id
	and t.starts_at > a.starts_at - interval '24 hours' and t.starts_at < a.ends_at and t.ends_at > a.starts_at)`

// IsOverExternal reports whether OverExternal holds for an appointment.
func IsOverExternal(ctx context.Context, tx *db.Tx, id uuid.UUID) (over bool, err error) {
	err = tx.QueryRow(ctx, `select exists (select from appointment a where a.id = $1 and `+OverExternal+`)`, id).Scan(&over)
	return over, err
}

// Touched is an appointment that an exception falls on.
type Touched struct {
	ID       uuid.UUID `json:"id" format:"uuid" doc:"The id of the appointment."`
	StartsAt time.Time `json:"starts_at" doc:"When it begins."`
}

// Coming locks the appointments of a user that take time and are not over, by id.
func Coming(ctx context.Context, tx *db.Tx, user int64) ([]uuid.UUID, error) {
	return db.Column[uuid.UUID](ctx, tx, `select id from appointment where user_id = $1 and status in `+Open+` and ends_at > $2 order by id for no key update`, user, tx.Now)
}

// Overlapped is svc_conflict with reason overlap if one of the appointments falls on one that the user has, or on a time that a calendar of
// their other program takes. Its data.appointments are the first 50 that do, by start.
func Overlapped(ctx context.Context, tx *db.Tx, ids []uuid.UUID, user int64) error {
	return refuseThose(ctx, tx, "overlap", "One of the appointments falls on one of the successor's, or on a time that their own calendar takes.", `(exists (select from appointment b
		where b.user_id = @to and `+TakesTime+` and b.period && a.period) or exists (select from external_time t where t.user_id = @to
		and t.starts_at > a.starts_at - interval '24 hours' and t.starts_at < a.ends_at and t.ends_at > a.starts_at))`, db.Args{"to": user, "ids": ids})
}

// Unlinked is svc_conflict with reason no_meeting_link if one of the appointments would have no meeting link with the user: it is online
// without one of its own. Its data.appointments are the first 50 that would have none, by start.
func Unlinked(ctx context.Context, tx *db.Tx, ids []uuid.UUID, user int64) error {
	return refuseThose(ctx, tx, "no_meeting_link", "One of the appointments is online, and the successor has no meeting link.", `a.location_type = 'online' and a.meeting_url = ''
		and not exists (select from staff s where s.user_id = @to and s.meeting_url <> '')`, db.Args{"to": user, "ids": ids})
}

// refuseThose is svc_conflict with the reason if the condition holds for one of the appointments a among @ids.
func refuseThose(ctx context.Context, tx *db.Tx, reason, message, condition string, args db.Args) error {
	rows, err := tx.Query(ctx, `select a.id, a.starts_at from appointment a where a.id = any(@ids) and `+condition+` order by a.starts_at, a.id limit 50`, args)
	if err != nil {
		return err
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[Touched])
	if err != nil || len(found) == 0 {
		return err
	}
	return fault.New(http.StatusConflict, "svc_conflict", message, "reason", reason, "appointments", found)
}
