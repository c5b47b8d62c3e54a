package contacts

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/services/contacts/contactstest"
)

type object = map[string]any

// nextSecond waits until the database stamps changes later than before: stamps are whole seconds of its clock, which does not travel.
func nextSecond(t *testing.T, s *apptest.Service) {
	t.Helper()
	contactstest.Execute(t, s.Kit.DB.Pool, `select pg_sleep(extract(epoch from date_trunc('second', clock_timestamp()) + interval '1 second' - clock_timestamp()))`)
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
