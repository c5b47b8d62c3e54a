package booking

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// expireRequests declines the requests that nobody has answered within the hours that the settings give, counted from when
// their time was last set, and mails their clients. It does nothing while the app is off or the setting is 0.
func (s *service) expireRequests(ctx context.Context) error {
	for ctx.Err() == nil && s.Apps.On(appID) {
		expired, err := s.expired(ctx)
		if err != nil || len(expired) == 0 {
			return err
		}
		for _, id := range expired {
			if err := s.expireOne(ctx, id); err != nil {
				return fmt.Errorf("expire request %s: %w", id, err)
			}
		}
	}
	return ctx.Err()
}

const fromExpired = `from appointment a, settings s where a.status = 'pending' and s.request_expires_hours > 0
	and a.timed_at <= $1::timestamptz - make_interval(hours => s.request_expires_hours)`

func (s *service) expired(ctx context.Context) (ids []uuid.UUID, err error) {
	err = s.DB.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `select a.id `+fromExpired+` order by a.starts_at, a.id limit 100`, tx.Now)
		if err != nil {
			return err
		}
		ids, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
		return err
	})
	return ids, err
}

// expireOne looks again under the lock, so that an answer of this moment counts.
func (s *service) expireOne(ctx context.Context, id uuid.UUID) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		a, err := s.lock(ctx, tx, id)
		if missed(err) {
			return nil
		}
		if err != nil {
			return err
		}
		var still bool
		if err := tx.QueryRow(ctx, `select exists (select `+fromExpired+` and a.id = $2)`, tx.Now, id).Scan(&still); err != nil || !still {
			return err
		}
		_, err = s.become(ctx, tx, a, statusDeclined, "Nobody answered the request in time.", statusPending)
		return err
	})
}
