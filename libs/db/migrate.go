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
// migrations/*.sql in files. Replicas that start at once wait for each other.
func (d *DB) Migrate(ctx context.Context, files fs.FS) error {
	if err := d.migrate(ctx, mechanism, "mechanism_version"); err != nil {
		return err
	}
	if files == nil {
		return nil
	}
	return d.migrate(ctx, files, "schema_version")
}

func (d *DB) migrate(ctx context.Context, files fs.FS, table string) error {
	dir, err := fs.Sub(files, "migrations")
	if err != nil {
		return err
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockID(LockKey(d.Schema+".migrate", table)), lock.WithLockTimeout(1, 300))
	if err != nil {
		return err
	}
	sql := stdlib.OpenDB(*d.connConfig())
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

// connConfig is the pool's, without the lock time-out: a migration may wait longer than a request.
func (d *DB) connConfig() *pgx.ConnConfig {
	cfg := d.Pool.Config().ConnConfig.Copy()
	cfg.RuntimeParams["lock_timeout"] = "0"
	return cfg
}

// Tables are those of this package in every service's schema, with those in which the versions of migrations stand.
var Tables = []string{"outbox", "position", "inbox", "parked", "idempotency", "rate", "forgotten_person", "ended", "mechanism_version", "schema_version"}
