package db

import (
	"context"
	"errors"
	"time"
)

// ChangesUntil returns the time up to which the changes of a table are complete: a change that commits after the snapshot of
// this transaction is stamped at that time or later. A list of changes must show nothing newer. A caller who asks again with
// the newest time of the list then misses no change, however long a transaction took.
//
// The table needs the trigger stamp_updated_at before insert or update of updated_at. Call ChangesUntil before every other
// statement of the transaction, because the writers have to be read before the snapshot is taken.
//
// The reason: a writer locks the table before it stamps a row. A writer that has the lock now stamps at the begin of its
// transaction or later; a writer that takes the lock later stamps later than now.
func (tx *Tx) ChangesUntil(ctx context.Context, table string) (until time.Time, err error) {
	l, ok := tx.Tx.(*lazyTx)
	if !ok || l.Tx != nil {
		return until, errors.New("db: the transaction has begun: its snapshot may be older than the answer")
	}
	err = l.conn.QueryRow(ctx, `
		select date_trunc('second', least(now(), (select min(a.xact_start) from pg_locks l join pg_stat_activity a on a.pid = l.pid
			where l.locktype = 'relation' and l.database = (select oid from pg_database where datname = current_database())
				and l.relation = to_regclass($1) and l.mode = 'RowExclusiveLock')))`, table).Scan(&until)
	return until, err
}
