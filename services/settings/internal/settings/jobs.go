package settings

import (
	"context"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
)

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "sessions", Every: 10 * time.Minute, Run: s.endIdleSessions},
		{Name: "retention", Every: time.Hour, Run: s.forget},
	}
}

// endIdleSessions removes what can no longer be used, so that the copies in all services stay small.
func (s *service) endIdleSessions(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		var portal portalDoc
		if _, err := readDocument(ctx, tx, docPortal, &portal); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `delete from session where expires_at < $1 or seen_at < $1::timestamptz - make_interval(hours => $2) returning hash`,
			tx.Now, portal.IdleHours+1)
		if err != nil {
			return err
		}
		return buryAll(ctx, tx, rows)
	})
}

// linksKept is for how long a link that ended is told from one that never was.
const linksKept = 90 * 24 * time.Hour

// forget deletes what is kept no longer.
func (s *service) forget(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		for _, q := range []struct {
			sql    string
			before time.Time
		}{
			{`delete from audit where created_at < $1`, tx.Now.AddDate(0, 0, -retention.AuditLog)},
			{`delete from mail where created_at < $1 and status in ('sent', 'failed')`, tx.Now.Add(-mailsKept)},
			{`delete from link where expires_at < $1`, tx.Now.Add(-linksKept)},
			{`delete from forgotten where at < $1`, tx.Now.Add(-forgottenKept)},
		} {
			if _, err := tx.Exec(ctx, q.sql, q.before); err != nil {
				return err
			}
		}
		return nil
	})
}
