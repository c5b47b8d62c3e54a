package db

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Limit allows N calls in Per, all at once or spread.
type Limit struct {
	N   int
	Per time.Duration
}

// Bucket is a caller, or a group of callers, for which a limit counts.
type Bucket struct {
	Key string
	Limit
}

// row is the bucket's key in the table rate.
func (b Bucket) row() string { return b.Key + "/" + b.Per.String() }

// fullBuckets remembers until when buckets are full. Its zero value remembers none.
type fullBuckets struct {
	mu   sync.Mutex
	ends map[string]time.Time
}

// fullKept is how many full buckets a process remembers. A bucket that it has forgotten is looked up.
const fullKept = 10_000

func (f *fullBuckets) wait(row string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	end, ok := f.ends[row]
	if !ok {
		return 0
	}
	wait := time.Until(end)
	if wait <= 0 {
		delete(f.ends, row)
	}
	return max(0, wait)
}

func (f *fullBuckets) until(row string, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends == nil || len(f.ends) >= fullKept {
		f.ends = map[string]time.Time{}
	}
	f.ends[row] = time.Now().Add(wait)
}

// Allow counts one call in all buckets, across replicas. It returns zero when the call may be made, or how long to wait when
// a bucket is full. A refused call counts in none of them. Each limit is multiplied by factor; 0 is no limit.
//
// A bucket that is full stays full for the whole wait, because other calls can only fill it more. So a replica remembers the
// wait, and a flood from one caller needs no connection.
func (d *DB) Allow(ctx context.Context, factor float64, buckets ...Bucket) (wait time.Duration, err error) {
	if factor == 0 {
		return 0, nil
	}
	for _, b := range buckets {
		wait = max(wait, d.full.wait(b.row()))
	}
	if wait > 0 {
		return wait, nil
	}
	err = d.Do(ctx, func(tx *Tx) error {
		wait = 0
		for _, b := range buckets {
			w, err := tx.allow(ctx, b.row(), max(1, int(float64(b.N)*factor)), b.Per)
			if err != nil {
				return err
			}
			if w > 0 {
				d.full.until(b.row(), w)
			}
			wait = max(wait, w)
		}
		if wait > 0 {
			return errLimited
		}
		return nil
	})
	if errors.Is(err, errLimited) {
		return wait, nil
	}
	return 0, err
}

var errLimited = errors.New("db: limited")

// allow is Allow for one bucket. The clock of the server may be set back: a bucket that is full until later than any can be
// begins anew.
func (tx *Tx) allow(ctx context.Context, key string, n int, per time.Duration) (time.Duration, error) {
	step := per / time.Duration(n)
	var full time.Time
	err := tx.QueryRow(ctx, `
		insert into rate as r (key, full_at) values ($1, clock_timestamp() + $2::interval)
		on conflict (key) do update set full_at = $2::interval + case when r.full_at between clock_timestamp() and clock_timestamp() + $3::interval
				then r.full_at else clock_timestamp() end
			where r.full_at + $2::interval <= clock_timestamp() + $3::interval or r.full_at > clock_timestamp() + $3::interval
		returning full_at`, key, step, per).Scan(&full)
	if !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	var wait time.Duration
	err = tx.QueryRow(ctx, `select greatest(full_at + $2::interval - $3::interval - clock_timestamp(), interval '0') from rate where key = $1`,
		key, step, per).Scan(&wait)
	return max(wait, time.Millisecond), err
}
