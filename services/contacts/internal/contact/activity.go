package contact

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/timeline"
)

const moveActivity = `update contact set last_activity = $2 where id = $1 and (last_activity is null or last_activity < $2)`

// Touch moves the last_activity of a contact up to now.
func Touch(ctx context.Context, tx *db.Tx, contact uuid.UUID) error {
	_, err := tx.Exec(ctx, moveActivity, contact, tx.Now)
	return err
}

// LogEvent is log for an event of another service: the entry has the event's id and time, so that it is written once, and the
// last_activity of the contact moves up to that time. State makes no entry, because nothing happened.
func LogEvent(ctx context.Context, tx *db.Tx, contact uuid.UUID, event bus.Event, e timeline.NewEntry) error {
	if event.State {
		return nil
	}
	e.Contact, e.Event = &contact, &event
	b := &pgx.Batch{}
	b.Queue(moveActivity, contact, e.QueueOnce(tx, b))
	return tx.SendBatch(ctx, b).Close()
}

// PublishLinked stores contacts whose organization is another now, or looks otherwise, as their next versions, and publishes
// them.
func PublishLinked(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	if _, err := tx.Exec(ctx, `select from contact where id = any($1) order by id for no key update`, ids); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update contact set version = version + 1, updated_at = $2 where id = any($1)`, ids, tx.Now); err != nil {
		return err
	}
	_, err := publish(ctx, tx, ids, []string{"organization"})
	return err
}

// QueueLastActivity queues that the last_activity of a contact moves up to its newest entry.
func QueueLastActivity(b *pgx.Batch, contact uuid.UUID) {
	b.Queue(`update contact set last_activity = greatest(last_activity,
		(select created_at from activity where contact_id = $1 order by created_at desc, id desc limit 1)) where id = $1`, contact)
}

// QueueNextVersion queues that a contact gets its next version, because something beside it changed.
func QueueNextVersion(b *pgx.Batch, contact uuid.UUID, now time.Time) {
	b.Queue(`update contact set version = version + 1, updated_at = $2, last_activity = greatest(last_activity, $2) where id = $1`, contact, now)
}

// StoreMarketing stores the state of a contact's subscription, with the contact's next version.
func StoreMarketing(ctx context.Context, tx *db.Tx, contact uuid.UUID, state string) error {
	_, err := tx.Exec(ctx, `update contact set version = version + 1, marketing = $2, marketing_updated_at = $3, updated_at = $3,
		last_activity = greatest(last_activity, $3) where id = $1`, contact, state, tx.Now)
	return err
}
