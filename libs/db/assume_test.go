package db_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/db/pgserver"
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
	require.Equal(t, 2, runs)
	require.Equal(t, "svc_unavailable", fault.From(err).Code)
}

func TestAWrongAssumptionIsNoErrorInTheServersLog(t *testing.T) {
	ctx := t.Context()
	server, err := pgserver.Start(ctx, pgserver.Options{Dir: filepath.Join(t.TempDir(), "data"), Password: "admin", Durable: true})
	require.NoError(t, err)
	defer server.Stop()
	urls, err := pgserver.Provision(ctx, server.URL(), map[string]string{"desk": "secret"})
	require.NoError(t, err)
	d, err := db.Open(ctx, urls["desk"], "desk")
	require.NoError(t, err)
	defer d.Close()
	require.NoError(t, d.Migrate(ctx, fstest.MapFS{"migrations/00001_nothing.sql": {Data: []byte("-- +goose Up\n")}}))
	runs := 0
	require.NoError(t, d.Do(ctx, func(tx *db.Tx) error {
		if runs++; tx.Trusts(rateIsNew) {
			tx.Assume(rateIsNew, `false`)
		}
		return nil
	}))
	require.Equal(t, 2, runs)
	// An error that has to be in the log shows that the log has come this far.
	_, err = d.Pool.Exec(ctx, `select 1 / 0`)
	require.Error(t, err)
	require.Eventually(t, func() bool { return strings.Contains(server.Log(), "division by zero") }, 5*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, strings.Count(server.Log(), "ERROR:"), server.Log())
	require.NotContains(t, server.Log(), rateIsNew)
}
