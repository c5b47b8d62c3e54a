package message

import (
	"context"
	"fmt"
	"time"
)

// keepDays is how many days the log is kept: privacy setting retention.webhook_log, 30 if that is not set.
func (r *Room) keepDays() int {
	privacy := struct {
		Retention struct {
			WebhookLog int `json:"webhook_log"`
		} `json:"retention"`
	}{}
	r.Site.Read("privacy", &privacy)
	if privacy.Retention.WebhookLog < 1 {
		return 30
	}
	return privacy.Retention.WebhookLog
}

// KeptSince is the moment before which the log and the events are deleted.
func (r *Room) KeptSince() time.Time { return r.DB.Now().UTC().AddDate(0, 0, -r.keepDays()) }

// Expire deletes the events of before old.
func (r *Room) Expire(ctx context.Context, old time.Time) error {
	if _, err := r.DB.Pool.Exec(ctx, `with old as (delete from message where created_at < $1 returning tx)
		update feed set gone = greatest(gone, (select max(tx) from old)) where exists (select from old)`, old); err != nil {
		return fmt.Errorf("delete old messages: %w", err)
	}
	return nil
}

// restored has events from now on stand behind every cursor that was given before: no transaction is counted up each nanosecond.
func (r *Room) restored(ctx context.Context) ([]string, error) {
	if _, err := r.DB.Pool.Exec(ctx, `update feed set offset_by = greatest(offset_by, (extract(epoch from clock_timestamp()) * 1e9)::bigint)`); err != nil {
		return nil, fmt.Errorf("prepare the list of events: %w", err)
	}
	return nil, nil
}
