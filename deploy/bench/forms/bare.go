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

// bare is the transaction that a submission cannot do without: its row and that of the outbox, as pgbench runs
// it on copies of the tables in a schema of their own.
type bare struct {
	db      *pgxpool.Pool
	url     string
	schema  string
	script  string
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
commit;
`, b.schema, values, strings.ReplaceAll(lines, "\n", " "))
	f, err := os.CreateTemp("", "bare-*.sql")
	if err != nil {
		return nil, err
	}
	b.script = f.Name()
	if _, err := f.WriteString(script); err != nil {
		return nil, err
	}
	return b, f.Close()
}

func (b *bare) drop() {
	_ = os.Remove(b.script)
	_, _ = b.db.Exec(context.Background(), "drop schema "+b.schema+" cascade")
}

var (
	perSecond = regexp.MustCompile(`tps = ([0-9.]+)`)
	latency   = regexp.MustCompile(`latency average = ([0-9.]+) ms`)
)

// measure runs the transaction from so many clients. The time is the average, which is what pgbench tells and
// for one client hardly differs from the median.
func (b *bare) measure(ctx context.Context, clients int, length time.Duration) (tps float64, each time.Duration, err error) {
	cmd := exec.CommandContext(ctx, b.program, "-n", "-M", "prepared", "-f", b.script, "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(length.Seconds()))), b.url)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, 0, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	t, l := perSecond.FindSubmatch(out), latency.FindSubmatch(out)
	if t == nil || l == nil {
		return 0, 0, fmt.Errorf("pgbench says: %s", out)
	}
	tps, err = strconv.ParseFloat(string(t[1]), 64)
	if err != nil {
		return 0, 0, err
	}
	average, err := strconv.ParseFloat(string(l[1]), 64)
	return tps, time.Duration(average * float64(time.Millisecond)), err
}
