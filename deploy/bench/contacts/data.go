package main

import (
	"context"
	"fmt"
	"time"

	"frontdesk/deploy/bench/world"
)

// fill makes the site have n contacts with names, addresses and numbers as people have them, each with a
// timeline entry, spread over three years and ten thousand organizations. It starts over.
func (b *bench) fill(ctx context.Context, n int) error {
	start := time.Now()
	for _, q := range []string{
		// Truncating runs no triggers, and one of them counts.
		`delete from contact`,
		`truncate activity, organization, contact_organization, appointment, tag, outbox cascade`,
		// Filling an index row by row takes many times as long as building it.
		`drop index contact_tags`,
		`insert into tag (slug, name, created_at) select 'tag-' || i, 'Tag ' || i, now() from generate_series(0, 49) i`,
		`insert into tag_name (key, slug) select tag_key(name), slug from tag`,
		`insert into organization (id, name, name_key, created_at, updated_at) select gen_random_uuid(), 'Organization ' || i, 'organization' || i,
			date_trunc('second', now()) - make_interval(mins => i), date_trunc('second', now()) from generate_series(1, 10000) i`,
		contactsFrom(1, n, n),
		`insert into activity (id, contact_id, type, subject, channel, created_at) select gen_random_uuid(), id, 'created', 'Contact created', 'system', created_at from contact`,
		`insert into contact_organization (contact_id, organization_id, is_primary, created_at)
			select c.id, o.id, true, c.created_at from (select id, created_at, row_number() over () n from contact) c
			join (select id, row_number() over () n from organization) o on o.n = 1 + c.n % 30000`,
		`create index contact_tags on contact using gin (tags)`,
		`vacuum (analyze) contact`, `vacuum (analyze) activity`, `vacuum (analyze) contact_organization`, `vacuum (analyze) organization`,
	} {
		if _, err := b.DB.Exec(ctx, q); err != nil {
			return fmt.Errorf("fill: %w in %.60s", err, q)
		}
	}
	b.Note(fmt.Sprintf("%d contacts made", n), world.Seconds(time.Since(start)))
	return nil
}

// contactsFrom is the statement that makes the contacts first to last of a site with n.
func contactsFrom(first, last, n int) string {
	return fmt.Sprintf(`
			with first as (select array['Anna','Jan','Marie','Peter','Zoë','Lukas','Sophie','Thomas','Emma','Noah','Léa','Jürgen','Björn','Elena','Mohammed',
				'Fatima','Pieter','Sarah','Kevin','Nathalie','Olivier','Charlotte','Wouter','Ingrid','Hannah','Felix','Mila','Arthur','Louise','Jules'] as names),
			last as (select array['Peeters','Janssens','Maes','Jacobs','Mertens','Willems','Claes','Goossens','Wouters','De Smet','Dubois','Lambert',
				'Müller','Schmidt','Dupont','Martin','Bernard','de Vries','van den Berg','Bakker','Visser','Smit','Meijer','Mulder','Bos'] as names)
			insert into contact (id, first_name, last_name, email, email_key, phone, status, source, owner_user_id, tags, last_activity, created_at, updated_at)
			select gen_random_uuid(), f, l || ' ' || suffix, e, e, '+324' || lpad((i * 7919 %% 100000000)::text, 8, '0'),
				(array['lead','customer','inactive'])[1 + i %% 3], (array['web','fair','phone',''])[1 + i %% 4], 1 + i %% %[4]d,
				array['Tag ' || i %% 50], t, t, t
			from (select i, first.names[1 + i * 31 %% 30] f, last.names[1 + i * 17 %% 25] l, upper(substr(md5(i::text), 1, 6)) suffix,
				'person' || i || '@' || (array['example.com','mail.example','post.example'])[1 + i %% 3] e,
				date_trunc('second', now()) - make_interval(secs => (i * 94608000 / %[3]d)::int) t
				from generate_series(%[1]d::bigint, %[2]d) i, first, last) x, lateral (select 1) y`, first, last, n, colleagues)
}

// onlyContacts makes the site have n contacts and nothing else, not even the indexes that searches and their pages leave
// alone. It starts over unless there are as many already.
func (b *bench) onlyContacts(ctx context.Context, n int) error {
	var there int
	if err := b.DB.QueryRow(ctx, `select count(*) from contact`).Scan(&there); err != nil || there == n {
		return err
	}
	start := time.Now()
	queries := []string{
		`truncate contact cascade`,
		`drop index contact_tags, contact_email, contact_email_trash, contact_owner, contact_updated, contact_source`,
	}
	const atATime = 200_000
	for first := 1; first <= n; first += atATime {
		queries = append(queries, contactsFrom(first, min(first+atATime-1, n), n))
	}
	for _, q := range append(queries, `vacuum (analyze) contact`) {
		if _, err := b.DB.Exec(ctx, q); err != nil {
			return fmt.Errorf("fill with contacts only: %w in %.60s", err, q)
		}
	}
	b.Note(fmt.Sprintf("%d contacts made", n), world.Seconds(time.Since(start)))
	return nil
}
