package link

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/person"
	"frontdesk/services/contacts/internal/timeline"
)

// Belonging says that a person belongs to the organization with a name, first of all.
type Belonging struct {
	Contact uuid.UUID
	Name    string
}

// Linked is a link that Belong made its contact's primary one. Former is the organization that was it before.
type Linked struct {
	Contact, Organization uuid.UUID
	Former                *uuid.UUID
}

// Belong links locked contacts with the organizations of these names as their primary ones, one each. An organization is found as the search for
// duplicates compares names, the oldest of several, else it is made. Unless replace is set, a contact that has a primary
// organization keeps it. It gives the links that are new or have become primary.
func Belong(ctx context.Context, tx *db.Tx, people []Belonging, replace bool) ([]Linked, error) {
	if len(people) == 0 {
		return nil, nil
	}
	if !replace {
		var err error
		if people, err = withoutPrimary(ctx, tx, people); err != nil {
			return nil, err
		}
	}
	found, err := named(ctx, tx, people)
	if err != nil {
		return nil, err
	}
	contacts, organizations := make([]uuid.UUID, len(people)), make([]uuid.UUID, len(people))
	for i, p := range people {
		contacts[i], organizations[i] = p.Contact, found[nameKey(p.Name)].ID
	}
	b := &pgx.Batch{}
	former := map[uuid.UUID]*uuid.UUID{}
	b.Queue(`update contact_organization l set is_primary = false from unnest($1::uuid[], $2::uuid[]) n (contact_id, organization_id)
		where l.contact_id = n.contact_id and l.is_primary and l.organization_id <> n.organization_id returning l.contact_id, l.organization_id`, contacts, organizations).
		Query(func(rows pgx.Rows) error {
			var id, main uuid.UUID
			_, err := pgx.ForEachRow(rows, []any{&id, &main}, func() error { former[id] = &[]uuid.UUID{main}[0]; return nil })
			return err
		})
	var linked []Linked
	b.Queue(`insert into contact_organization as l (contact_id, organization_id, role, is_primary, created_at)
		select contact_id, organization_id, '', true, $3 from unnest($1::uuid[], $2::uuid[]) n (contact_id, organization_id)
		on conflict (contact_id, organization_id) do update set is_primary = true where not l.is_primary
		returning contact_id, organization_id`, contacts, organizations, tx.Now).Query(func(rows pgx.Rows) (err error) {
		linked, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (l Linked, err error) {
			err = row.Scan(&l.Contact, &l.Organization)
			l.Former = former[l.Contact]
			return l, err
		})
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil || len(linked) == 0 {
		return nil, err
	}
	return linked, publishLinks(ctx, tx, linked, found)
}

// withoutPrimary is the people who have no primary organization yet.
func withoutPrimary(ctx context.Context, tx *db.Tx, people []Belonging) ([]Belonging, error) {
	ids := make([]uuid.UUID, len(people))
	for i, p := range people {
		ids[i] = p.Contact
	}
	have, err := contact.IDsOf(ctx, tx, `select contact_id from contact_organization where contact_id = any($1) and is_primary order by contact_id`, ids)
	return slices.DeleteFunc(slices.Clone(people), func(p Belonging) bool {
		_, has := slices.BinarySearchFunc(have, p.Contact, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
		return has
	}), err
}

// nameKey is what finds an organization by its name. A name of nothing but signs is its own.
func nameKey(name string) string {
	if key := person.NameKey(name); key != "" {
		return key
	}
	return name
}

// named finds the organizations of people by nameKey, and makes those that are missing.
func named(ctx context.Context, tx *db.Tx, people []Belonging) (map[string]organization.Organization, error) {
	names := map[string]string{}
	var keys []string
	for _, p := range people {
		key := nameKey(p.Name)
		if _, twice := names[key]; !twice {
			names[key], keys = p.Name, append(keys, key)
		}
	}
	slices.Sort(keys)
	// Two files with one new organization make it once.
	for _, key := range keys {
		if err := tx.Lock(ctx, "contacts.organization_name", key); err != nil {
			return nil, err
		}
	}
	rows, err := tx.Query(ctx, `select id, name, coalesce(nullif(name_key, ''), name) as key from organization
		where deleted_at is null and (name_key = any($1) and name_key <> '' or name_key = '' and name = any($1)) order by id for no key update`, keys)
	if err != nil {
		return nil, err
	}
	found := map[string]organization.Organization{}
	var o organization.Organization
	var key string
	if _, err := pgx.ForEachRow(rows, []any{&o.ID, &o.Name, &key}, func() error {
		// Ids are made in the order of time.
		if _, older := found[key]; !older {
			found[key] = o
		}
		return nil
	}); err != nil {
		return nil, err
	}
	for _, key := range keys {
		if _, there := found[key]; !there {
			if found[key], err = organization.Insert(ctx, tx, organization.Organization{ID: db.NewID(), Name: names[key]}); err != nil {
				return nil, fmt.Errorf("make organization: %w", err)
			}
		}
	}
	return found, nil
}

// publishLinks writes links into the timelines of both sides, and publishes both.
func publishLinks(ctx context.Context, tx *db.Tx, linked []Linked, found map[string]organization.Organization) error {
	names := map[uuid.UUID]string{}
	for _, o := range found {
		names[o.ID] = o.Name
	}
	entries := make([]timeline.NewEntry, len(linked))
	people, touched := make([]uuid.UUID, len(linked)), make([]uuid.UUID, len(linked))
	for i, l := range linked {
		people[i], touched[i] = l.Contact, l.Organization
		name := names[l.Organization]
		entries[i] = timeline.NewEntry{Contact: &linked[i].Contact, Organization: &linked[i].Organization, Kind: timeline.Linked, Subject: "Linked with " + name,
			Data: map[string]any{"organization": map[string]any{"id": l.Organization, "name": name}, "role": "", "is_primary": true}}
	}
	if err := timeline.Copy(ctx, tx, entries, func(int) error { return nil }); err != nil {
		return err
	}
	if err := contact.PublishLinked(ctx, tx, people); err != nil {
		return err
	}
	slices.SortFunc(touched, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return organization.PublishCounted(ctx, tx, slices.Compact(touched))
}

// Part ends links that Belong made, of locked contacts, and makes the former primary organizations primary again.
func Part(ctx context.Context, tx *db.Tx, links []Linked) error {
	if len(links) == 0 {
		return nil
	}
	people, organizations, formers := make([]uuid.UUID, len(links)), make([]uuid.UUID, len(links)), make([]*uuid.UUID, len(links))
	for i, l := range links {
		people[i], organizations[i], formers[i] = l.Contact, l.Organization, l.Former
	}
	b := &pgx.Batch{}
	b.Queue(`delete from contact_organization l using unnest($1::uuid[], $2::uuid[]) n (contact_id, organization_id)
		where (l.contact_id, l.organization_id) = (n.contact_id, n.organization_id)`, people, organizations)
	b.Queue(`update contact_organization l set is_primary = true from unnest($1::uuid[], $2::uuid[]) n (contact_id, organization_id)
		where (l.contact_id, l.organization_id) = (n.contact_id, n.organization_id)`, people, formers)
	names := map[uuid.UUID]string{}
	b.Queue(`select id, name from organization where id = any($1)`, organizations).Query(func(rows pgx.Rows) error {
		var id uuid.UUID
		var name string
		_, err := pgx.ForEachRow(rows, []any{&id, &name}, func() error { names[id] = name; return nil })
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return err
	}
	entries := make([]timeline.NewEntry, len(links))
	for i, l := range links {
		entries[i] = timeline.NewEntry{Contact: &links[i].Contact, Organization: &links[i].Organization, Kind: timeline.Unlinked, Subject: "Link with " + names[l.Organization] + " ended",
			Data: map[string]any{"organization": map[string]any{"id": l.Organization, "name": names[l.Organization]}, "role": ""}}
	}
	if err := timeline.Copy(ctx, tx, entries, func(int) error { return nil }); err != nil {
		return err
	}
	if err := contact.PublishLinked(ctx, tx, people); err != nil {
		return err
	}
	return organization.PublishCounted(ctx, tx, organizations)
}
