package db_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/until"
)

func TestATableThatFillsQuicklyIsPlannedForAsItIs(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	exec := func(sql string) {
		_, err := d.Pool.Exec(t.Context(), sql)
		require.NoError(t, err)
	}
	exec(`create table visit (id int primary key, made int not null, state text not null, result text not null) with (autovacuum_enabled = off);
		create index visit_waiting on visit (made) where state = 'here' and result = 'waiting';
		create table shelf (id int primary key) with (autovacuum_enabled = off)`)
	// A process keeps the plans of its statements.
	process, err := d.Pool.Acquire(t.Context())
	require.NoError(t, err)
	defer process.Release()
	_, err = process.Exec(t.Context(), `set plan_cache_mode = force_generic_plan; prepare find (int) as select from visit where id = $1 and state = 'here' and result = 'waiting'; execute find (7)`)
	require.NoError(t, err)
	plan := func() string {
		rows, err := process.Query(t.Context(), `explain execute find (7)`)
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		return strings.Join(lines, "\n")
	}
	exec(`insert into visit select n, n, 'here', 'waiting' from generate_series(1, 5000) n`)
	exec(`insert into shelf select generate_series(1, 100)`)
	require.Contains(t, plan(), "visit_waiting", "reads all that wait, because in an empty table the index that finds the row is no better")

	analyzed := func(table string) (at *time.Time) {
		require.NoError(t, d.Pool.QueryRow(t.Context(), `select last_analyze from pg_stat_user_tables where relname = $1`, table).Scan(&at))
		return at
	}
	until.Holds(t, func() bool { // connections report what they have changed after a moment
		require.NoError(t, d.Analyze(t.Context()))
		return analyzed("visit") != nil
	}, 10*time.Second, 50*time.Millisecond)
	require.Contains(t, plan(), "visit_pkey")
	require.Nil(t, analyzed("shelf"), "has a hundred rows")

	first := analyzed("visit")
	counted := func(more func(live, changed int) bool) {
		t.Helper()
		until.Holds(t, func() bool {
			var live, changed int
			require.NoError(t, d.Pool.QueryRow(t.Context(), `select n_live_tup, n_mod_since_analyze from pg_stat_user_tables where relname = 'visit'`).Scan(&live, &changed))
			return more(live, changed)
		}, 10*time.Second, 50*time.Millisecond)
		require.NoError(t, d.Analyze(t.Context()))
	}
	exec(`delete from visit where id > 100; insert into visit select n, n, 'here', 'waiting' from generate_series(101, 5000) n`)
	counted(func(_, changed int) bool { return changed >= 9800 })
	require.Equal(t, first, analyzed("visit"), "its rows come and go")
	exec(`insert into visit select n, n, 'here', 'waiting' from generate_series(5001, 20000) n`)
	counted(func(live, _ int) bool { return live > 19_000 })
	require.NotEqual(t, first, analyzed("visit"), "it has grown again")
}
