package db_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

func TestWhoListensHearsAgainAfterALostConnection(t *testing.T) {
	d := dbtest.New(t, "desk", nil)
	begun, heard := make(chan struct{}, 1), make(chan string, 1)
	go d.Listen(t.Context(), "listen_test", func(context.Context) error { begun <- struct{}{}; return nil },
		func(_ context.Context, payload string) error { heard <- payload; return nil })
	notify := func(payload string) {
		require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error { return tx.Notify(t.Context(), "listen_test", payload) }))
	}
	<-begun
	notify("one")
	require.Equal(t, "one", <-heard)
	_, err := d.Pool.Exec(t.Context(), `select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen listen_test' and datname = current_database()`)
	require.NoError(t, err)
	<-begun
	notify("two")
	require.Equal(t, "two", <-heard)
}
