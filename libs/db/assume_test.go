package db_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/fault"
)

const rateIsNew = db.Assumption("the rate is new")

func TestWorkOnAWrongAssumptionRunsAgainAndKnows(t *testing.T) {
	refused := fault.Conflict("known", "It is known.")
	for name, c := range map[string]struct {
		known bool // the assumption is wrong
		work  func(tx *db.Tx) error
		err   error
		runs  int
	}{
		"right":                {work: func(*db.Tx) error { return nil }, runs: 1},
		"wrong at the commit":  {known: true, work: func(*db.Tx) error { return nil }, runs: 2},
		"refused, and right":   {work: func(*db.Tx) error { return refused }, err: refused, runs: 1},
		"refused, but wrongly": {known: true, work: func(*db.Tx) error { return refused }, runs: 2},
	} {
		t.Run(name, func(t *testing.T) {
			d, ctx := dbtest.New(t, "desk", nil), t.Context()
			if c.known {
				_, err := d.Pool.Exec(ctx, `insert into rate (key, full_at) values ('a', now())`)
				require.NoError(t, err)
			}
			runs := 0
			err := d.Do(ctx, func(tx *db.Tx) error {
				runs++
				if !tx.Trusts(rateIsNew) {
					_, err := tx.Exec(ctx, `insert into rate (key, full_at) values ('second', now())`)
					return err
				}
				tx.Defer(`insert into rate (key, full_at) values ('first', now())`)
				tx.Assume(rateIsNew, `not exists (select from rate where key = $1)`, "a")
				return c.work(tx)
			})
			require.ErrorIs(t, err, c.err)
			require.Equal(t, c.runs, runs)
			var first, second bool
			require.NoError(t, d.Pool.QueryRow(ctx, `select exists (select from rate where key = 'first'), exists (select from rate where key = 'second')`).Scan(&first, &second))
			require.Equal(t, []bool{!c.known && c.err == nil, c.known}, []bool{first, second}, "a wrong run leaves nothing")
		})
	}
}

func TestWhatRunsAfterTheCommitRunsForNoOtherRun(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	runs, remembered := 0, []int{}
	work := func(tx *db.Tx) error {
		runs++
		run := runs
		tx.AfterCommit(func() { remembered = append(remembered, run) })
		if tx.Trusts(rateIsNew) {
			tx.Assume(rateIsNew, `false`)
		}
		return nil
	}
	require.NoError(t, d.Do(t.Context(), work))
	require.NoError(t, d.Read(t.Context(), work))
	require.Error(t, d.Do(t.Context(), func(tx *db.Tx) error {
		tx.AfterCommit(func() { t.Error("nothing was committed") })
		return errors.New("refused")
	}))
	require.Equal(t, []int{2, 4}, remembered)
}

func TestWorkThatGoesOnAssumingIsToldToTryLater(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	runs := 0
	err := d.Do(t.Context(), func(tx *db.Tx) error {
		runs++
		tx.Assume(rateIsNew, `false`)
		return nil
	})
	wrong, ok := errors.AsType[*db.WrongAssumption](err)
	require.True(t, ok)
	require.Equal(t, rateIsNew, wrong.Assumption)
	require.Equal(t, 4, runs)
	require.Equal(t, "svc_unavailable", fault.From(err).Code)
}

func TestAWrongAssumptionIsNoErrorInTheServersLog(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	var set []string
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select proconfig from pg_proc where proname = 'wrong_assumption' and pronamespace = current_schema()::regnamespace`).Scan(&set))
	require.Equal(t, []string{"log_min_messages=log"}, set)
}
