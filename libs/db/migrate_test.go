package db_test

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db/dbtest"
)

func TestAMigrationThatWaitsForALockLetsRequestsPass(t *testing.T) {
	ctx := t.Context()
	first := fstest.MapFS{"migrations/00001_shelf.sql": {Data: []byte("-- +goose Up\ncreate table shelf (id int);")}}
	d := dbtest.New(t, "desk", first)
	reader, err := d.Pool.Begin(ctx)
	require.NoError(t, err)
	_, err = reader.Exec(ctx, `select from shelf`)
	require.NoError(t, err)

	first["migrations/00002_label.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\nalter table shelf add label text;")}
	began := time.Now()
	migrated := make(chan error, 1)
	go func() { migrated <- d.Migrate(ctx, first) }()
	var refused error
	select {
	case refused = <-migrated:
	case <-time.After(20 * time.Second):
		require.Fail(t, "it waits for the reader, and everybody behind it")
	}
	var lock *pgconn.PgError
	require.ErrorAs(t, refused, &lock)
	require.Equal(t, "55P03", lock.Code)
	require.Greater(t, time.Since(began), time.Second)

	require.NoError(t, reader.Rollback(ctx))
	require.NoError(t, d.Migrate(ctx, first))
	_, err = d.Pool.Exec(ctx, `select label from shelf`)
	require.NoError(t, err)
}

func TestAnIndexIsMadeWhileATableIsInUse(t *testing.T) {
	ctx := t.Context()
	files := fstest.MapFS{"migrations/00001_shelf.sql": {Data: []byte("-- +goose Up\ncreate table shelf (id int);")}}
	d := dbtest.New(t, "desk", files)
	writer, err := d.Pool.Begin(ctx)
	require.NoError(t, err)
	_, err = writer.Exec(ctx, `insert into shelf values (1)`)
	require.NoError(t, err)

	// As deploy/README.md shows it.
	files["migrations/00002_order.sql"] = &fstest.MapFile{Data: []byte(`-- +goose NO TRANSACTION
-- +goose Up
set lock_timeout = 0;
drop index concurrently if exists shelf_id;
create index concurrently shelf_id on shelf (id);
`)}
	migrated := make(chan error, 1)
	go func() { migrated <- d.Migrate(ctx, files) }()
	waits := `select exists (select from pg_stat_activity where query like 'create index concurrently%' and wait_event_type = 'Lock')`
	require.Eventually(t, func() bool {
		var waiting bool
		return d.Pool.QueryRow(ctx, waits).Scan(&waiting) == nil && waiting
	}, 20*time.Second, 10*time.Millisecond)
	_, err = d.Pool.Exec(ctx, `insert into shelf values (2)`)
	require.NoError(t, err, "others write meanwhile")
	require.NoError(t, writer.Commit(ctx))
	require.NoError(t, <-migrated)
}
