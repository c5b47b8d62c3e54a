package db

import (
	"context"
	"errors"
	"time"
)

// ChangesUntil gives the time up to which the changes of a table are complete: what commits after the snapshot of this
// transaction is stamped then or later. A list of what changed since a time shows nothing newer, so that who asks on with
// the newest time they saw misses nothing, however long a transaction took.
//
// The table needs the trigger stamp_updated_at before insert or update of updated_at. Call ChangesUntil before all other
// statements of the transaction: who writes is looked up before the snapshot is taken.
//
// It holds because a writer locks the table before it stamps a row. Who has the lock now stamps, or stamped, no earlier than
// its transaction began; who takes it later stamps later than now.
func (tx *Tx) ChangesUntil(ctx context.Context, table string) (until time.Time, err error) {
	l, ok := tx.Tx.(*lazyTx)
	if !ok || l.tx != nil {
		return until, errors.New("db: the transaction has begun: its snapshot may be older than the answer")
	}
	err = l.conn.QueryRow(ctx, `
		select date_trunc('second', least(now(), (select min(a.xact_start) from pg_locks l join pg_stat_activity a on a.pid = l.pid
			where l.locktype = 'relation' and l.database = (select oid from pg_database where datname = current_database())
				and l.relation = to_regclass($1) and l.mode = 'RowExclusiveLock')))`, table).Scan(&until)
	return until, err
}
