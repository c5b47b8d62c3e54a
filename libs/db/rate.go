package db

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Limit allows N calls in Per, all at once or spread.
type Limit struct {
	N   int
	Per time.Duration
}

// Allow counts one call against the limits of key, across replicas. It returns zero when the call may be made, or how long to
// wait when a limit is used up. A refused call does not count. Each limit is multiplied by factor; 0 is no limit.
func (d *DB) Allow(ctx context.Context, key string, factor float64, limits ...Limit) (wait time.Duration, err error) {
	if factor == 0 {
		return 0, nil
	}
	err = d.Do(ctx, func(tx *Tx) error {
		wait = 0
		for _, l := range limits {
			w, err := tx.allow(ctx, key+"/"+l.Per.String(), max(1, int(float64(l.N)*factor)), l.Per)
			if err != nil {
				return err
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

func (tx *Tx) allow(ctx context.Context, key string, n int, per time.Duration) (time.Duration, error) {
	step := per / time.Duration(n)
	var full time.Time
	err := tx.QueryRow(ctx, `
		insert into rate as r (key, full_at) values ($1, clock_timestamp() + $2::interval)
		on conflict (key) do update set full_at = greatest(r.full_at, clock_timestamp()) + $2::interval
			where greatest(r.full_at, clock_timestamp()) + $2::interval <= clock_timestamp() + $3::interval
		returning full_at`, key, step, per).Scan(&full)
	if !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	var wait time.Duration
	err = tx.QueryRow(ctx, `select greatest(full_at + $2::interval - $3::interval - clock_timestamp(), interval '0') from rate where key = $1`,
		key, step, per).Scan(&wait)
	return max(wait, time.Millisecond), err
}
