package contacts

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
)

type object = map[string]any

// afresh deletes every record of the service, for one more case of a test: it takes a tenth of the time of another service. Roles
// and people stay, and so do the events that were sent.
func afresh(t *testing.T, s *apptest.Service) {
	t.Helper()
	s.Settle()
	for _, table := range []string{"contact", "contact_alias", "organization", "tag", "field", "field_group", "activity", "marketing_link", "unsubscribed",
		"import", "appointment", "submission", "answered", "hand_over", "idempotency", "forgotten_person"} {
		execute(t, s.Kit.DB.Pool, `delete from `+table)
	}
}

// nextSecond waits until the database stamps changes later than before: stamps are whole seconds of its clock, which does not travel.
func nextSecond(t *testing.T, s *apptest.Service) {
	t.Helper()
	execute(t, s.Kit.DB.Pool, `select pg_sleep(extract(epoch from date_trunc('second', clock_timestamp()) + interval '1 second' - clock_timestamp()))`)
}

// execute runs a statement, which has to succeed.
func execute(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// refusing makes the database refuse a statement about one record.
func refusing(t *testing.T, s *apptest.Service, table, operation, id string) (heal func()) {
	t.Helper()
	execute(t, s.Kit.DB.Pool, `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'the database refuses this row'; end $$`)
	execute(t, s.Kit.DB.Pool, `create trigger refuse before `+operation+` on `+table+` for each row when (old.id = '`+id+`') execute function refuse()`)
	return func() { execute(t, s.Kit.DB.Pool, `drop trigger refuse on `+table) }
}

// together calls all functions at once and waits for them. It ends the test if one of them did not come to its end: what failed in
// it has said why.
func together(t *testing.T, calls ...func()) {
	t.Helper()
	var all sync.WaitGroup
	var ended atomic.Int64
	start := make(chan struct{})
	for _, f := range calls {
		all.Go(func() { <-start; f(); ended.Add(1) })
	}
	close(start)
	all.Wait()
	require.EqualValues(t, len(calls), ended.Load(), "a call has failed")
}

// waiting waits until at least n transactions of the service wait for a lock, or until instead holds.
func waiting(s *apptest.Service, n int, instead func() bool) {
	s.Eventually(func() bool {
		var waits int
		err := s.Kit.DB.Pool.QueryRow(context.Background(), `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`).Scan(&waits)
		return err == nil && waits >= n || instead()
	})
}

// finished waits until an import is completed.
func finished(s *apptest.Service, c *apptest.Client, id string) *apptest.Answer {
	var a *apptest.Answer
	s.Eventually(func() bool { a = c.Get("/imports/" + id).Is(200); return a.Text("status") == "completed" })
	return a
}

// tablesWith are the tables of the schema in which a word stands anywhere, but for the manifest, whose examples name people of tests.
func tablesWith(t *testing.T, s *apptest.Service, word string) (found []string) {
	ctx := context.Background()
	rows, err := s.Kit.DB.Pool.Query(ctx, `select table_name from information_schema.tables where table_schema = 'contacts'`)
	require.NoError(t, err)
	var tables []string
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	require.NoError(t, rows.Err())
	require.Greater(t, len(tables), 15)
	for _, table := range tables {
		switch table {
		case "outbox":
			table = "(select * from outbox where topic <> 'svc.manifest')"
		case "manifest": // what the program says of itself
			continue
		}
		var n int
		query := fmt.Sprintf(`select count(*) from %s x where position($1 in lower(x::text)) > 0 or position(encode(convert_to($1, 'UTF8'), 'hex') in x::text) > 0`, table)
		require.NoError(t, s.Kit.DB.Pool.QueryRow(ctx, query, strings.ToLower(word)).Scan(&n))
		if n > 0 {
			found = append(found, table)
		}
	}
	return found
}
