package pgserver

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Database is the one that all services share; each has a schema of its own in it.
const Database = "frontdesk"

// Role is the database role of a service.
func Role(service string) string { return Database + "_" + service }

// Provision makes, on the server behind adminURL, the database, the schema ext with the extensions, and for each service
// (name to password) a login role that owns the schema of the service's name and may do nothing elsewhere. It answers with
// the URL for each service. Running it again changes nothing but the passwords. adminURL needs the right to make databases
// and roles; when it names a database other than the server's own ones, that database is used instead of Database.
func Provision(ctx context.Context, adminURL string, passwords map[string]string) (map[string]string, error) {
	admin, err := pgx.ParseConfig(adminURL)
	if err != nil {
		return nil, fmt.Errorf("the database address: %w", err)
	}
	name := admin.Database
	if name == "" || name == "postgres" || name == "template1" {
		name = Database
		if err := makeDatabase(ctx, admin, name); err != nil {
			return nil, err
		}
	}
	admin.Database = name
	conn, err := pgx.ConnectConfig(ctx, admin)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)

	statements := []string{
		`REVOKE ALL ON DATABASE {db} FROM PUBLIC`,
		`REVOKE ALL ON SCHEMA public FROM PUBLIC`,
		`CREATE SCHEMA IF NOT EXISTS ext`,
	}
	for _, e := range extensions {
		statements = append(statements, `CREATE EXTENSION IF NOT EXISTS `+e+` SCHEMA ext`, `ALTER EXTENSION `+e+` SET SCHEMA ext`)
	}
	if err := execute(ctx, tx, statements, map[string]string{"db": name}); err != nil {
		return nil, err
	}
	urls := map[string]string{}
	for service, password := range passwords {
		if err := provisionService(ctx, tx, name, service, password); err != nil {
			return nil, fmt.Errorf("role and schema of %s: %w", service, err)
		}
		u := url.URL{Scheme: "postgres", User: url.UserPassword(Role(service), password), Host: hostport(adminURL, admin), Path: "/" + name}
		if parsed, err := url.Parse(adminURL); err == nil {
			u.RawQuery = parsed.RawQuery
		}
		urls[service] = u.String()
	}
	return urls, tx.Commit(ctx)
}

func makeDatabase(ctx context.Context, admin *pgx.ConnConfig, name string) error {
	conn, err := pgx.ConnectConfig(ctx, admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var exists bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, name).Scan(&exists); err != nil || exists {
		return err
	}
	_, err = conn.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{name}.Sanitize())
	return err
}

func provisionService(ctx context.Context, tx pgx.Tx, database, service, password string) error {
	var exists, super bool
	var version int
	err := tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1), (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
		current_setting('server_version_num')::int`, Role(service)).Scan(&exists, &super, &version)
	if err != nil {
		return err
	}
	var statements []string
	if !exists {
		statements = append(statements, `CREATE ROLE {role}`)
	}
	statements = append(statements, `ALTER ROLE {role} LOGIN NOCREATEDB NOCREATEROLE PASSWORD {password}`)
	if !super {
		// An administrator who is no superuser may give a schema only to a role that it belongs to.
		statements = append(statements, `GRANT {role} TO CURRENT_USER`)
	}
	statements = append(statements,
		`CREATE SCHEMA IF NOT EXISTS {schema} AUTHORIZATION {role}`,
		`REVOKE ALL ON SCHEMA {schema} FROM PUBLIC`,
		`GRANT CONNECT, TEMPORARY ON DATABASE {db} TO {role}`,
		`GRANT USAGE ON SCHEMA ext TO {role}`,
		`ALTER ROLE {role} IN DATABASE {db} SET search_path = {schema}, ext`,
	)
	if super && version >= 150000 {
		// For db.Tx.Assume: a wrong assumption is an ordinary event and no line of the server's log.
		statements = append(statements, `GRANT SET ON PARAMETER log_min_messages TO {role}`)
	}
	return execute(ctx, tx, statements, map[string]string{"role": Role(service), "schema": service, "db": database, "password": password})
}

// execute fills the {names} of statements that take no parameters: values quoted as identifiers, the password as text.
func execute(ctx context.Context, tx pgx.Tx, statements []string, values map[string]string) error {
	var pairs []string
	for name, value := range values {
		quoted := pgx.Identifier{value}.Sanitize()
		if name == "password" {
			quoted = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		pairs = append(pairs, "{"+name+"}", quoted)
	}
	fill := strings.NewReplacer(pairs...)
	for _, s := range statements {
		if _, err := tx.Exec(ctx, fill.Replace(s)); err != nil {
			return err
		}
	}
	return nil
}

// hostport keeps the address as it was written (several hosts, no port), which a parsed configuration does not.
func hostport(adminURL string, admin *pgx.ConnConfig) string {
	if u, err := url.Parse(adminURL); err == nil && u.Host != "" {
		return u.Host
	}
	return fmt.Sprintf("%s:%d", admin.Host, admin.Port)
}
