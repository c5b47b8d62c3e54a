package notices

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/apps"
)

const (
	// askAhead is how long before its mail an agenda is asked for, so that it can stand in the digest of that time.
	askAhead = 5 * time.Minute
	// askUntil is how late an agenda is asked for that should have been, as after an outage.
	askUntil = 3 * time.Hour
)

// morning is the day whose agenda is the next or last one to ask for, as a date in UTC, and when to ask.
func (r *Room) morning(now time.Time, at string) (day, ask time.Time) {
	local := now.Add(askAhead).In(r.Config.Zone)
	return time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, time.UTC), r.moment(local, at).Add(-askAhead)
}

type reader struct {
	PersonID int64
	DigestAt string
	AgendaOn *time.Time
}

// askAgendas asks booking for the agendas of today whose time comes, once for each person and day. Nobody is asked for while Booking is off.
func (r *Room) askAgendas(ctx context.Context) error {
	if !r.Apps.On(apps.Booking) {
		return nil
	}
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		readers, err := db.Rows[reader](ctx, tx, `select person_id, digest_at, agenda_on from notification where kinds->>'agenda' <> 'off' for update`)
		if err != nil {
			return err
		}
		asked := map[time.Time]*proto.SendAgenda{}
		b := &pgx.Batch{}
		for _, one := range readers {
			day, ask := r.morning(tx.Now, one.DigestAt)
			if tx.Now.Before(ask) || tx.Now.Sub(ask) > askUntil || one.AgendaOn != nil && !one.AgendaOn.Before(day) {
				continue
			}
			at := ask.Add(askAhead)
			if asked[at] == nil {
				asked[at] = &proto.SendAgenda{Day: day.Format(time.DateOnly), At: at.Unix()}
			}
			asked[at].UserIds = append(asked[at].UserIds, one.PersonID)
			b.Queue(`update notification set agenda_on = $2 where person_id = $1`, one.PersonID, day)
		}
		for _, m := range asked {
			if err := tx.Emit(ctx, db.Event{Topic: proto.BookingCommandTopic, Kind: proto.KindSendAgenda, Key: m.GetDay(), Data: m}); err != nil {
				return err
			}
		}
		return tx.SendBatch(ctx, b).Close()
	})
}
