package life

import (
	"context"
	"time"

	"frontdesk/libs/db"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/services"
)

// waitingRequests are the requests a that have waited for long at a time, a day or half of the hours after which they are declined, and that the
// team was not reminded of since their time was last set.
func waitingRequests(at string) string {
	return `from appointment a, settings s where a.status = 'pending' and a.starts_at > ` + at + ` and (a.waiting_told is null or a.waiting_told < a.timed_at)
		and a.timed_at <= ` + at + ` - make_interval(mins => least(24 * 60, 30 * coalesce(nullif(s.request_expires_hours, 0), 48)))`
}

// tellWaiting tells the team of the requests that have waited for long, of each once.
func (r *Room) tellWaiting(ctx context.Context) error {
	return r.eachDue(ctx, r.untold, waitingRequests, func(ctx context.Context, tx *db.Tx, a appointments.Record) error {
		if err := appointments.WaitingTold(ctx, tx, a.ID); err != nil {
			return err
		}
		settings, err := services.ReadSettings(ctx, tx)
		if err != nil {
			return err
		}
		var ends time.Time
		if settings.RequestExpiresHours > 0 {
			if err := tx.QueryRow(ctx, `select greatest(a.timed_at, s.expires_since) + make_interval(hours => s.request_expires_hours) from appointment a, settings s where a.id = $1`, a.ID).Scan(&ends); err != nil {
				return err
			}
		}
		return r.notices.Waits(ctx, tx, a, settings, ends)
	})
}
