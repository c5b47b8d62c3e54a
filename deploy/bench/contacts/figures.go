package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// create compares creating contacts through the API with the bare transaction, which writes the same rows:
// contact, timeline entry and two rows of the outbox.
func (w *world) create(ctx context.Context, program string, clients int, length time.Duration) error {
	if program == "" {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
		if len(found) == 0 {
			return fmt.Errorf("pgbench is not here; name it with -pgbench")
		}
		program = found[len(found)-1]
	}
	super, err := pgx.Connect(ctx, w.super)
	if err != nil {
		return err
	}
	defer super.Close(ctx)
	if _, err := super.Exec(ctx, `set search_path = contacts, ext; create schema bare;
		create table bare.contact (like contacts.contact including all);
		create table bare.activity (like contacts.activity including all);
		create table bare.outbox (like contacts.outbox including all)`); err != nil {
		return err
	}
	script := filepath.Join(w.dir, "create.sql")
	err = os.WriteFile(script, []byte(`\set n random(1, 2000000000)
begin;
insert into bare.contact (id, first_name, last_name, email, email_key, phone, tags, last_activity, created_at, updated_at) values (gen_random_uuid(), 'Grace', 'Hopper '||:n, 'g'||:n||'@example.com', 'g'||:n||'@example.com', '+32470123456', '{}', now(), now(), now()) on conflict do nothing;
insert into bare.activity (id, contact_id, type, subject, data, channel, actor_label, user_id, created_at) values (gen_random_uuid(), gen_random_uuid(), 'created', 'Contact created', '{"email": {"new": "g@example.com", "old": null}, "phone": {"new": "+32470123456", "old": null}, "last_name": {"new": "Hopper", "old": null}, "first_name": {"new": "Grace", "old": null}}', 'api', 'bench', 1, now());
insert into bare.outbox (topic, key, value) values ('contacts.contact', 'x', decode(repeat('00', 700), 'hex'));
insert into bare.outbox (topic, key, value) values ('svc.audit', 'x', decode(repeat('00', 200), 'hex'));
commit;
`), 0o644)
	if err != nil {
		return err
	}
	// In turns, so that both see the same weather and tables of the same size.
	var bare, api, ratios []float64
	for range createTurns {
		one, err := w.pgbench(ctx, program, script, clients, length)
		if err != nil {
			return err
		}
		two, err := w.creates(clients, length)
		if err != nil {
			return err
		}
		bare, api, ratios = append(bare, one), append(api, two), append(ratios, two/one)
	}
	fmt.Printf("create, %d clients: %.0f/s through the API, %.0f/s bare, medians of %d turns\n", clients, at(.5, api), at(.5, bare), createTurns)
	report("create ÷ the same transaction by pgbench", fmt.Sprintf("%.2f", at(.5, ratios)), ">= 0.5", at(.5, ratios) >= 0.5)
	return nil
}

const createTurns = 5

var tps = regexp.MustCompile(`tps = ([0-9.]+)`)

func (w *world) pgbench(ctx context.Context, program, script string, clients int, length time.Duration) (float64, error) {
	cmd := exec.CommandContext(ctx, program, "-n", "-M", "prepared", "-f", script, "-c", strconv.Itoa(clients), "-j", "2", "-T", strconv.Itoa(int(length.Seconds())), w.super)
	out, err := cmd.CombinedOutput()
	m := tps.FindSubmatch(out)
	if err != nil || m == nil {
		return 0, fmt.Errorf("pgbench: %w: %s", err, out)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

func (w *world) creates(clients int, length time.Duration) (float64, error) {
	var n, done atomic.Int64
	var failed atomic.Value
	n.Store(time.Now().UnixNano() % 1_000_000_000)
	var all sync.WaitGroup
	end := time.Now().Add(length)
	for range clients {
		all.Go(func() {
			for time.Now().Before(end) {
				i := n.Add(1)
				_, err := w.call("POST", "/contacts", map[string]any{"first_name": "Grace", "last_name": fmt.Sprint("Hopper ", i),
					"email": fmt.Sprintf("grace%d@example.com", i), "phone": "+32470123456"}, nil)
				if err != nil {
					failed.Store(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	if err, ok := failed.Load().(error); ok {
		return 0, err
	}
	return float64(done.Load()) / length.Seconds(), nil
}

// times calls a path again and again and gives how long each took.
func (w *world) times(path string, n int) ([]time.Duration, error) {
	all := make([]time.Duration, 0, n)
	for i := range n + n/10 {
		start := time.Now()
		if _, err := w.call("GET", path, nil, nil); err != nil {
			return nil, err
		}
		if i >= n/10 {
			all = append(all, time.Since(start))
		}
	}
	return all, nil
}

// inTurns takes each kind of measurement once a round, so that all see the same weather, and gives the median of each.
func inTurns(rounds int, kinds ...func() error) ([]time.Duration, error) {
	all := make([][]time.Duration, len(kinds))
	for i := range rounds + rounds/10 {
		for k, f := range kinds {
			start := time.Now()
			if err := f(); err != nil {
				return nil, err
			}
			if i >= rounds/10 {
				all[k] = append(all[k], time.Since(start))
			}
		}
	}
	medians := make([]time.Duration, len(kinds))
	for k, times := range all {
		medians[k] = at(.5, times)
	}
	return medians, nil
}

func (w *world) get(path string) func() error {
	return func() error {
		_, err := w.call("GET", path, nil, nil)
		return err
	}
}

// measured is one kind of page: its first page, which takes the total, and a later one, which does not.
type measured struct{ first, next time.Duration }

// pages measures the list, plain and with filters.
func (w *world) pages(context.Context) (map[string]measured, error) {
	out := map[string]measured{}
	for _, query := range []string{"", "status=customer", "owner=3", "tag=tag-7", "source=fair"} {
		var page struct {
			NextCursor string `json:"next_cursor"`
			Total      int64
		}
		if _, err := w.call("GET", "/contacts?"+query, nil, &page); err != nil {
			return nil, err
		}
		p50, err := inTurns(300, w.get("/contacts?"+query), w.get("/contacts?"+query+"&cursor="+url.QueryEscape(page.NextCursor)))
		if err != nil {
			return nil, err
		}
		out[query] = measured{p50[0], p50[1]}
	}
	return out, nil
}

const page = `select c.id, c.version, c.first_name, c.last_name, c.email, c.phone, c.status, c.marketing, c.marketing_updated_at, c.source,
	c.owner_user_id, c.tags, c.fields, c.last_activity, c.created_at, c.updated_at, c.deleted_at, po.id, po.name, p.role
	from contact c left join contact_organization p on p.contact_id = c.id and p.is_primary left join organization po on po.id = p.organization_id
	where c.deleted_at is null order by c.created_at desc, c.id desc limit 21`

// list compares pages of the large site with their SQL alone, and with those of the small site.
func (w *world) list(ctx context.Context, small map[string]measured) error {
	large, err := w.pages(ctx)
	if err != nil {
		return err
	}
	conn, err := w.db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	bare := func() error {
		rows, err := conn.Query(ctx, page)
		if err != nil {
			return err
		}
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				return err
			}
		}
		return rows.Err()
	}
	// The way to the service and back costs this much whatever is asked.
	var first struct {
		NextCursor string `json:"next_cursor"`
	}
	if _, err := w.call("GET", "/contacts", nil, &first); err != nil {
		return err
	}
	p50, err := inTurns(500, w.get("/contacts?cursor="+url.QueryEscape(first.NextCursor)), bare, w.get("/field-groups?entity=contact"))
	if err != nil {
		return err
	}
	limit := 2*p50[1] + p50[2]
	fmt.Printf("list page: p50 %s; SQL alone %s, an empty answer %s\n", us(p50[0]), us(p50[1]), us(p50[2]))
	report("list page, p50", us(p50[0]), "<= "+us(limit), p50[0] <= limit)
	for query, l := range large {
		name := "list " + query
		report(name+", with total ÷ without", fmt.Sprintf("%.2f", ratio(l.first, l.next)), "<= 1.1", ratio(l.first, l.next) <= 1.1)
		report(name+", large site ÷ 10,000 contacts", fmt.Sprintf("%.2f", ratio(l.next, small[query].next)), "<= 1.5", ratio(l.next, small[query].next) <= 1.5)
	}
	return nil
}

// search looks for terms that are rare, common, short and in vain.
func (w *world) search(context.Context) error {
	worst, name := time.Duration(0), ""
	for _, term := range []string{"person77777@", "Müller", "muller jurgen", "Anna", "an", "a", "example.com", "0470 12", "32470123", "xyzzy nobody", "peeters 4f", "@", "e"} {
		all, err := w.times("/contacts?search="+url.QueryEscape(term), 200)
		if err != nil {
			return err
		}
		fmt.Printf("search %-16q p50 %s p99 %s\n", term, ms(at(.5, all)), ms(at(.99, all)))
		if p := at(.99, all); p > worst {
			worst, name = p, term
		}
	}
	report(fmt.Sprintf("search, worst term (%q), p99", name), ms(worst), "<= 50 ms", worst <= 50*time.Millisecond)
	return nil
}

const importTurns = 3

// importRows compares an import with COPY into a plain table and one INSERT … SELECT on the same indexes.
func (w *world) importRows(ctx context.Context, n int) error {
	super, err := pgx.Connect(ctx, w.super)
	if err != nil {
		return err
	}
	defer super.Close(ctx)
	if _, err := super.Exec(ctx, `set search_path = contacts, ext; drop schema if exists copied cascade; create schema copied;
		create table copied.contact (like contacts.contact including all); create table copied.raw (first_name text, last_name text, email text, phone text, source text)`); err != nil {
		return err
	}
	var ours, bare, ratios []float64
	most := 0
	for turn := range importTurns {
		var text strings.Builder
		text.WriteString("first_name,last_name,email,phone,source\n")
		for i := range n {
			fmt.Fprintf(&text, "Grace,Hopper %d,import%d-%d@example.com,+3247%07d,file\n", i, turn, i, i)
		}
		limit, err := copyRows(ctx, super, text.String())
		if err != nil {
			return err
		}
		took, more, err := w.importFile(text.String(), n)
		if err != nil {
			return err
		}
		ours, bare, ratios, most = append(ours, took.Seconds()), append(bare, limit.Seconds()), append(ratios, ratio(took, limit)), max(most, more)
	}
	fmt.Printf("import of %d rows: %.1f s; COPY and INSERT … SELECT %.1f s, medians of %d turns\n", n, at(.5, ours), at(.5, bare), importTurns)
	report("import ÷ COPY and INSERT … SELECT", fmt.Sprintf("%.2f", at(.5, ratios)), "<= 3", at(.5, ratios) <= 3)
	report("import, more memory", fmt.Sprintf("%d MiB", most>>10), "<= 64 MiB", most>>10 <= 64)
	return nil
}

func copyRows(ctx context.Context, super *pgx.Conn, text string) (time.Duration, error) {
	start := time.Now()
	if _, err := super.PgConn().CopyFrom(ctx, strings.NewReader(text), `copy copied.raw from stdin with (format csv, header)`); err != nil {
		return 0, err
	}
	_, err := super.Exec(ctx, `insert into copied.contact (id, first_name, last_name, email, email_key, phone, source, last_activity, created_at, updated_at)
		select gen_random_uuid(), first_name, last_name, email, lower(email), phone, source, now(), now(), now() from copied.raw
		on conflict (email_key) where deleted_at is null and email_key <> '' do nothing`)
	took := time.Since(start)
	if err == nil {
		_, err = super.Exec(ctx, `truncate copied.raw`)
	}
	return took, err
}

// importFile is how long an import of n rows takes, and how many KiB of memory it needs.
func (w *world) importFile(text string, n int) (took time.Duration, more int, err error) {
	var made struct {
		ID     string
		Status string
		Totals struct{ Created int }
	}
	if _, err := w.call("POST", "/imports", map[string]any{"file_name": "bench.csv", "csv": text}, &made); err != nil {
		return 0, 0, err
	}
	before := w.memory("VmRSS")
	w.forgetPeak()
	start := time.Now()
	if _, err := w.call("POST", "/imports/"+made.ID+"/start", nil, nil); err != nil {
		return 0, 0, err
	}
	for made.Status != "completed" {
		time.Sleep(50 * time.Millisecond)
		if _, err := w.call("GET", "/imports/"+made.ID, nil, &made); err != nil {
			return 0, 0, err
		}
	}
	took, more = time.Since(start), w.memory("VmHWM")-before
	if made.Totals.Created != n {
		err = fmt.Errorf("%d of %d rows became contacts", made.Totals.Created, n)
	}
	return took, more, err
}

// export compares an export with COPY TO of the same query.
func (w *world) export(ctx context.Context, n int) error {
	query := strings.TrimSuffix(page, " limit 21")
	conn, err := w.db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	start := time.Now()
	if _, err := conn.Conn().PgConn().CopyTo(ctx, io.Discard, "copy ("+query+") to stdout with (format csv, header)"); err != nil {
		return err
	}
	bare := time.Since(start)
	before := w.memory("VmRSS")
	w.forgetPeak()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.api+"/exports/contacts.csv", nil)
	if err != nil {
		return err
	}
	req.SetBasicAuth("bench1", password)
	start = time.Now()
	res, err := w.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	in := bufio.NewReaderSize(res.Body, 1<<20)
	if _, err := in.Peek(1); err != nil {
		return err
	}
	firstByte := time.Since(start)
	lines := 0
	buf := make([]byte, 1<<20)
	for {
		k, err := in.Read(buf)
		lines += bytes.Count(buf[:k], []byte{'\n'})
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	took, more := time.Since(start), w.memory("VmHWM")-before
	if lines != n+1 {
		return fmt.Errorf("%d lines for %d contacts", lines, n)
	}
	fmt.Printf("export of %d contacts: %.1f s; COPY TO %.1f s\n", n, took.Seconds(), bare.Seconds())
	report("export ÷ COPY TO", fmt.Sprintf("%.2f", ratio(took, bare)), "<= 3", ratio(took, bare) <= 3)
	report("export, first byte", ms(firstByte), "<= 100 ms", firstByte <= 100*time.Millisecond)
	report("export, more memory", fmt.Sprintf("%d MiB", more>>10), "<= 16 MiB", more>>10 <= 16)
	return nil
}

// memory is a figure of the service's process in KiB.
func (w *world) memory(name string) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.pid))
	if err != nil {
		return 0
	}
	for line := range strings.SplitSeq(string(raw), "\n") {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.Atoi(strings.Fields(rest)[0])
			return n
		}
	}
	return 0
}

// forgetPeak makes VmHWM start anew.
func (w *world) forgetPeak() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", w.pid), []byte("5"), 0o200)
}

func us(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000) }
