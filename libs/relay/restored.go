package relay

import (
	"context"

	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// SettleRestored settles the outbox of a schema that went back to a backup; its rows may have been sent since. Events of
// records are deleted, because the state of all records is published, and mails, because they may have gone out. All else is
// sent again, marked as state, under the ids that it had, so that nobody acts on it twice: commands, audit entries, erasures. It returns
// how many mails it deleted and how many other messages wait.
func SettleRestored(ctx context.Context, d *db.DB) (mails, waiting int, err error) {
	var records []string
	for _, t := range proto.Topics {
		if t.Compacted {
			records = append(records, t.Name)
		}
	}
	// Where the log had which message says nothing about the log of now.
	if _, err := d.Pool.Exec(ctx, `truncate published, lost_topic`); err != nil {
		return 0, 0, err
	}
	if _, err := d.Pool.Exec(ctx, `delete from outbox where topic = any($1)`, records); err != nil {
		return 0, 0, err
	}
	tag, err := d.Pool.Exec(ctx, `with gone as (delete from outbox where topic = $1 returning sent_at)
		select from gone where sent_at is null`, proto.MailTopic)
	if err != nil {
		return 0, 0, err
	}
	mails = int(tag.RowsAffected())
	for last := int64(0); ; {
		var n int
		next := last
		if err := d.Do(ctx, func(tx *db.Tx) (err error) {
			n, next, err = markOutbox(ctx, tx, last)
			return err
		}); err != nil || n == 0 {
			return mails, waiting, err
		}
		waiting, last = waiting+n, next
	}
}

// markOutbox marks the next rows as state and lets them wait, and returns how many they are and the last one.
func markOutbox(ctx context.Context, tx *db.Tx, after int64) (n int, last int64, err error) {
	rows, err := tx.Query(ctx, `select seq, value from outbox where seq > $1 order by seq limit $2`, after, sliceRows)
	if err != nil {
		return 0, after, err
	}
	update := &pgx.Batch{}
	var value []byte
	if _, err := pgx.ForEachRow(rows, []any{&last, &value}, func() error {
		n++
		env := &proto.Envelope{}
		if err := protobuf.Unmarshal(value, env); err != nil {
			return err
		}
		env.State = true
		marked, err := protobuf.Marshal(env)
		if err != nil {
			return err
		}
		update.Queue(`update outbox set value = $2, partition = null, "offset" = null, appended_at = null, sent_at = null where seq = $1`, last, marked)
		return nil
	}); err != nil || n == 0 {
		return 0, after, err
	}
	return n, last, tx.SendBatch(ctx, update).Close()
}
