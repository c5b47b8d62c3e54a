package apptest

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Rehearsing is the client that rehearses each change before it makes it. A rehearsal must leave nothing, and what it says must be what the
// change then does. CheckRehearsals requires that every operation was called so.
func (c *Client) Rehearsing() *Client {
	d := *c
	d.rehearses = true
	return &d
}

// CheckRehearsals requires that a Rehearsing client has made a change by each operation of the service that can be rehearsed.
func (s *Service) CheckRehearsals() {
	s.t.Helper()
	var missing []string
	s.mu.Lock()
	defer s.mu.Unlock()
	for route, e := range s.Parts.Ops.Operations() {
		if _, passes := e.Fails[op.AnyRefusal]; e.Rehearses() && !passes && !s.rehearsed[route] {
			missing = append(missing, route)
		}
	}
	slices.Sort(missing)
	require.Empty(s.t, missing, "no change by these was rehearsed: add one to the test")
}

// change makes a call of a Rehearsing client.
func (c *Client) change(route string, body any) *Answer {
	c.t.Helper()
	template, e := c.s.operation(route)
	plain := *c
	plain.rehearses = false
	if e == nil || !e.Rehearses() {
		return plain.Call(route, body)
	}
	c.s.Settle()
	before := c.s.rows()
	dry := plain.With("Prefer", "handling=strict, Dry-Run").Call(route, body)
	require.Equal(c.t, before, c.s.rows(), "the rehearsal of %s has left something", route)

	trace := strings.ReplaceAll(db.NewID().String(), "-", "")
	var last int64
	require.NoError(c.t, c.s.Kit.DB.Pool.QueryRow(context.Background(), `select coalesce(max(seq), 0) from outbox`).Scan(&last))
	to := plain.With("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01")
	if dry.Status >= 400 {
		done := to.Call(route, body)
		require.Equal(c.t, dry.Status, done.Status, "%s: rehearsed %s, done %s", route, dry.Body, done.Body)
		return done
	}
	var rehearsal op.Rehearsal
	dry.Into(&rehearsal)
	done := to.With("If-Effects", `"`+rehearsal.Hash+`"`).Call(route, body)
	require.Equal(c.t, rehearsal.Status, done.Status, "%s: rehearsed %s, done %s", route, dry.Body, done.Body)
	effects, err := op.EffectsOf(c.s.queued(last, trace), slices.Collect(maps.Values(c.s.Kit.Endpoints.All())))
	require.NoError(c.t, err)
	shown := func(e op.Effects) []int {
		return []int{len(e.Changes), len(e.Events), len(e.Mails), len(e.Webhooks), len(e.Commands)}
	}
	require.Equal(c.t, shown(effects), shown(rehearsal.Effects), "%s: the caller is shown all effects", route)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.s.rehearsed[template] = true
	return done
}

// operation is the one behind "METHOD /path", with its route; nil for none.
func (s *Service) operation(route string) (template string, e *op.Entry) {
	method, path, _ := strings.Cut(route, " ")
	u, err := url.Parse(s.URL + "/v1" + path)
	require.NoError(s.t, err)
	found, _, err := s.contract.FindRoute(&http.Request{Method: method, URL: u, Host: u.Host, Header: http.Header{}})
	if err != nil {
		return "", nil
	}
	template = method + " " + found.Path
	return template, s.Parts.Ops.Operations()[template]
}

// moving are tables that change by themselves, or by what a call costs its caller.
var moving = []string{"outbox", "published", "relay", "lost_topic", "position", "following", "logged", "inbox", "rate", "work_lease", "manifest", "row_count"}

// rows are a hash of each table of the service, and the last number of each sequence whose numbers people see.
func (s *Service) rows() map[string]string {
	s.t.Helper()
	ctx, pool := context.Background(), s.Kit.DB.Pool
	var hashes string
	require.NoError(s.t, pool.QueryRow(ctx, `select string_agg(q, ' union all ') from (
		select format('select %L, md5(coalesce(string_agg(t::text, '','' order by t::text), '''')) from %I t', tablename, tablename) as q
			from pg_tables where schemaname = current_schema() and not tablename = any($1)
		union all
		select format('select %L, last_value::text from %I', c.relname, c.relname) from pg_class c join pg_depend d on d.refobjid = c.oid
			join pg_attrdef a on a.oid = d.objid where c.relkind = 'S' and c.relnamespace = current_schema()::regnamespace
				and pg_get_expr(a.adbin, a.adrelid) like 'next_number(%') as all_of_them`, moving).Scan(&hashes))
	rows, err := db.Rows[struct{ Name, Hash string }](ctx, pool, `select * from (`+hashes+`) r (name, hash)`)
	require.NoError(s.t, err)
	all := map[string]string{}
	for _, r := range rows {
		all[r.Name] = r.Hash
	}
	return all
}

// queued are the messages in the outbox behind a number that belong to a trace.
func (s *Service) queued(behind int64, trace string) (all []db.Message) {
	s.t.Helper()
	rows, err := db.Rows[struct {
		Topic, Key string
		Value      []byte
	}](context.Background(), s.Kit.DB.Pool, `select topic, key, value from outbox where seq > $1 order by seq`, behind)
	require.NoError(s.t, err)
	for _, r := range rows {
		env := &proto.Envelope{}
		if protobuf.Unmarshal(r.Value, env) == nil && strings.Contains(env.GetTraceparent(), trace) {
			all = append(all, db.Message{Topic: r.Topic, Key: r.Key, Value: r.Value})
		}
	}
	return all
}
