package e2e

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/deploy/system"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/libs/until"
	"frontdesk/proto"
)

// What other services do because of a call is what its rehearsal has said, and the rehearsal has left nothing in any of them. It compares whole databases, so
// no other test may run beside it.
func TestWhatOtherServicesDoIsRehearsed(t *testing.T) {
	sys.Healthy(t)
	d := sys.SetUp(t)
	conn, err := pgx.Connect(t.Context(), sys.Now(t).Database)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	r := rehearser{Desk: d, conn: conn}

	person := func(first string) string {
		return d.Admin.Post(t, "/contacts", map[string]any{"first_name": first, "email": system.Address(strings.ToLower(first))}).Is(201).Text("id")
	}
	ada, twin := person("Ada"), person("Twin")
	starts, _ := d.Slots(t)
	book := func(contact, at string) map[string]any {
		return map[string]any{"contact": contact, "service": d.Service, "starts_at": at}
	}
	var kept, moved string
	system.Eventually(t, func() bool {
		a := d.Admin.Post(t, "/appointments", book(twin, starts[20]))
		if a.Status == 201 {
			moved = a.Text("id")
		}
		return a.Status == 201
	}, "booking does not know the contact")
	token := d.FormToken(t)
	system.Wait()
	send := func(email, message string) string {
		sent := d.Submission(token, email)
		sent["values"] = map[string]string{"first": "Grace", "email": email, "message": message}
		visitor.Post(t, "/forms/"+d.Form+"/submit", sent).Is(200)
		return email
	}
	send(d.Admin.Get(t, "/contacts/"+twin).Is(200).Text("email"), "Good morning")
	spam := send(system.Address("spam"), "https://a https://b https://c")
	var sent, held string
	system.Eventually(t, func() bool {
		for _, s := range d.Admin.Get(t, "/submissions?form="+d.Form).Is(200).Items() {
			if contact, _ := s["contact"].(map[string]any); contact["id"] == twin {
				sent = s["id"].(string)
			}
		}
		for _, s := range d.Admin.Get(t, "/submissions?status=spam&form="+d.Form).Is(200).Items() {
			held = s["id"].(string)
		}
		return sent != "" && held != ""
	}, "the submissions do not arrive")

	t.Run("an appointment by the team is written into the timeline, and no other service publishes anything", func(t *testing.T) {
		said, done := r.does(t, "POST /appointments", book(ada, starts[21]), "booking", "contact", "organization", "task", "form", "submission", "page")
		kept = done.Text("id")
		require.Empty(t, said.Events)
	})
	t.Run("a submission that is no spam makes its contact", func(t *testing.T) {
		said, _ := r.does(t, "POST /submissions/"+held+"/not-spam", nil, "forms", "contact", "organization", "appointment")
		require.Equal(t, []string{proto.KindContactCreated}, events(said, ""))
		require.Contains(t, string(said.Events[0].Data), spam)
	})
	t.Run("a merge moves appointments and submissions", func(t *testing.T) {
		said, _ := r.does(t, "POST /contacts/"+ada+"/merge", map[string]any{"other_id": twin}, "contacts", "appointment", "submission")
		require.Equal(t, []string{proto.KindAppointmentUpdated}, events(said, moved))
		require.Equal(t, []string{proto.KindSubmissionUpdated}, events(said, sent))
	})
	t.Run("an erasure deletes them", func(t *testing.T) {
		email := d.Admin.Get(t, "/contacts/"+ada).Is(200).Text("email")
		said, _ := r.does(t, "POST /privacy/erase", map[string]any{"email": email}, "contacts", "appointment", "submission")
		for id, event := range map[string]string{kept: "appointment.gone", moved: "appointment.gone", sent: proto.KindSubmissionDeleted} {
			require.Equal(t, []string{event}, events(said, id))
		}
		for _, gone := range []string{"/appointments/" + kept, "/appointments/" + moved, "/submissions/" + sent} {
			d.Admin.Get(t, gone).Fails(404, "svc_not_found")
		}
	})
	heir, email, _ := member(t, d.Admin, "Heir", "staff")
	leaver, _, _ := member(t, d.Admin, "Leaver", "staff")
	t.Run("who is given a contact is mailed", func(t *testing.T) {
		said, _ := r.does(t, "PATCH /contacts/"+person("Given"), map[string]any{"mode": "overwrite", "owner_user_id": userIDOf(t, heir)}, "contacts", "appointment", "submission")
		require.Len(t, said.Mails, 1)
		require.Contains(t, said.Mails[0].Subject, "Given")
		r.mailed(t, email, said.Mails)
	})
	t.Run("what somebody owned who leaves is handed over, and the successor is mailed", func(t *testing.T) {
		from := userIDOf(t, leaver)
		owns := func(path string, body map[string]any) string {
			body["owner_user_id"] = from
			return d.Admin.Post(t, path, body).Is(201).Text("id")
		}
		first := owns("/contacts", map[string]any{"first_name": "First", "email": system.Address("first")})
		second := owns("/contacts", map[string]any{"first_name": "Second", "email": system.Address("second")})
		company, task := owns("/organizations", map[string]any{"name": "Company"}), owns("/tasks", map[string]any{"title": "Call", "contact": first})
		later := r
		later.later = true
		said, _ := later.does(t, fmt.Sprintf("DELETE /staff/%d?successor=%d", from, userIDOf(t, heir)), nil, "booking", "contact", "organization", "task")
		for id, event := range map[string]string{first: proto.KindContactUpdated, second: proto.KindContactUpdated, company: proto.KindOrganizationUpdated, task: proto.KindTaskUpdated} {
			require.Equal(t, []string{event}, events(said, id))
		}
		require.Len(t, said.Mails, 1)
		r.mailed(t, email, said.Mails)
	})
	t.Run("a service that is down is named within the second", func(t *testing.T) {
		other := person("Other")
		merge := func() op.Rehearsal {
			return r.rehearse(t, "POST /contacts/"+other+"/merge", map[string]any{"other_id": person("Third")})
		}
		up := sys.Down(t, "forms", 9)
		silent := merge()
		up()
		require.Contains(t, silent.Effects.Commands, op.EffectCommand{Service: "forms", Kind: proto.KindContactMergedAway})
		require.NotContains(t, silent.Effects.Commands, op.EffectCommand{Service: "webhooks", Kind: proto.KindContactMergedAway})
		sys.Healthy(t)
		r.until(t, func() bool { return len(merge().Effects.Commands) == 0 }, "forms is back and does not answer")
	})
}

// events are those of a record in their order, of all records for "".
func events(e op.Effects, id string) (names []string) {
	for _, event := range e.Events {
		if id == "" || event.ID == id {
			names = append(names, event.Event)
		}
	}
	return names
}

type rehearser struct {
	system.Desk
	conn *pgx.Conn
	// later says that workers do what the call leads to, in traces of their own.
	later bool
}

func (r rehearser) until(t *testing.T, ok func() bool, what ...any) {
	t.Helper()
	until.Holds(t, ok, time.Minute, 50*time.Millisecond, what...)
}

func (r rehearser) rehearse(t *testing.T, call string, body any) (done op.Rehearsal) {
	t.Helper()
	method, path, _ := strings.Cut(call, " ")
	r.Admin.With("Prefer", "dry-run").Call(t, method, path, body).Is(200).Into(&done)
	return done
}

// missing reports whether a service has not said what it would do.
func missing(c op.EffectCommand) bool { return !c.Rehearsed }

var link = regexp.MustCompile(`https?://\S+`)

// mailed requires that the newest mail to an address is the one that a rehearsal has said.
func (r rehearser) mailed(t *testing.T, to string, said []op.EffectMail) {
	t.Helper()
	var newest system.Mail
	r.until(t, func() bool {
		_, err := r.conn.Exec(t.Context(), `update settings.notice set at = at - interval '1 minute' where at > now() - interval '10 seconds'`) // it waits for more
		require.NoError(t, err)
		mails := sys.Mails(t, to)
		if len(mails) > 0 {
			newest = mails[0]
		}
		return newest.Subject == said[0].Subject
	}, "the mail does not come: %v", &newest)
	text := func(s string) string { return strings.Join(strings.Fields(link.ReplaceAllString(s, "…")), " ") }
	require.Equal(t, text(said[0].Text), text(newest.Text))
	require.Equal(t, []string{to}, said[0].To)
}

// does rehearses a call until every service has said its part and no database has changed meanwhile, makes it, and requires that the other services then
// publish what the rehearsal has said of records of these kinds. It returns that, and the mails to the team.
func (r rehearser) does(t *testing.T, call string, body any, service string, kinds ...string) (said op.Effects, answer *system.Answer) {
	t.Helper()
	var rehearsal op.Rehearsal
	of := func(record string) bool { kind, _, _ := strings.Cut(record, "."); return slices.Contains(kinds, kind) }
	var first uuid.UUID
	var changed []string
	// What the system does by itself comes to rest; what a rehearsal leaves would be left by each.
	r.until(t, func() bool {
		before := r.rows(t)
		first = db.NewID()
		rehearsal = r.rehearse(t, call, body)
		after := r.rows(t)
		changed = nil
		for table, hash := range after {
			if before[table] != hash {
				changed = append(changed, table)
			}
		}
		return len(changed) == 0 && !slices.ContainsFunc(rehearsal.Effects.Commands, missing)
	}, "rehearsed %v, changed tables %v", &rehearsal.Effects.Commands, &changed)
	for _, e := range rehearsal.Effects.Events {
		if of(e.Event) {
			said.Events = append(said.Events, e)
		}
	}
	for _, c := range rehearsal.Effects.Changes {
		if of(c.Record.Type) {
			said.Changes = append(said.Changes, c)
		}
	}

	trace, last, second := strings.ReplaceAll(uuid.NewString(), "-", ""), r.last(t), db.NewID()
	method, path, _ := strings.Cut(call, " ")
	answer = r.Admin.With("If-Effects", `"`+rehearsal.Hash+`"`).With("Traceparent", "00-"+trace+"-00f067aa0ba902b7-01").Call(t, method, path, body)
	require.Equal(t, rehearsal.Status, answer.Status, answer.Body)
	var done op.Effects
	r.until(t, func() bool {
		done = op.Effects{}
		for _, other := range proto.Services {
			if other == service {
				continue
			}
			part, err := op.PartOf(r.published(t, other, last[other], trace), nil)
			require.NoError(t, err)
			for _, e := range part.Events {
				if of(e.Event) {
					done.Events = append(done.Events, e)
				}
			}
			for _, c := range part.Changes {
				if of(c.Record.Type) {
					done.Changes = append(done.Changes, c)
				}
			}
		}
		return said.Hash(op.Making{After: first, Now: time.Now()}) == done.Hash(op.Making{After: second, Now: time.Now()})
	}, "said %v, done %v", &said, &done)
	for _, m := range rehearsal.Effects.Mails {
		if m.Team {
			said.Mails = append(said.Mails, m)
		}
	}
	return said, answer
}

// moving are the tables that change by themselves: what is sent and consumed, and who is in use.
var moving = []string{"outbox", "published", "relay", "lost_topic", "position", "following", "logged", "inbox", "rate", "work_lease", "manifest", "row_count"}

// rows are a hash of each table of all services.
func (r rehearser) rows(t *testing.T) map[string]string {
	t.Helper()
	tables, err := r.conn.Query(t.Context(), `select format('%I.%I', schemaname, tablename) from pg_tables where schemaname = any($1) and not tablename = any($2)`, proto.Services, moving)
	require.NoError(t, err)
	names, err := pgx.CollectRows(tables, pgx.RowTo[string])
	require.NoError(t, err)
	require.Greater(t, len(names), 40)
	all := map[string]string{}
	for _, name := range names {
		var hash string
		require.NoError(t, r.conn.QueryRow(t.Context(), `select md5(coalesce(string_agg(x::text, ',' order by x::text), '')) from `+name+` x`).Scan(&hash))
		all[name] = hash
	}
	return all
}

// last is the newest message of each service.
func (r rehearser) last(t *testing.T) map[string]int64 {
	t.Helper()
	all := map[string]int64{}
	for _, service := range proto.Services {
		var seq int64
		require.NoError(t, r.conn.QueryRow(t.Context(), `select coalesce(max(seq), 0) from `+service+`.outbox`).Scan(&seq))
		all[service] = seq
	}
	return all
}

// published are the messages of a trace that a service has queued behind one, and the ends of records, which belong to none.
func (r rehearser) published(t *testing.T, service string, behind int64, trace string) (all []db.Message) {
	t.Helper()
	rows, err := r.conn.Query(t.Context(), `select topic, key, value from `+service+`.outbox where seq > $1 order by seq`, behind)
	require.NoError(t, err)
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (m db.Message, err error) {
		err = row.Scan(&m.Topic, &m.Key, &m.Value)
		return m, err
	})
	require.NoError(t, err)
	for _, m := range found {
		env := &proto.Envelope{}
		if len(m.Value) == 0 || protobuf.Unmarshal(m.Value, env) == nil && (r.later || strings.Contains(env.GetTraceparent(), trace)) {
			all = append(all, m)
		}
	}
	return all
}
