package directory

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"frontdesk/libs/db"
)

// Contacts are loaded in slices, each by a statement of its own.
const (
	sliceSize = 16384
	sliceFor  = time.Minute
)

// first stands before every key.
var first = Key{Created: time.Time{}.UnixMicro()}

// load reads all contacts into the newest copy. It goes on where it was when the database was away for a while, and begins
// anew when it is another one after that. It returns when the copy is there, or ctx ends.
//
// The slices are no single snapshot: a transaction that is open for minutes would keep vacuum from all tables. The copy has
// the snapshot that was taken before the first slice. What a slice holds beyond that snapshot, and what moved from one
// slice to another meanwhile, was changed by transactions that this snapshot does not see, so the first changes hold it.
func (r *Replica) load(ctx context.Context) {
	for loaded := false; !loaded && ctx.Err() == nil; {
		start := time.Now()
		c := &Copy{replica: r, taken: start}
		untilItWorks(ctx, func(ctx context.Context) error {
			return r.db.Pool.QueryRow(ctx, `select pg_current_snapshot()::text, `+server).Scan(&c.snapshot, &c.server)
		})
		e := editor{to: &Directory{}}
		last, more := first, true
		for more && ctx.Err() == nil {
			untilItWorks(ctx, func(ctx context.Context) (err error) {
				last, more, err = r.readSlice(ctx, &e, last)
				return err
			})
		}
		c.Directory = e.done()
		untilItWorks(ctx, func(context.Context) error {
			// However many changes there were, this has no deadline.
			next, _, err := r.catchUp(ctx, c, false)
			if errors.Is(err, errElsewhere) {
				return nil // begin anew
			}
			if err == nil {
				r.loads.Store(int64(time.Since(start)))
				r.publish(next)
				loaded = true
			}
			return err
		})
	}
}

// readSlice reads contacts behind last, and says which was the last of them and whether there are more. It does so also beside
// an error: what was read stays.
func (r *Replica) readSlice(ctx context.Context, e *editor, last Key) (Key, bool, error) {
	var w db.Where
	w.And("(created_at, id) > (?, ?)", time.UnixMicro(last.Created).UTC(), last.ID)
	rows, err := r.db.Pool.Query(ctx, `select `+contactColumns+` from contact where `+w.String()+db.LimitTo(` order by created_at, id`, r.slice), w.Args...)
	if err != nil {
		return last, true, err
	}
	n := 0
	err = eachRecord(rows, func(record record) {
		e.put(record)
		last = record.Key
		n++
	})
	return last, n == r.slice || err != nil, err
}

// untilItWorks runs f, with a pause after each error, until it returns nil or ctx ends.
func untilItWorks(ctx context.Context, f func(context.Context) error) {
	for ctx.Err() == nil {
		within, cancel := context.WithTimeout(ctx, sliceFor)
		err := f(within)
		cancel()
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			slog.WarnContext(ctx, "reading contacts into the directory goes on in a second", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}
