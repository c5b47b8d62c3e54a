package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/freeport"
)

const directusName = "Directus"

// startDirectus starts Directus on a database of its own. It keeps its activity log and revisions of contacts, as it does by itself.
func startDirectus(ctx context.Context, dir string, pg *pgserver.Server) (*subject, error) {
	s := &subject{name: directusName, api: directus{}, stores: func() []int { return world.Family(pg.PID()) }}
	db, err := database(ctx, pg, "directus")
	if err != nil {
		return nil, err
	}
	if s.commits, err = commits(ctx, db); err != nil {
		return nil, err
	}
	program, err := filepath.Abs(filepath.Join(*tools, "directus", "directus"))
	if err != nil {
		return nil, err
	}
	listen := freeport.Address()
	host, port, _ := net.SplitHostPort(listen)
	data := filepath.Join(dir, "directus")
	for _, folder := range []string{"uploads", "extensions"} {
		if err := os.MkdirAll(filepath.Join(data, folder), 0o755); err != nil {
			return nil, err
		}
	}
	const token = "a token for measuring and nothing else"
	s.auth = "Bearer " + strings.ReplaceAll(token, " ", "-")
	command := func(verb string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(program, "node"), filepath.Join(program, "node_modules", "directus", "cli.js"), verb)
		cmd.Dir = data
		cmd.Env = with("NODE_ENV=production", "DB_CLIENT=pg", "DB_CONNECTION_STRING="+db.ConnString(), "HOST="+host, "PORT="+port, "PUBLIC_URL=http://"+listen, "SECRET="+strings.Repeat("measure ", 4),
			"ADMIN_EMAIL=admin@example.com", "ADMIN_PASSWORD=correct horse battery staple", "ADMIN_TOKEN="+strings.TrimPrefix(s.auth, "Bearer "), "LOG_LEVEL=warn", "TELEMETRY=false")
		return cmd
	}
	s.url = "http://" + listen
	start := time.Now()
	if _, err := run(command("bootstrap")); err != nil {
		return nil, err
	}
	s.first = time.Since(start)
	p, took, err := startProcess(command("start"), s.url+"/server/ping")
	if err != nil {
		return nil, err
	}
	s.first += took
	p.stop()
	if p, s.next, err = startProcess(command("start"), s.url+"/server/ping"); err != nil {
		return nil, err
	}
	s.stop, s.own = p.stop, p.family
	if err := directusTable(ctx, s, db); err != nil {
		p.stop()
		return nil, err
	}
	s.fill = func(ctx context.Context, first, last int) error { return fillDirectus(ctx, db, first, last) }
	return s, nil
}

// directusTable makes the collection of contacts, with the indexes that a careful owner of the site gives it.
func directusTable(ctx context.Context, s *subject, db *pgx.ConnConfig) error {
	field := func(name, kind string, schema map[string]any, special ...string) map[string]any {
		return map[string]any{"field": name, "type": kind, "schema": schema, "meta": map[string]any{"special": special}}
	}
	text := func(length int) map[string]any { return map[string]any{"max_length": length} }
	_, err := s.call(request{http.MethodPost, "/collections", map[string]any{"collection": "contacts", "schema": map[string]any{}, "meta": map[string]any{}, "fields": []any{
		field("id", "uuid", map[string]any{"is_primary_key": true}, "uuid"),
		field("first_name", "string", text(100)), field("last_name", "string", text(100)),
		field("email", "string", map[string]any{"max_length": 190, "is_unique": true}),
		field("phone", "string", text(50)), field("status", "string", text(20)), field("source", "string", text(50)),
		field("tags", "json", map[string]any{}, "cast-json"), field("owner", "integer", map[string]any{}),
		field("date_created", "timestamp", map[string]any{}, "date-created"), field("date_updated", "timestamp", map[string]any{}, "date-updated"),
	}}})
	if err != nil {
		return err
	}
	return execute(ctx, db, `create index on contacts (date_created desc)`)
}

func fillDirectus(ctx context.Context, db *pgx.ConnConfig, first, last int) error {
	conn, err := pgx.ConnectConfig(ctx, db)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.CopyFrom(ctx, pgx.Identifier{"contacts"}, []string{"id", "first_name", "last_name", "email", "phone", "status", "source", "tags", "owner", "date_created"},
		pgx.CopyFromSlice(last-first+1, func(n int) ([]any, error) {
			p := personOf(first + n)
			return []any{p.id, p.first, p.last, p.email, p.phone, p.status, p.source, []string{p.tag}, 1, p.created}, nil
		}))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, `vacuum (analyze) contacts`)
	return err
}

// directus is its API of items.
type directus struct{}

func (directus) page(text string, total bool) (string, error) {
	q := url.Values{"limit": {"20"}, "sort": {"-date_created"}}
	if total {
		q.Set("meta", "filter_count")
	} else {
		q.Set("page", "2")
	}
	if text != "" {
		q.Set("search", text)
	}
	return "/items/contacts?" + q.Encode(), nil
}

func (directus) read(page []byte) (items, total int, err error) {
	var l struct {
		Data []json.RawMessage
		Meta *struct {
			Count int `json:"filter_count"`
		}
	}
	if err := json.Unmarshal(page, &l); err != nil {
		return 0, 0, err
	}
	if l.Meta == nil {
		return len(l.Data), -1, nil
	}
	return len(l.Data), l.Meta.Count, nil
}

func (directus) create(p person) request {
	return request{http.MethodPost, "/items/contacts", map[string]any{"first_name": p.first, "last_name": p.last, "email": p.email, "phone": p.phone, "status": p.status, "source": p.source, "owner": 1}}
}

func (directus) change(i int, phone string) request {
	return request{http.MethodPatch, "/items/contacts/" + personOf(i).id.String(), map[string]any{"phone": phone}}
}

// database makes a database and returns how to connect to it.
func database(ctx context.Context, pg *pgserver.Server, name string) (*pgx.ConnConfig, error) {
	admin, err := pgx.ParseConfig(pg.URL())
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, admin, "create database "+pgx.Identifier{name}.Sanitize()); err != nil {
		return nil, err
	}
	u, err := url.Parse(pg.URL())
	if err != nil {
		return nil, err
	}
	u.Path = "/" + name
	return pgx.ParseConfig(u.String())
}

// execute runs a statement on a connection of its own.
func execute(ctx context.Context, db *pgx.ConnConfig, sql string) error {
	conn, err := pgx.ConnectConfig(ctx, db)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, sql); err != nil {
		return fmt.Errorf("%w in %.60s", err, sql)
	}
	return nil
}

// commits asks a database what a commit waits for.
func commits(ctx context.Context, db *pgx.ConnConfig) (string, error) {
	conn, err := pgx.ConnectConfig(ctx, db)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	var durable bool
	err = conn.QueryRow(ctx, `select current_setting('fsync')::bool and current_setting('synchronous_commit') <> 'off'`).Scan(&durable)
	if !durable {
		return "nothing", err
	}
	return "fsync", err
}
