package world

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// Bare is a transaction that pgbench runs without any service: the limit of a write.
type Bare struct{ program, file, url, searchPath string }

// NewBare keeps script in dir, for the database at url.
func NewBare(dir, url, searchPath, script string) (*Bare, error) {
	program, err := pgbench()
	if err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("bare-%d.sql", time.Now().UnixNano())))
	if err != nil {
		return nil, err
	}
	if _, err := f.WriteString(script); err != nil {
		return nil, err
	}
	return &Bare{program, f.Name(), url, searchPath}, f.Close()
}

// Run runs the transaction again and again from so many clients, with prepared statements, and answers pgbench's
// words, which have the latency of each statement.
func (b *Bare) Run(ctx context.Context, clients int, length time.Duration) (string, error) {
	cmd := exec.CommandContext(ctx, b.program, "-n", "-r", "-M", "prepared", "-f", b.file, "-c", strconv.Itoa(clients), "-j", "2",
		"-T", strconv.Itoa(max(1, int(length.Seconds()))), b.url)
	cmd.Env = append(os.Environ(), "PGOPTIONS=-c search_path="+b.searchPath)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("pgbench: %w: %s", err, out)
	}
	return string(out), nil
}

var transactions = regexp.MustCompile(`tps = ([0-9.]+)`)

// Rate is the transactions per second.
func (b *Bare) Rate(ctx context.Context, clients int, length time.Duration) (float64, error) {
	out, err := b.Run(ctx, clients, length)
	if err != nil {
		return 0, err
	}
	m := transactions.FindStringSubmatch(out)
	if m == nil {
		return 0, fmt.Errorf("pgbench names no rate: %s", out)
	}
	return strconv.ParseFloat(m[1], 64)
}

// bareCreate is the transaction that creating a contact cannot do without: contact, timeline entry and two rows of the outbox.
const bareCreate = `\set n random(1, 2000000000)
begin;
insert into bare_contact (id, first_name, last_name, email, email_key, phone, tags, last_activity, created_at, updated_at) values (gen_random_uuid(), 'Grace', 'Hopper '||:n, 'g'||:n||'@example.com', 'g'||:n||'@example.com', '+32470123456', '{}', now(), now(), now()) on conflict do nothing;
insert into bare_activity (id, contact_id, type, subject, data, channel, actor_label, user_id, created_at) values (gen_random_uuid(), gen_random_uuid(), 'created', 'Contact created', '{"email": {"new": "g@example.com", "old": null}, "phone": {"new": "+32470123456", "old": null}, "last_name": {"new": "Hopper", "old": null}, "first_name": {"new": "Grace", "old": null}}', 'api', 'bench', 1, now());
insert into bare_outbox (topic, key, value) values ('contacts.contact', 'x', decode(repeat('00', 700), 'hex'));
insert into bare_outbox (topic, key, value) values ('svc.audit', 'x', decode(repeat('00', 200), 'hex'));
commit;
`

// BareCreate is the transaction that the service contacts, whose world this is, cannot do without when it creates one, on tables of
// the same shape.
func (w *World) BareCreate(ctx context.Context) (*Bare, error) {
	if _, err := w.DB.Exec(ctx, `create table bare_contact (like contact including all);
		create table bare_activity (like activity including all);
		create table bare_outbox (like outbox including all)`); err != nil {
		return nil, err
	}
	return NewBare(w.Dir, w.URLs["contacts"], "contacts,ext", bareCreate)
}

// HandleCreate is BareCreate behind HTTP, see Handler. BareCreate makes its tables.
func (w *World) HandleCreate(ctx context.Context) (url string, err error) {
	return w.Handler(ctx, w.URLs["contacts"], "contacts,ext", func(v map[string]any, b *pgx.Batch) {
		id, now := db.NewID().String(), time.Now()
		changes, _ := json.Marshal(v)
		b.Queue(`insert into bare_contact (id, first_name, last_name, email, email_key, phone, tags, last_activity, created_at, updated_at)
			values ($1, $2, $3, $4, $5, $6, '{}', $7, $7, $7) on conflict do nothing`, id, v["first_name"], v["last_name"], v["email"], v["email"], v["phone"], now)
		b.Queue(`insert into bare_activity (id, contact_id, type, subject, data, channel, actor_label, user_id, created_at)
			values ($1, $2, 'created', 'Contact created', $3, 'api', 'bench', 1, $4)`, db.NewID().String(), id, changes, now)
		b.Queue(`insert into bare_outbox (topic, key, value) values ('contacts.contact', $1, $2)`, id, bareEvent[:700])
		b.Queue(`insert into bare_outbox (topic, key, value) values ('svc.audit', $1, $2)`, id, bareEvent[:200])
	})
}

// bareEvent is as long as an event.
var bareEvent [700]byte
