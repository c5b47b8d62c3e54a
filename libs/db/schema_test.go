package db_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db/dbtest"
)

// statements describe a schema, $1: each table with what belongs to it, sequences and functions. Names inside the schema stand without it.
const statements = `
	with c as (select c.* from pg_class c where c.relnamespace = $1::regnamespace and c.relkind in ('r', 'p', 'S')),
	parts as (
		select c.relname, 0 as part, a.attnum as n, ''::name as sub, '	' || quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
			|| case when a.attidentity <> '' then ' GENERATED ' || case a.attidentity when 'a' then 'ALWAYS' else 'BY DEFAULT' end || ' AS IDENTITY'
				when a.attgenerated <> '' then ' GENERATED ALWAYS AS (' || pg_get_expr(d.adbin, d.adrelid) || ') STORED'
				when d.adbin is not null then ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) else '' end
			|| case when a.attnotnull and a.attidentity = '' then ' NOT NULL' else '' end
			|| case when a.attcollation <> t.typcollation then ' COLLATE ' || quote_ident(l.collname) else '' end as text
		from c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped join pg_type t on t.oid = a.atttypid
			left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum left join pg_collation l on l.oid = a.attcollation
		where c.relkind <> 'S'
		union all
		select c.relname, 1, array_position(array['p', 'u', 'x', 'c', 'f'], o.contype::text), o.conname, '	CONSTRAINT ' || quote_ident(o.conname) || ' ' || pg_get_constraintdef(o.oid)
		from c join pg_constraint o on o.conrelid = c.oid and o.contype in ('p', 'u', 'x', 'c', 'f')),
	tables as (
		select c.oid, 'CREATE ' || case c.relpersistence when 'u' then 'UNLOGGED ' else '' end || 'TABLE ' || quote_ident(c.relname) || E' (\n'
			|| (select string_agg(text, E',\n' order by part, n, sub) from parts p where p.relname = c.relname) || E'\n)'
			|| coalesce(' WITH (' || array_to_string(c.reloptions || (select array_agg('toast.' || x) from pg_class toast, unnest(toast.reloptions) x where toast.oid = c.reltoastrelid), ', ') || ')', '')
			|| case when c.relreplident = 'f' then E';\nALTER TABLE ' || quote_ident(c.relname) || ' REPLICA IDENTITY FULL' else '' end as text
		from c where c.relkind <> 'S'),
	all_of_it as (
		select 0 as kind, c.relname::text as name, 0 as part, '' as sub, t.text from c join tables t using (oid)
		union all
		select 0, c.relname, 1, i.relname, pg_get_indexdef(i.oid) from c join pg_index x on x.indrelid = c.oid join pg_class i on i.oid = x.indexrelid
		where not exists (select from pg_constraint o where o.conindid = i.oid and o.contype in ('p', 'u', 'x'))
		union all
		select 0, c.relname, 2, s.stxname, pg_get_statisticsobjdef(s.oid) from c join pg_statistic_ext s on s.stxrelid = c.oid
		union all
		select 0, c.relname, 3, g.tgname, pg_get_triggerdef(g.oid) from c join pg_trigger g on g.tgrelid = c.oid and not g.tgisinternal
		union all
		select 1, c.relname, 0, '', 'CREATE SEQUENCE ' || quote_ident(c.relname) from c
		where c.relkind = 'S' and not exists (select from pg_depend d where d.objid = c.oid and d.deptype in ('i', 'a'))
		union all
		select 2, p.proname, 0, p.oid::regprocedure::text, rtrim(pg_get_functiondef(p.oid), E'\n') from pg_proc p where p.pronamespace = $1::regnamespace)
	select name, text from all_of_it order by kind, name, part, sub`

// statement is one statement of a schema, and the table, sequence or function that it belongs to.
type statement struct{ Name, Text string }

func described(t *testing.T, schema string, migrations fs.FS) []statement {
	t.Helper()
	d := dbtest.New(t, schema, migrations)
	rows, err := d.Pool.Query(t.Context(), statements, schema)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[statement])
	require.NoError(t, err)
	for i := range all {
		all[i].Text = strings.ReplaceAll(all[i].Text, schema+".", "")
		if !strings.HasPrefix(all[i].Text, "CREATE OR REPLACE FUNCTION") {
			all[i].Text = strings.NewReplacer("::text", "", " USING btree", "").Replace(all[i].Text)
		}
	}
	return all
}

// written is what statements are as a file: those of one table together.
func written(says string, all []statement) string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- %s\n-- UPDATE_SCHEMA=1 make units PACKAGES=./libs/db RUN=TestTheWrittenSchemas writes this file; nothing runs it.\n", says)
	for i, s := range all {
		if i == 0 || all[i-1].Name != s.Name {
			b.WriteString("\n")
		}
		b.WriteString(s.Text + ";\n")
	}
	return b.String()
}

func TestTheWrittenSchemasAreWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, file, want string) {
		if os.Getenv("UPDATE_SCHEMA") != "" {
			require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		}
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, want, string(got), "%s is not what the migrations make: UPDATE_SCHEMA=1 writes it", file)
	}
	mechanism := described(t, "mechanism", nil)
	check(t, "schema.sql", written("What the migrations of this folder make in the schema of every service.", mechanism))
	// Go keeps what a test says while no folder that it has listed has changed, and each build changes some inside of the services.
	services, err := os.ReadDir("../../services")
	require.NoError(t, err)
	require.NotEmpty(t, services)
	for _, s := range services {
		if !s.IsDir() {
			continue
		}
		name := s.Name()
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join("../../services", name, "internal", name)
			own := slices.DeleteFunc(described(t, name, os.DirFS(folder)), func(s statement) bool {
				return s.Name == "schema_version" || slices.Contains(mechanism, s)
			})
			check(t, filepath.Join(folder, "schema.sql"), written("What all migrations make, without the tables of libs/db/schema.sql that every service has.", own))
		})
	}
}
