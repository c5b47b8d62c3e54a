package db_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestWhoAsksOnWithTheNewestTimeMissesNoChange(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	_, err := d.Pool.Exec(t.Context(), `create table thing (id int primary key, version int not null default 0, updated_at timestamptz);
		create trigger stamp before insert or update of updated_at on thing for each row execute function stamp_updated_at();
		insert into thing select generate_series(1, 20)`)
	require.NoError(t, err)
	type row struct {
		ID, Version int
		UpdatedAt   time.Time
	}
	// list reads what changed since a time, as an operation does.
	list := func(since time.Time) (rows []row) {
		require.NoError(t, d.Read(t.Context(), func(tx *db.Tx) error {
			until, err := tx.ChangesUntil(t.Context(), "thing")
			if err != nil {
				return err
			}
			got, err := tx.Query(t.Context(), `select id, version, updated_at from thing where updated_at >= $1 and updated_at <= $2`, since, until)
			if err != nil {
				return err
			}
			rows, err = pgx.CollectRows(got, pgx.RowToStructByName[row])
			return err
		}))
		return rows
	}
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
	defer cancel()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_ = d.Do(t.Context(), func(tx *db.Tx) error {
					id := w*5 + rand.IntN(5) + 1
					if _, err := tx.Exec(t.Context(), `update thing set version = version + 1, updated_at = null where id = $1`, id); err != nil {
						return err
					}
					// Some transactions take seconds between their write and their commit.
					time.Sleep(time.Duration(rand.IntN(4)*rand.IntN(4)*rand.IntN(300)) * time.Millisecond)
					return nil
				})
			}
		})
	}
	seen := map[int]int{}
	var newest time.Time
	poll := func() {
		for _, r := range list(newest) {
			seen[r.ID] = max(seen[r.ID], r.Version)
			if r.UpdatedAt.After(newest) {
				newest = r.UpdatedAt
			}
		}
	}
	for ctx.Err() == nil {
		poll()
		time.Sleep(20 * time.Millisecond)
	}
	writers.Wait()
	poll()
	rows, err := d.Pool.Query(t.Context(), `select id, version, updated_at from thing`)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[row])
	require.NoError(t, err)
	for _, r := range all {
		require.Equal(t, r.Version, seen[r.ID], fmt.Sprint("thing ", r.ID))
	}
}

func TestTheEndOfChangesIsAskedBeforeTheSnapshot(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), `select`); err != nil {
			return err
		}
		_, err := tx.ChangesUntil(t.Context(), "rate")
		return err
	})
	require.ErrorContains(t, err, "has begun")
}
