package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
)

// bare is the transaction that a submission cannot do without: its row and those of the outbox, which are the
// command to contacts and the audit entry. pgbench runs it on copies of the tables in a schema of their own.
type bare struct {
	db      *pgxpool.Pool
	url     string
	schema  string
	script  string // as fast as it goes
	paced   string // with pauses, as a single visitor
	program string
}

func newBare(ctx context.Context, r run, db *pgxpool.Pool, program string) (*bare, error) {
	if program == "" {
		found, err := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("pgbench is not here; name it with -pgbench")
		}
		program = found[len(found)-1]
	}
	b := &bare{db: db, url: r.Database, program: program, schema: "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]}
	_, err := db.Exec(ctx, fmt.Sprintf(`create schema %[1]s;
		create table %[1]s.form (like forms.form including all);
		create table %[1]s.submission (like forms.submission including all);
		create table %[1]s.outbox (like forms.outbox including all);
		alter table %[1]s.submission add foreign key (form_id) references %[1]s.form;
		insert into %[1]s.form (name, status, definition, created_at, updated_at) values ('Bench', 'publish', '{}', now(), now())`, b.schema))
	if err != nil {
		return nil, err
	}
	values := `{"first": "Grace", "last": "Hopper", "email": "v0000001.12345678@example.com", "message": "` + message + `"}`
	lines := `[{"element": "first", "target": "contact.first_name", "label": "First name", "kind": "text", "text": "Grace"},
		{"element": "last", "target": "contact.last_name", "label": "Last name", "kind": "text", "text": "Hopper"},
		{"element": "email", "target": "contact.email", "label": "Email", "kind": "email", "text": "v0000001.12345678@example.com"},
		{"element": "message", "target": "submission.fields.message", "label": "Message", "kind": "long_text", "text": "` + message + `"}]`
	script := fmt.Sprintf(`begin;
insert into %[1]s.submission (id, form_id, status, result, values, answers, page, email, created_at) values (gen_random_uuid(), 1, 'received', 'pending', '%[2]s', '%[3]s', 'https://example.com/contact', 'v0000001.12345678@example.com', now());
insert into %[1]s.outbox (topic, key, value) values ('contacts.command', 'v0000001.12345678@example.com', decode(repeat('00', 300), 'hex'));
insert into %[1]s.outbox (topic, key, value) values ('svc.audit', 'v0000001.12345678@example.com', decode(repeat('00', 200), 'hex'));
commit;
`, b.schema, values, strings.ReplaceAll(lines, "\n", " "))
	if b.script, err = file(script); err != nil {
		return nil, err
	}
	b.paced, err = file(script + "\\sleep 5 ms\n")
	return b, err
}

func file(script string) (string, error) {
	f, err := os.CreateTemp("", "bare-*.sql")
	if err != nil {
		return "", err
	}
	if _, err := f.WriteString(script); err != nil {
		return "", err
	}
	return f.Name(), f.Close()
}

func (b *bare) drop() {
	_ = os.Remove(b.script)
	_ = os.Remove(b.paced)
	_, _ = b.db.Exec(context.Background(), "drop schema "+b.schema+" cascade")
}

var (
	perSecond = regexp.MustCompile(`tps = ([0-9.]+)`)
	statement = regexp.MustCompile(`(?m)^ +([0-9.]+) +0 +(begin|insert|commit)`)
)

func (b *bare) run(ctx context.Context, script string, clients int, length time.Duration) (string, error) {
	cmd := exec.CommandContext(ctx, b.program, "-n", "-r", "-M", "prepared", "-f", script, "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(length.Seconds()))), b.url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgbench: %w: %s", err, out)
	}
	return string(out), nil
}

// rate is how many of the transactions the database does a second for so many clients.
func (b *bare) rate(ctx context.Context, clients int, length time.Duration) (float64, error) {
	out, err := b.run(ctx, b.script, clients, length)
	if err != nil {
		return 0, err
	}
	t := perSecond.FindStringSubmatch(out)
	if t == nil {
		return 0, fmt.Errorf("pgbench says: %s", out)
	}
	return strconv.ParseFloat(t[1], 64)
}

// time is how long one takes a single client who pauses as the visitors of this program do. It is the average
// of each statement, which is what pgbench tells.
func (b *bare) time(ctx context.Context, length time.Duration) (time.Duration, error) {
	out, err := b.run(ctx, b.paced, 1, length)
	if err != nil {
		return 0, err
	}
	total, found := 0.0, statement.FindAllStringSubmatch(out, -1)
	if len(found) != 5 {
		return 0, fmt.Errorf("pgbench says: %s", out)
	}
	for _, f := range found {
		average, err := strconv.ParseFloat(f[1], 64)
		if err != nil {
			return 0, err
		}
		total += average
	}
	return time.Duration(total * float64(time.Millisecond)), nil
}
