package settings

import (
	"context"
	"fmt"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
)

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "sessions", Every: 10 * time.Minute, Run: s.endIdleSessions},
		{Name: "application passwords", Every: 10 * time.Minute, Run: s.endExpiredKeys},
		{Name: "connections", Every: time.Minute, Run: s.endExpiredConnections},
		{Name: "assistants", Every: time.Hour, Run: s.deleteUnusedAssistants},
		{Name: "mails", Every: 30 * time.Second, Run: s.endSending},
		{Name: "retention", Every: time.Hour, Run: s.deleteOutdated},
	}
}

// endIdleSessions removes sessions that can no longer be used, so that the copies in all services stay small.
func (s *service) endIdleSessions(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		var portal portalDoc
		if _, err := readDocument(ctx, tx, docPortal, &portal); err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `delete from session where expires_at < $1 or seen_at < $1::timestamptz - make_interval(hours => $2) returning hash`,
			tx.Now, portal.IdleHours+1)
		if err != nil {
			return fmt.Errorf("delete idle sessions: %w", err)
		}
		return withdrawSessions(tx, rows)
	})
}

// endExpiredKeys deletes the application passwords whose time is over. They stopped working by themselves.
func (s *service) endExpiredKeys(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `delete from application_password where expires_at < $1 returning id::text`, tx.Now)
		if err != nil {
			return fmt.Errorf("delete expired application passwords: %w", err)
		}
		return withdrawKeys(tx, rows)
	})
}

// linksKept is for how long a link that ended is told from one that was never mailed.
const linksKept = 90 * 24 * time.Hour

// deleteOutdated deletes everything whose time of keeping is over.
func (s *service) deleteOutdated(ctx context.Context) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		for _, old := range []struct {
			what   string
			sql    string
			before time.Time
		}{
			{"audit entries", `delete from audit where created_at < $1`, tx.Now.AddDate(0, 0, -retention.AuditLog)},
			{"mails", `delete from mail where created_at < $1 and status in ('sent', 'failed', 'unknown')`, tx.Now.Add(-mailsKept)},
			{"links", `delete from link where expires_at < $1`, tx.Now.Add(-linksKept)},
			{"challenges", `delete from passkey_challenge where expires_at < $1`, tx.Now},
			{"browsers", `delete from browser where used_at < $1`, tx.Now.Add(-browserKept)},
		} {
			if _, err := tx.Exec(ctx, old.sql, old.before); err != nil {
				return fmt.Errorf("delete outdated %s: %w", old.what, err)
			}
		}
		return nil
	})
}
