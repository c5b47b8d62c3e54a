package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/db"
)

var services = []string{"settings", "contacts", "booking", "forms", "webhooks"}

// id is that of record number i of any table.
func id(i int) string { return fmt.Sprintf("01900000-0000-7000-8000-%012x", i) }

// sqlID is id in SQL, of an expression that is a number.
func sqlID(number string) string {
	return `('01900000-0000-7000-8000-' || lpad(to_hex(` + number + `), 12, '0'))::uuid`
}

// colleagues are how many people have appointments.
const colleagues = 10

// found makes what is there once: a team with hours, a service, a form, a webhook.
func (b *bench) found(ctx context.Context) error {
	week := map[string]any{}
	for day := 1; day <= 7; day++ {
		week[fmt.Sprint(day)] = [][]string{{"08:00", "18:00"}}
	}
	for i := range colleagues {
		var made struct {
			ID int64 `json:"user_id"`
		}
		email := fmt.Sprintf("colleague%d@example.com", i)
		if _, err := b.Call("POST", "/staff", map[string]string{"name": fmt.Sprint("Colleague ", i), "email": email, "role": "staff"}, &made); err != nil {
			return err
		}
		b.team = append(b.team, made.ID)
	}
	for _, user := range b.team {
		path := fmt.Sprintf("/staff/%d/hours", user)
		if err := eventually(ctx, func() error { _, err := b.Call("PUT", path, map[string]any{"hours": week}, nil); return err }); err != nil {
			return err
		}
	}
	var service struct{ ID string }
	if _, err := b.Call("POST", "/services", map[string]any{"name": "Consultation", "duration_min": 30, "bookable_online": true, "staff": b.team}, &service); err != nil {
		return err
	}
	var form struct{ ID int64 }
	definition := map[string]any{"elements": []any{map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true}}}
	if _, err := b.Call("POST", "/forms", map[string]any{"name": "Contact", "status": "publish", "definition": definition}, &form); err != nil {
		return err
	}
	var made struct{ Webhook struct{ ID string } }
	_, err := b.Call("POST", "/webhooks", map[string]any{"name": "Mine", "url": "https://receiver.example/hook", "active": false, "events": []string{"contact.created"}}, &made)
	b.service, b.form, b.webhook = service.ID, form.ID, made.Webhook.ID
	return err
}

// eventually calls until that works: booking hears of new people a moment later.
func eventually(ctx context.Context, call func() error) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		err := call()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// million is the number of contacts from which on only contacts and organizations grow.
const million = 1_000_000

// grow adds records until there are n contacts. Whatever the size, as much happens in a week, a contact has as many timeline entries and
// an organization as many people: only how far back it all goes grows.
func (b *bench) grow(ctx context.Context, n int) error {
	started := time.Now()
	const names = `with first as (select array['Anna','Jan','Marie','Peter','Zoë','Lukas','Sophie','Thomas','Emma','Noah','Léa','Jürgen','Björn','Elena','Mohammed'] as names),
		last as (select array['Peeters','Janssens','Maes','Jacobs','Mertens','Willems','Claes','De Smet','Dubois','Müller','Schmidt','Martin','de Vries','van den Berg','Bakker'] as names)`
	// Higher numbers are older.
	made, lately := `date_trunc('second', now()) - make_interval(mins => i * 10)`, `now() - make_interval(secs => i * 2)`
	team := `(@team::bigint[])[1 + i % 10]`
	contact := sqlID("i")
	for _, f := range []struct {
		schema, statement string
		most              int // contacts; 0 for all
	}{
		{"contacts", `insert into tag (slug, name, created_at) select 'tag-' || i, 'Tag ' || i, now() from generate_series(0, 49) i on conflict do nothing`, 0},
		{"contacts", `insert into tag_name (key, slug) select tag_key(name), slug from tag on conflict do nothing`, 0},
		{"contacts", names + ` insert into contact (id, first_name, last_name, email, email_key, phone, status, source, owner_user_id, tags, last_activity, created_at, updated_at)
			select ` + contact + `, first.names[1 + i * 31 % 15], last.names[1 + i * 17 % 15] || ' ' || upper(substr(md5(i::text), 1, 6)), 'person' || i || '@example.com', 'person' || i || '@example.com',
				'+324' || lpad((i::bigint * 7919 % 100000000)::text, 8, '0'), (array['lead','customer','inactive'])[1 + i % 3], (array['web','fair','phone',''])[1 + i % 4], ` + team + `,
				array['Tag ' || i % 50], ` + made + `, ` + made + `, ` + made + ` from generate_series(@from::int, @to::int) i, first, last`, 0},
		{"contacts", `insert into organization (id, name, name_key, created_at, updated_at) select ` + contact + `, 'Organization ' || i, 'organization' || i, ` + made + `, now()
			from generate_series(@from::int / 20, @to::int / 20) i on conflict do nothing`, 0},
		{"contacts", `insert into contact_organization (contact_id, organization_id, is_primary, created_at)
			select ` + contact + `, ` + sqlID("i / 20") + `, true, ` + made + ` from generate_series(@from::int, @to::int) i`, 0},
		{"contacts", `insert into activity (id, contact_id, type, subject, body, channel, user_id, created_at)
			select ` + sqlID("i::bigint * 10 + k") + `, ` + contact + `, case k when 0 then 'created' else 'note' end, 'Note ' || k, 'Called about the offer.', 'portal', ` + team + `, ` + made + ` + make_interval(secs => k)
			from generate_series(@from::int, @to::int) i, generate_series(0, 9) k`, million},
		{"booking", `insert into contact (id, version, first_name, last_name, email, email_key, owner_user_id)
			select ` + contact + `, 1, 'Person', i::text, 'person' || i || '@example.com', 'person' || i || '@example.com', ` + team + ` from generate_series(@from::int, @to::int) i`, 0},
		// Eight a day for each of ten people, from a month ahead back into the past.
		{"booking", `insert into appointment (id, status, service_id, terms, user_id, contact_id, starts_at, ends_at, buffer_before, buffer_after, location_type, location, meeting_url, notes, source, timed_at, created_at, updated_at)
			select ` + contact + `, case when i % 50 = 0 then 'cancelled' when t < now() then 'completed' else 'confirmed' end, @service::uuid, '{"name": "Consultation", "duration_min": 30}', ` + team + `, ` + contact + `, t, t + interval '30 minutes',
				0, 0, 'in_person', '', '', '', 'api', t, t - interval '7 days', t from generate_series(@from::int, @to::int) i,
			lateral (select date_trunc('day', now()) + interval '30 days' - make_interval(days => i / 10 / 8) + make_interval(hours => 8 + i / 10 % 8) t) y`, million},
		{"forms", `insert into contact (id, version, name, email, owner_user_id) select ` + contact + `, 1, 'Person', 'person' || i || '@example.com', ` + team + ` from generate_series(@from::int, @to::int) i`, 0},
		{"forms", `insert into submission (id, form_id, status, result, contact_id, values, answers, page, email, created_at, people)
			select ` + contact + `, @form::bigint, case when i % 100 = 0 then 'spam' else 'received' end, 'created', ` + contact + `, '{"email": "person@example.com"}', '[]', 'https://example.com', 'person' || i || '@example.com', ` + made + `, '{}'
			from generate_series(@from::int, @to::int) i`, million},
		{"webhooks", `insert into message (id, event, record, contact, payload, created_at, occurred_at)
			select ` + contact + `, 'contact.created', ` + contact + `, ` + contact + `, '{"type": "contact.created", "data": {"first_name": "Anna", "email": "person@example.com"}}', ` + lately + `, now() from generate_series(@from::int, @to::int) i`, million},
		{"webhooks", `insert into delivery (id, webhook, message, record, status, attempts, response_code, duration_ms, created_at, delivered_at)
			select ` + contact + `, @webhook::uuid, ` + contact + `, ` + contact + `, case when i % 100 = 0 then 'failed' else 'delivered' end, 1, 200, 20, ` + lately + `, now() from generate_series(@from::int, @to::int) i`, million},
		{"settings", `insert into audit (id, action, channel, actor_label, user_id, record_type, record_id, outcome, created_at)
			select ` + contact + `, (array['create-contact','update-contact','book-appointment'])[1 + i % 3], 'portal', 'Colleague', ` + team + `, 'contact', ` + contact + `::text, 'done', ` + lately + ` from generate_series(@from::int, @to::int) i`, million},
		{"settings", `insert into mail (id, recipient, subject, kind, status, attempts, next_at, created_at, sent_at)
			select ` + contact + `, 'person' || i || '@example.com', 'Your appointment', 'appointment', 'sent', 1, now(), ` + lately + `, now() from generate_series(@from::int, @to::int) i`, million},
	} {
		to := n
		if f.most > 0 {
			to = min(n, f.most)
		}
		for from := b.contacts; from < to; from += million {
			if err := b.fill(ctx, f.schema, f.statement, from+1, min(from+million, to)); err != nil {
				return fmt.Errorf("fill: %w in %.80s", err, f.statement)
			}
		}
	}
	// Postgres would do so by itself, at some moment of the measurement.
	if _, err := b.DB.Exec(ctx, `vacuum analyze`); err != nil {
		return err
	}
	b.contacts = n
	b.Note(fmt.Sprintf("%d: made", n), world.Seconds(time.Since(started)))
	return nil
}

// fill runs a statement of a service's schema for some numbers.
func (b *bench) fill(ctx context.Context, schema, statement string, from, to int) error {
	return pgx.BeginFunc(ctx, b.DB, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `select set_config('search_path', $1, true)`, schema+", ext"); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, statement, db.Args{"from": from, "to": to, "team": b.team, "service": b.service, "form": b.form, "webhook": b.webhook})
		return err
	})
}
