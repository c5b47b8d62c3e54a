package app_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/version"
)

// A replica of the version before has to start again beside the new ones, after a crash for instance.
func TestTheVersionBeforeStartsOnTheSchemaOfTheNext(t *testing.T) {
	t.Parallel()
	_, brokers := cluster(t)
	before, next := vault(func(string) {}), vault(func(string) {})
	files := maps.Clone(next.Migrations.(fstest.MapFS))
	files["migrations/00002_box.sql"] = &fstest.MapFile{Data: []byte("-- +goose Up\ncreate table box (id bigint primary key);")}
	next.Migrations = files
	cfg := app.Config{PublicURL: "http://localhost:8080", DatabaseURL: dbtest.URL(t, "vault", nil), Brokers: brokers, MasterKey: apptest.MasterKey}
	require.ErrorContains(t, app.Migrate(t.Context(), cfg, next, io.Discard), "box is not declared", "a version says what its own tables hold")
	require.NoError(t, app.Migrate(t.Context(), cfg, before, io.Discard))
}

func TestASchemaIsBroughtUpToDateAheadOfTheReplicas(t *testing.T) {
	t.Parallel()
	_, brokers := cluster(t)
	service := vault(func(string) {})
	cfg := app.Config{PublicURL: "http://localhost:8080", DatabaseURL: dbtest.URL(t, "vault", nil), Brokers: brokers, MasterKey: apptest.MasterKey}
	d, err := db.Open(t.Context(), cfg.DatabaseURL, "vault")
	require.NoError(t, err)
	t.Cleanup(d.Close)
	_, err = d.Pool.Exec(t.Context(), `select from secret`)
	require.Error(t, err)
	for range 2 {
		var said bytes.Buffer
		require.NoError(t, app.Migrate(t.Context(), cfg, service, &said))
		require.Equal(t, "vault is at version "+version.String()+"\n", said.String())
		_, err = d.Pool.Exec(t.Context(), `select from secret`)
		require.NoError(t, err)
	}
}

// An upgrade may bring topics and rights only after the schemas are migrated, as the operator of a Kafka does.
func TestASchemaIsMigratedWhateverTopicsThereAre(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cfg := app.Config{PublicURL: "http://localhost:8080", DatabaseURL: dbtest.URL(t, "vault", nil), Brokers: "127.0.0.1:1", MasterKey: apptest.MasterKey}
	require.NoError(t, app.Migrate(ctx, cfg, vault(func(string) {}), io.Discard))
}
