package app_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app"
	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
)

// vault is a service that keeps secrets.
func vault(opened func(id string)) app.Service {
	return app.Service{
		Name: "vault",
		Migrations: fstest.MapFS{"migrations/00001_secrets.sql": {Data: []byte(`-- +goose Up
create table secret (id bigint generated always as identity primary key, sealed bytea);
`)}},
		Build: func(_ context.Context, k *app.Kit) (*app.Parts, error) {
			return &app.Parts{Ops: k.NewSet(), Personal: app.Personal{Holds: map[string]app.Holds{"secret": app.Nobody}},
				Sealed: []app.Sealed{{Table: "secret", Column: "sealed", Purpose: func(id string) string { opened(id); return "secret " + id }}}}, nil
		},
	}
}

func TestANewKeySealsEverythingAnewAlsoWhenItIsStoppedHalfway(t *testing.T) {
	t.Parallel()
	const rows, next = 1000, "another master key that only tests know of"
	_, brokers := cluster(t)
	service := vault(func(string) {})
	cfg := app.Config{Listen: "127.0.0.1:0", AdminListen: "127.0.0.1:0", PublicURL: "http://localhost:8080", DatabaseURL: dbtest.URL(t, "vault", service.Migrations),
		Brokers: brokers, MasterKey: apptest.MasterKey}
	d, err := db.Open(t.Context(), cfg.DatabaseURL, "vault")
	require.NoError(t, err)
	t.Cleanup(d.Close)
	pool := d.Pool
	before := app.NewKeys(cfg)
	for id := range rows {
		_, err := pool.Exec(t.Context(), `insert into secret (sealed) values ($1)`, before.Seal(fmt.Sprint("secret ", id+1), fmt.Appendf(nil, "text %d", id+1)))
		require.NoError(t, err)
	}
	_, err = pool.Exec(t.Context(), `insert into secret (sealed) values (null), ('of a key that is lost')`)
	require.NoError(t, err)

	cfg.MasterKey, cfg.OldKeys = next, []string{apptest.MasterKey}
	after, alone := app.NewKeys(cfg), app.NewKeys(app.Config{MasterKey: next})
	count := func(k app.Keys) (n int) {
		all, err := pool.Query(t.Context(), `select id, sealed from secret where sealed is not null`)
		require.NoError(t, err)
		defer all.Close()
		for all.Next() {
			var id int
			var sealed []byte
			require.NoError(t, all.Scan(&id, &sealed))
			if text, err := k.Open(fmt.Sprint("secret ", id), sealed); err == nil {
				require.Equal(t, fmt.Sprintf("text %d", id), string(text))
				n++
			}
		}
		return n
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	calls := 0
	var out bytes.Buffer
	require.Error(t, app.RotateKey(ctx, cfg, vault(func(string) {
		if calls++; calls == 2*rows/3 {
			stop()
		}
	}), &out))
	half := count(alone)
	require.Greater(t, half, 0)
	require.Less(t, half, rows)
	require.Equal(t, rows, count(after), "nothing is lost")

	require.NoError(t, app.RotateKey(t.Context(), cfg, service, &out))
	require.Equal(t, rows, count(alone), "the old key is not needed any more")
	require.Equal(t, fmt.Sprintf("vault: secret.sealed: %d values are sealed with the new key, 1 remain that no configured key opens\n", rows-half), out.String())
	out.Reset()
	require.NoError(t, app.RotateKey(t.Context(), cfg, service, &out))
	require.Equal(t, "vault: secret.sealed: 0 values are sealed with the new key, 1 remain that no configured key opens\n", out.String())
}
