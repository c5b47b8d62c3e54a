// Package dbtest gives each test a database of its own on a real server: a copy of one that was migrated
// once.
package dbtest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
)

// shared is the server of all tests, and own the one of On. os.Getenv would make the address an input of the test: Go's cache of tests keeps a
// result together with the variables that the test has read, and the server has another port in each run.
var (
	shared, _ = syscall.Getenv("TEST_DATABASE_URL")
	own       string
)

// On makes a test's databases on a server of its own, at this address, and not on the shared one. No other test may run beside it.
func On(t testing.TB, server string) {
	own = server
	t.Cleanup(func() { own = "" })
}

// URL makes a fresh database whose schema is migrated, and answers its address. The server is the one
// at TEST_DATABASE_URL, as a superuser; `make test` starts one. The test fails when transactions in the database deadlocked:
// they run again after a deadlock, so nothing else in a test shows one.
func URL(t testing.TB, schema string, migrations fs.FS) string {
	t.Helper()
	_ = os.Getenv("TEST_POSTGRES") // another version may give another result
	server := cmp.Or(own, shared)
	require.NotEmpty(t, server, "run `make test`, or this test under `go run ./deploy/local env -- go test …`")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	on := connected(t, server)
	conn, err := on.Acquire(ctx)
	require.NoError(t, err)
	defer conn.Release()

	template := "template_" + schema + "_" + fingerprint(t, migrations)
	if clock != "" {
		template += "_clock"
	}
	if !exists(ctx, t, conn, template) {
		// Test binaries of several packages run at once; one of them makes the template.
		_, err = conn.Exec(ctx, `select pg_advisory_lock(7341)`)
		require.NoError(t, err)
		if !exists(ctx, t, conn, template) {
			prepare(ctx, t, conn, server, template, schema, migrations)
		}
		_, err = conn.Exec(ctx, `select pg_advisory_unlock(7341)`)
		require.NoError(t, err)
	}
	name := "test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	// Copying files costs a third of the default, which writes every page to the log.
	_, err = conn.Exec(ctx, fmt.Sprintf(`create database %s template %s strategy file_copy`, name, template))
	require.NoError(t, err)
	if clock != "" {
		setClock(ctx, t, with(t, server, name), Ahead(t))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		var deadlocks int
		err := on.QueryRow(ctx, `select deadlocks from pg_stat_database where datname = $1`, name).Scan(&deadlocks)
		if err != nil && server != shared {
			return // a server of the test's own, which it has stopped
		}
		require.NoError(t, err)
		if deadlocks > 0 {
			t.Errorf("PostgreSQL ended %d deadlocks: transactions of this test lock the same rows in different orders, and waited a second each", deadlocks)
		}
		requireCounts(ctx, t, with(t, server, name), schema, template)
		_, _ = on.Exec(ctx, fmt.Sprintf(`drop database %s with (force)`, name))
	})
	return with(t, server, name)
}

// pools are those of this process to servers, by their addresses. To connect anew for each test took a sixth of the processor time of a service's start.
var pools sync.Map

func connected(t testing.TB, server string) *pgxpool.Pool {
	t.Helper()
	if known, ok := pools.Load(server); ok {
		return known.(*pgxpool.Pool)
	}
	pool, err := pgxpool.New(context.Background(), server)
	require.NoError(t, err)
	known, twice := pools.LoadOrStore(server, pool)
	if twice {
		pool.Close()
	}
	return known.(*pgxpool.Pool)
}

// counted are the tables that count_rows counts, by the template. To look for them took a tenth of the time of the server for a test.
var counted sync.Map

// tableCount is a counted table, and the expression of the key under which a row counts.
type tableCount struct{ Name, Key string }

// requireCounts fails the test when row_count says something else than a table that count_rows counts.
func requireCounts(ctx context.Context, t testing.TB, address, schema, template string) {
	t.Helper()
	known, ok := counted.Load(template)
	if tables, _ := known.([]tableCount); ok && len(tables) == 0 {
		return
	}
	conn, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `set search_path = `+schema+`, ext`)
	require.NoError(t, err)
	if !ok {
		known, err = db.Rows[tableCount](ctx, conn, `select distinct c.relname::text as name, obj_description(t.tgfoid, 'pg_proc') as key from pg_trigger t join pg_class c on c.oid = t.tgrelid
			where t.tgfoid = to_regproc(quote_ident(c.relname || '_counted'))`)
		require.NoError(t, err)
		counted.Store(template, known)
	}
	for _, c := range known.([]tableCount) {
		var wrong []string
		require.NoError(t, conn.QueryRow(ctx, `select array_agg(format('%s: %s rows, %s counted', key, coalesce(there.n, 0), coalesce(says.n, 0)))
			from (select `+c.Key+` as key, count(*) as n from `+c.Name+` group by 1) there
			full join (select key, sum(n) as n from row_count where counted = $1 group by key) says using (key)
			where coalesce(there.n, 0) <> coalesce(says.n, 0)`, c.Name).Scan(&wrong))
		require.Empty(t, wrong, "row_count of %s", c.Name)
	}
}

// New opens a fresh database.
func New(t testing.TB, schema string, migrations fs.FS) *db.DB {
	t.Helper()
	d, err := db.Open(context.Background(), URL(t, schema, migrations), schema)
	require.NoError(t, err)
	d.Secret = []byte("a secret for the cursors of tests")
	t.Cleanup(d.Close)
	return d
}

// PoolOf is the address of a database with a pool of n connections.
func PoolOf(address string, n int) string {
	u, err := url.Parse(address)
	if err != nil {
		panic(err) // addresses are our own
	}
	q := u.Query()
	q.Set("pool_max_conns", strconv.Itoa(n))
	u.RawQuery = q.Encode()
	return u.String()
}

// Waiting is how many transactions in a database wait for a lock. It looks from beside the database, and over no connection of d.
func Waiting(t testing.TB, d *db.DB) (n int) {
	t.Helper()
	require.NoError(t, connected(t, cmp.Or(own, shared)).QueryRow(context.Background(), `select count(*) from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
		d.Pool.Config().ConnConfig.Database).Scan(&n))
	return n
}

func exists(ctx context.Context, t testing.TB, conn *pgxpool.Conn, database string) (found bool) {
	t.Helper()
	require.NoError(t, conn.QueryRow(ctx, `select exists (select from pg_database where datname = $1)`, database).Scan(&found))
	return found
}

// prepare makes the template under another name first, so that a test run that is cut off leaves none
// half done.
func prepare(ctx context.Context, t testing.TB, conn *pgxpool.Conn, server, template, schema string, migrations fs.FS) {
	t.Helper()
	draft := template + "_draft"
	for _, q := range []string{"drop database if exists %s with (force)", "create database %s template template0 encoding 'UTF8'"} {
		_, err := conn.Exec(ctx, fmt.Sprintf(q, draft))
		require.NoError(t, err)
	}
	in, err := pgx.Connect(ctx, with(t, server, draft))
	require.NoError(t, err)
	if clock != "" {
		_, err = in.Exec(ctx, `set allow_system_table_mods = on; alter function pg_catalog.now() rename to real_now; alter function pg_catalog.clock_timestamp() rename to real_clock_timestamp;
			alter view pg_catalog.pg_stat_activity rename to real_stat_activity`)
		require.NoError(t, err)
		setClock(ctx, t, with(t, server, draft), 0)
	}
	_, err = in.Exec(ctx, `create schema ext; create extension btree_gist schema ext; create extension pg_trgm schema ext;
		create extension unaccent schema ext; create extension citext schema ext; create schema `+schema)
	require.NoError(t, err)
	require.NoError(t, in.Close(ctx))
	d, err := db.Open(ctx, with(t, server, draft), schema)
	require.NoError(t, err)
	err = d.Migrate(ctx, migrations)
	d.Close()
	require.NoError(t, err)
	_, err = conn.Exec(ctx, fmt.Sprintf(`alter database %s rename to %s`, draft, template))
	require.NoError(t, err)
}

// clock is the time in Brussels at which the clocks of services and databases begin in each test, instead of the real one: `make clocks` runs the services'
// tests shortly before midnight and around the changes of summer time.
var clock = os.Getenv("TEST_CLOCK")

// Ahead is by how much the clocks of a test that begins now are ahead of the real one.
func Ahead(t testing.TB) time.Duration {
	t.Helper()
	if clock == "" {
		return 0
	}
	zone, err := time.LoadLocation("Europe/Brussels")
	require.NoError(t, err)
	begin, err := time.ParseInLocation("2006-01-02 15:04", clock, zone)
	require.NoError(t, err)
	return time.Until(begin)
}

// setClock sets the clock of a database. What a column has as its default is the same function, which is only replaced.
func setClock(ctx context.Context, t testing.TB, address string, ahead time.Duration) {
	t.Helper()
	conn, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	defer conn.Close(ctx)
	by := fmt.Sprintf(`interval '%d milliseconds'`, ahead.Milliseconds())
	var columns string
	require.NoError(t, conn.QueryRow(ctx, `select string_agg(case when atttypid = 'timestamptz'::regtype then format('%1$I + '||$1||' as %1$I', attname) else quote_ident(attname) end, ', ' order by attnum)
		from pg_attribute where attrelid = 'pg_catalog.real_stat_activity'::regclass`, by).Scan(&columns))
	_, err = conn.Exec(ctx, `set allow_system_table_mods = on;
		create or replace function pg_catalog.now() returns timestamptz stable parallel safe language sql return pg_catalog.real_now() + `+by+`;
		create or replace function pg_catalog.clock_timestamp() returns timestamptz volatile parallel safe language sql return pg_catalog.real_clock_timestamp() + `+by+`;
		create or replace view pg_catalog.pg_stat_activity as select `+columns+` from pg_catalog.real_stat_activity`)
	require.NoError(t, err)
}

func with(t testing.TB, server, database string) string {
	t.Helper()
	u, err := url.Parse(server)
	require.NoError(t, err)
	u.Path = "/" + database
	return u.String()
}

func fingerprint(t testing.TB, migrations fs.FS) string {
	t.Helper()
	h := sha256.New()
	for _, files := range []fs.FS{db.Mechanism, migrations} {
		if files == nil {
			continue
		}
		names, err := fs.Glob(files, "migrations/*.sql")
		require.NoError(t, err)
		for _, name := range names {
			b, err := fs.ReadFile(files, name)
			require.NoError(t, err)
			h.Write(b)
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:12]
}
