package db_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestATotalIsThatOfTheTableWhateverWasDoneAtTheSameTime(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	_, err := d.Pool.Exec(t.Context(), `create table thing (id bigint generated always as identity primary key, shelf int, colour text not null, writer int not null);
		select count_rows('thing', 'array[shelf::text, colour]')`)
	require.NoError(t, err)
	errUndone := errors.New("undone")
	colours := []string{"red", "green", "blue"}
	ended := time.Now().Add(2 * time.Second)
	var writers sync.WaitGroup
	for writer := range 4 {
		writers.Go(func() {
			for time.Now().Before(ended) {
				colour, shelf := colours[rand.IntN(3)], rand.IntN(4)
				query := []string{
					`insert into thing (shelf, colour, writer) select nullif($1::int, 3), $2, $4 from generate_series(1, 1 + $3::int)`,
					`update thing set shelf = nullif($1::int, 3) where colour = $2 and id % 7 = $3 and writer = $4`,
					`update thing set colour = $2 where id % 11 = $3 and shelf is not distinct from nullif($1::int, 3) and writer = $4`,
					`delete from thing where shelf = $1 and colour <> $2 and id % 5 = $3 and writer = $4`,
				}[rand.IntN(4)]
				err := d.Do(t.Context(), func(tx *db.Tx) error {
					if _, err := tx.Exec(t.Context(), query, shelf, colour, rand.IntN(5), writer); err != nil {
						return err
					}
					if rand.IntN(5) == 0 {
						return errUndone
					}
					return nil
				})
				require.True(t, err == nil || errors.Is(err, errUndone), "%v", err)
			}
		})
	}
	for range 2 {
		writers.Go(func() {
			for time.Now().Before(ended) {
				require.NoError(t, d.AddUpCounts(t.Context()))
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	writers.Wait()
	check := func() {
		require.NoError(t, d.Read(t.Context(), func(tx *db.Tx) error {
			for _, c := range []struct {
				where string
				key   [][]string
			}{
				{"true", nil},
				{"shelf = 1", [][]string{{"1"}}},
				{"colour = 'red'", [][]string{nil, {"red"}}},
				{"shelf in (0, 2) and colour in ('green', 'blue')", [][]string{{"0", "2"}, {"green", "blue"}}},
			} {
				var there int64
				require.NoError(t, tx.QueryRow(t.Context(), `select count(*) from thing where `+c.where).Scan(&there))
				n, err := tx.CountRows(t.Context(), "thing", c.key...)
				require.NoError(t, err)
				require.Equal(t, there, n, c.where)
			}
			return nil
		}))
	}
	check()
	require.NoError(t, d.AddUpCounts(t.Context()))
	check()
	var rows, keys int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select (select count(*) from row_count), (select count(distinct (shelf, colour)) from thing)`).Scan(&rows, &keys))
	require.Equal(t, keys, rows, "one row per key")
}

func TestAnAdministratorsStatementIsCountedToo(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	_, err := d.Pool.Exec(t.Context(), `create table thing (id bigint primary key); select count_rows('thing', 'array[]::text[]')`)
	require.NoError(t, err)
	byHand := func() error {
		return pgx.BeginFunc(t.Context(), d.Pool, func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), `set local search_path to public`); err != nil {
				return err
			}
			_, err := tx.Exec(t.Context(), `insert into desk.thing values (1)`)
			return err
		})
	}
	require.ErrorContains(t, byHand(), "row_count", "a function finds no table of its schema before the schema is migrated")
	for range 2 {
		require.NoError(t, d.Migrate(t.Context(), nil))
	}
	require.NoError(t, byHand())
	var n int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select sum(n) from row_count`).Scan(&n))
	require.Equal(t, 1, n)
}
