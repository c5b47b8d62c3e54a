package pgserver_test

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"frontdesk/libs/db/pgserver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
)

func start(t *testing.T, o pgserver.Options) *pgserver.Server {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := pgserver.Start(ctx, o)
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return s
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func refused(t *testing.T, err error, code string) {
	t.Helper()
	var pg *pgconn.PgError
	require.ErrorAs(t, err, &pg)
	require.Equal(t, code, pg.Code, pg.Message)
}

func TestACommitOutlivesTheServersKill(t *testing.T) {
	o := pgserver.Options{Dir: filepath.Join(t.TempDir(), "data"), Password: "s'ecret", Durable: true}
	first := start(t, o)
	db := connect(t, first.URL())
	_, err := db.Exec(t.Context(), `CREATE TABLE kept (n int)`)
	require.NoError(t, err)
	_, err = db.Exec(t.Context(), `INSERT INTO kept VALUES (1)`)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(first.PID(), syscall.SIGKILL))
	first.Stop()

	var n int
	require.NoError(t, connect(t, start(t, o).URL()).QueryRow(t.Context(), `SELECT n FROM kept`).Scan(&n))
	require.Equal(t, 1, n)
}

func TestTheServerWantsThePassword(t *testing.T) {
	s := start(t, pgserver.Options{Dir: filepath.Join(t.TempDir(), "data"), Password: "right"})
	u, err := url.Parse(s.URL())
	require.NoError(t, err)
	u.User = url.UserPassword(pgserver.Superuser, "wrong")
	_, err = pgx.Connect(t.Context(), u.String())
	refused(t, err, "28P01")
}

func TestTextSortsByCodePointAndKnowsEveryLetter(t *testing.T) {
	db := connect(t, start(t, pgserver.Options{Dir: filepath.Join(t.TempDir(), "data")}).URL())
	var sorted, lower string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT string_agg(w, ' ' ORDER BY w), lower('ÉÅŠ') FROM unnest(ARRAY['b','a','B','é']) w`).Scan(&sorted, &lower))
	require.Equal(t, "B a b é", sorted)
	require.Equal(t, "éåš", lower)
}

func TestDataBelowAFolderOthersMayNotEnterStillStarts(t *testing.T) {
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.Mkdir(closed, 0o700))
	db := connect(t, start(t, pgserver.Options{Dir: filepath.Join(closed, "data")}).URL())
	require.NoError(t, db.Ping(t.Context()))
}

func TestADataFolderOfAnotherVersionIsRefusedInOneSentence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "PG_VERSION"), []byte("9\n"), 0o600))
	_, err := pgserver.Open(t.Context(), pgserver.Options{Dir: dir})
	require.ErrorContains(t, err, "was made by PostgreSQL 9")
}

func TestARoleOwnsItsSchemaAndNothingElse(t *testing.T) {
	ctx := t.Context()
	s := start(t, pgserver.Options{Dir: filepath.Join(t.TempDir(), "data"), Password: "admin"})
	urls, err := pgserver.Provision(ctx, s.URL(), map[string]string{"contacts": "it's one", "booking": "two"})
	require.NoError(t, err)
	contacts, booking := connect(t, urls["contacts"]), connect(t, urls["booking"])

	_, err = contacts.Exec(ctx, `CREATE TABLE person (email citext, name text)`)
	require.NoError(t, err)
	var schema string
	require.NoError(t, contacts.QueryRow(ctx, `SELECT relnamespace::regnamespace::text FROM pg_class WHERE relname = 'person'`).Scan(&schema))
	require.Equal(t, "contacts", schema)
	_, err = contacts.Exec(ctx, `SELECT unaccent('é'), similarity('a', 'b')`)
	require.NoError(t, err, "extensions are found without naming their schema")
	_, err = booking.Exec(ctx, `CREATE TABLE busy (staff int, during tstzrange, EXCLUDE USING gist (staff WITH =, during WITH &&))`)
	require.NoError(t, err)

	const forbidden = "42501"
	for _, sql := range []string{
		`SELECT * FROM contacts.person`,
		`CREATE TABLE contacts.theirs ()`,
		`CREATE TABLE public.anybodys ()`,
		`CREATE TABLE ext.anybodys ()`,
		`CREATE SCHEMA mine`,
		`CREATE ROLE friend`,
		`CREATE DATABASE other`,
		`SELECT pg_read_file('PG_VERSION')`,
		`SET ROLE frontdesk_contacts`,
	} {
		_, err := booking.Exec(ctx, sql)
		refused(t, err, forbidden)
	}
	u, err := url.Parse(urls["booking"])
	require.NoError(t, err)
	u.Path = "/postgres"
	_, err = pgx.Connect(ctx, u.String())
	refused(t, err, "28000")
}

func TestProvisioningAgainKeepsTheDataAndSetsThePassword(t *testing.T) {
	ctx := t.Context()
	s := start(t, pgserver.Options{Dir: filepath.Join(t.TempDir(), "data"), Password: "admin"})
	urls, err := pgserver.Provision(ctx, s.URL(), map[string]string{"forms": "old"})
	require.NoError(t, err)
	_, err = connect(t, urls["forms"]).Exec(ctx, `CREATE TABLE form (id int)`)
	require.NoError(t, err)

	again, err := pgserver.Provision(ctx, s.URL(), map[string]string{"forms": "new"})
	require.NoError(t, err)
	_, err = connect(t, again["forms"]).Exec(ctx, `INSERT INTO form VALUES (1)`)
	require.NoError(t, err)
	_, err = pgx.Connect(ctx, urls["forms"])
	refused(t, err, "28P01")
}

func TestAnAdministratorWhoIsNoSuperuserCanProvision(t *testing.T) {
	ctx := t.Context()
	s := start(t, pgserver.Options{Dir: filepath.Join(t.TempDir(), "data")})
	_, err := connect(t, s.URL()).Exec(ctx, `CREATE ROLE owner LOGIN CREATEDB CREATEROLE`)
	require.NoError(t, err)
	u, err := url.Parse(s.URL())
	require.NoError(t, err)
	u.User = url.User("owner")
	for range 2 {
		urls, err := pgserver.Provision(ctx, u.String(), map[string]string{"webhooks": "w"})
		require.NoError(t, err)
		_, err = connect(t, urls["webhooks"]).Exec(ctx, `CREATE TABLE IF NOT EXISTS hook (id int)`)
		require.NoError(t, err)
	}
}
