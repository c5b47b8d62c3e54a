package main

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/deploy/bench/world"
)

// bareSubmit is the transaction that a submission cannot do without: its row and those of the outbox, which are the
// command to contacts and the audit entry. pgbench runs it on copies of the tables in a schema of their own.
type bareSubmit struct {
	fast  *world.Bare // as fast as it goes
	paced *world.Bare // with pauses, as a single visitor
}

func newBare(ctx context.Context, s *site) (*bareSubmit, error) {
	schema := "bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
	_, err := s.DB.Exec(ctx, fmt.Sprintf(`create schema %[1]s;
		create table %[1]s.form (like forms.form including all);
		create table %[1]s.submission (like forms.submission including all);
		create table %[1]s.outbox (like forms.outbox including all);
		alter table %[1]s.submission add foreign key (form_id) references %[1]s.form;
		insert into %[1]s.form (id, name, status, definition, created_at, updated_at) overriding system value values (1, 'Bench', 'publish', '{}', now(), now())`, schema))
	if err != nil {
		return nil, fmt.Errorf("make the bare tables: %w", err)
	}
	s.Defer(func() { _, _ = s.DB.Exec(context.WithoutCancel(ctx), "drop schema "+schema+" cascade") })
	values := `{"first": "Grace", "last": "Hopper", "email": "v0000001.12345678@example.com", "message": "` + message + `"}`
	lines := `[{"element": "first", "target": "contact.first_name", "label": "First name", "kind": "text", "text": "Grace"},
		{"element": "last", "target": "contact.last_name", "label": "Last name", "kind": "text", "text": "Hopper"},
		{"element": "email", "target": "contact.email", "label": "Email", "kind": "email", "text": "v0000001.12345678@example.com"},
		{"element": "message", "target": "submission.fields.message", "label": "Message", "kind": "long_text", "text": "` + message + `"}]`
	script := fmt.Sprintf(`begin;
insert into submission (id, form_id, status, result, values, answers, page, email, created_at) values (gen_random_uuid(), 1, 'received', 'pending', '%s', '%s', 'https://example.com/contact', 'v0000001.12345678@example.com', now());
insert into outbox (topic, key, value) values ('contacts.command', 'v0000001.12345678@example.com', decode(repeat('00', 300), 'hex'));
insert into outbox (topic, key, value) values ('svc.audit', 'v0000001.12345678@example.com', decode(repeat('00', 200), 'hex'));
commit;
`, values, strings.ReplaceAll(lines, "\n", " "))
	fast, err := world.NewBare(s.Dir, s.Database, schema, script)
	if err != nil {
		return nil, err
	}
	paced, err := world.NewBare(s.Dir, s.Database, schema, script+"\\sleep 5 ms\n")
	return &bareSubmit{fast, paced}, err
}

var statement = regexp.MustCompile(`(?m)^ +([0-9.]+) +0 +(begin|insert|commit)`)

// time is how long one takes a single client who pauses as the visitors of this program do: the sum of the average
// of each statement, since pgbench gives no quantiles.
func (b *bareSubmit) time(ctx context.Context) (time.Duration, error) {
	out, err := b.paced.Run(ctx, 1, *length)
	if err != nil {
		return 0, err
	}
	total, found := 0.0, statement.FindAllStringSubmatch(out, -1)
	if len(found) != 5 {
		return 0, fmt.Errorf("pgbench does not list five statements: %s", out)
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
