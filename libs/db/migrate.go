package db

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var mechanism embed.FS

// Mechanism holds the migrations of this package, under migrations/.
var Mechanism fs.FS = mechanism

// Migrate brings the schema up to date: first the tables of this package, then the service's own from
// migrations/*.sql in files. Replicas that start at once wait for each other. A statement that waits for a lock for longer than
// lockWithin is an error, because every request for that table waits behind it; migrations that were done before it stay done.
// Call Migrate again then.
func (d *DB) Migrate(ctx context.Context, files fs.FS) error {
	if err := d.migrate(ctx, mechanism, "mechanism_version"); err != nil {
		return err
	}
	if files != nil {
		if err := d.migrate(ctx, files, "schema_version"); err != nil {
			return err
		}
	}
	return d.bindTriggers(ctx)
}

// bindTriggers writes the schema before the tables that functions of triggers read and change, so that they find them whoever writes, an administrator
// with psql for instance. A search path of the function's own would do the same and be set at each call.
func (d *DB) bindTriggers(ctx context.Context) error {
	err := pgx.BeginFunc(ctx, d.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select pg_advisory_xact_lock($1)`, LockKey(d.Schema+".migrate", "triggers")); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `do $$ declare body text; bound text; tables text; begin
			select string_agg(relname, '|') into tables from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p');
			for body in select pg_get_functiondef(oid) from pg_proc where pronamespace = current_schema()::regnamespace and prorettype = 'trigger'::regtype loop
				bound := regexp_replace(body, '\m(insert into|update|from|join) (' || tables || ')\M(?!\.)', '\1 ' || quote_ident(current_schema()) || '.\2', 'g');
				if bound <> body then
					execute bound;
				end if;
			end loop;
		end $$`)
		return err
	})
	if err != nil {
		return fmt.Errorf("db: functions of triggers of %s: %w", d.Schema, err)
	}
	return nil
}

func (d *DB) migrate(ctx context.Context, files fs.FS, table string) error {
	if d.migrated(ctx, files, table) {
		return nil
	}
	dir, err := fs.Sub(files, "migrations")
	if err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(LockKey(d.Schema+".migrate", table)), lock.WithLockTimeout(1, 300))
	if err != nil {
		return err
	}
	cfg := d.Pool.Config().ConnConfig.Copy()
	cfg.RuntimeParams["lock_timeout"] = lockWithin
	sql := stdlib.OpenDB(*cfg)
	defer sql.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, sql, dir, goose.WithSessionLocker(locker), goose.WithTableName(d.Schema+"."+table))
	if err != nil {
		return fmt.Errorf("db: migrations of %s: %w", d.Schema, err)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("db: migrations of %s: %w", d.Schema, err)
	}
	return nil
}

// migrated reports whether the schema has all migrations in files. Most processes start on such a schema, and need neither a lock nor connections besides
// the pool's then. Of an error migrate says more.
func (d *DB) migrated(ctx context.Context, files fs.FS, table string) (all bool) {
	numbers, err := numbersOf(files)
	if err != nil || d.Pool.QueryRow(ctx, `select to_regclass($1) is not null`, table).Scan(&all) != nil || !all {
		return false
	}
	err = d.Pool.QueryRow(ctx, `select not exists (select unnest($1::bigint[]) except select version_id from `+table+` where is_applied)`, numbers).Scan(&all)
	return all && err == nil
}

// numbersOf returns the numbers of the migrations in files.
func numbersOf(files fs.FS) (numbers []int64, err error) {
	names, err := fs.Glob(files, "migrations/*.sql")
	for _, name := range names {
		n, err := goose.NumericComponent(name)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, err
}

// Ahead reports whether a later version has migrated the schema: whether it has a migration that is neither of this package nor in files.
func (d *DB) Ahead(ctx context.Context, files fs.FS) (bool, error) {
	for table, from := range map[string]fs.FS{"mechanism_version": mechanism, "schema_version": files} {
		if from == nil {
			continue
		}
		numbers, err := numbersOf(from)
		if err != nil {
			return false, err
		}
		var ahead bool
		err = d.Pool.QueryRow(ctx, `select exists (select from `+table+` where version_id > all($1))`, append(numbers, 0)).Scan(&ahead)
		if err != nil || ahead {
			return ahead, err
		}
	}
	return false, nil
}

// lockWithin is how long a statement of a migration waits for a lock: less than requests that wait behind it do.
const lockWithin = "2s"

// Tables are those of this package in every service's schema, with those in which the versions of migrations stand.
var Tables = []string{"outbox", "published", "relay", "lost_topic", "position", "following", "logged", "inbox", "parked", "idempotency", "deed", "deed_record", "rate", "work_lease",
	"forgotten_person", "ended", "row_count", "manifest", "shared_key",
	"mechanism_version", "schema_version"}
