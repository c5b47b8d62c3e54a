package imports

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/reversal"
	"frontdesk/services/contacts/internal/tag"
	"frontdesk/services/contacts/internal/timeline"
)

// undoLasts is how long an import can be undone after it ended.
const undoLasts = 30 * 24 * time.Hour

// importUndo counts what an undo did with the contacts of an import.
type importUndo struct {
	Removed  int `json:"removed" doc:"How many contacts that the import had made went to the trash."`
	Restored int `json:"restored" doc:"How many contacts have all values of before again."`
	Kept     int `json:"kept" doc:"How many were left as they are, whole or in part; kept.csv says why."`
}

// undoImport lets an import be undone in the background.
func (r *Room) undoImport(ctx context.Context, tx *db.Tx, in op.ByID) (Import, error) {
	m, err := lockImport(ctx, tx, in.ID)
	if err != nil {
		return m, err
	}
	if m.Status != importCompleted {
		return m, fault.InvalidStatus(m.Status, "Only an import that is completed can be undone.")
	}
	if m.FinishedAt == nil || m.FinishedAt.Before(tx.Now.Add(-undoLasts)) {
		return m, fault.Conflict("too_late", "An import can be undone for thirty days.")
	}
	tx.Changed(change.Set{"status": {Old: m.Status, New: importUndoing}})
	if _, err := tx.Exec(ctx, `update import set status = $2, undo_actor = $3 where id = $1`, m.ID, importUndoing, importActor{tx.Who.UserID, tx.Who.Label}); err != nil {
		return m, err
	}
	return readImport(ctx, tx, m.ID)
}

// undoer undoes imports slice by slice, in the order of their contacts' ids. Each slice is one transaction with the place it came to.
type undoer struct {
	*Room
	aside *app.Aside[uuid.UUID]
}

const undoSlice = 500

func (r *undoer) slice(ctx context.Context) (worked bool, err error) {
	var claimed []uuid.UUID
	err = timeline.Recovered(func() error {
		return r.DB.Do(ctx, func(tx *db.Tx) error {
			claimed = nil
			u := undoing{}
			err := tx.QueryRow(ctx, `select id, options, undo_actor, coalesce(undone_to, $2) from import where status = 'undoing' and id <> all($1)
				order by created_at, id limit 1 for update skip locked`, r.aside.Keys(), uuid.Nil).Scan(&u.id, &u.options, &u.actor, &u.after)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if claimed = []uuid.UUID{u.id}; err != nil {
				return err
			}
			tx.Who = db.Actor{UserID: u.actor.UserID, Label: u.actor.Label, Channel: db.ChannelImport, Own: r.Identity.Own(u.actor.UserID)}
			if err := r.undo(ctx, tx, u); err != nil {
				return fmt.Errorf("undo import %s behind %s: %w", u.id, u.after, err)
			}
			return nil
		})
	})
	return r.aside.Did(ctx, claimed, err)
}

// undoing is an import as a slice of its undoing works on it.
type undoing struct {
	id      uuid.UUID
	options importOptions
	actor   importActor
	after   uuid.UUID
}

// undo undoes the next contacts, or ends the undoing if no more follow.
func (r *undoer) undo(ctx context.Context, tx *db.Tx, u undoing) error {
	rows, err := tx.Query(ctx, db.LimitTo(`select contact_id, created, entries, changes, organization_id, former_id from import_contact
		where import_id = $1 and contact_id > $2 order by contact_id`, undoSlice), u.id, u.after)
	if err != nil {
		return err
	}
	all, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (w reversal.Written, err error) {
		return w, row.Scan(&w.Contact, &w.Created, &w.Entries, &w.Changes, &w.Organization, &w.Former)
	})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		_, err := tx.Exec(ctx, `update import set status = $2 where id = $1`, u.id, importUndone)
		return err
	}
	ids := make([]uuid.UUID, len(all))
	for i, w := range all {
		ids[i] = w.Contact
	}
	now, err := r.state(ctx, tx, u, ids, all)
	if err != nil {
		return err
	}
	out := contact.Writes{Subject: "Import undone"}
	var trashed []uuid.UUID
	var links []link.Linked
	kept := make([]string, len(all))
	counts := importUndo{}
	for i, w := range all {
		c, there := now.Contacts[w.Contact]
		v := now.Of(w, c, there && c.DeletedAt == nil)
		kept[i] = v.Kept
		switch {
		case v.Trash:
			counts.Removed++
			out.Trash(c)
			trashed = append(trashed, c.ID)
			continue
		case v.Kept != "":
			counts.Kept++
		default:
			counts.Restored++
		}
		if there && len(contact.Fields.Diff(c, v.Next)) > 0 {
			out.Update(c, v.Next)
		}
		if v.Unlink {
			links = append(links, link.Linked{Contact: w.Contact, Organization: *w.Organization, Former: w.Former})
		}
	}
	clean, err := r.field.NewCleaner(ctx, tx, "contact")
	if err != nil {
		return err
	}
	if err := out.Send(ctx, tx, clean); err != nil {
		return err
	}
	if err := link.PublishCounts(ctx, tx, trashed...); err != nil {
		return err
	}
	if err := link.Part(ctx, tx, links); err != nil {
		return err
	}
	b := &pgx.Batch{}
	b.Queue(`update import_contact i set kept = k.kept from unnest($2::uuid[], $3::text[]) k (id, kept) where i.import_id = $1 and i.contact_id = k.id and k.kept <> ''`, u.id, ids, kept)
	b.Queue(`update import set undone_to = $2, removed = removed + $3, restored = restored + $4, kept = kept + $5 where id = $1`,
		u.id, ids[len(ids)-1], counts.Removed, counts.Restored, counts.Kept)
	return tx.SendBatch(ctx, b).Close()
}

// state reads and locks what the verdicts on a slice need.
func (r *undoer) state(ctx context.Context, tx *db.Tx, u undoing, ids []uuid.UUID, all []reversal.Written) (reversal.State, error) {
	s := reversal.State{Contacts: map[uuid.UUID]contact.Contact{}, Entries: map[uuid.UUID]int{}, Used: map[uuid.UUID]bool{}, Primary: map[uuid.UUID]uuid.UUID{}}
	locked, err := contact.Query(ctx, tx, `select `+contact.Whole+contact.From+` where c.id = any($1) order by c.id for no key update of c`, ids)
	if err != nil {
		return s, err
	}
	for _, c := range locked {
		if contact.Sees(tx, c.OwnerUserID) {
			s.Contacts[c.ID] = c
		}
	}
	b := &pgx.Batch{}
	b.Queue(`select contact_id, count(*), bool_or(type not in ('created', 'updated', 'linked')) from activity where contact_id = any($1) group by contact_id`, ids).
		Query(func(rows pgx.Rows) error {
			var id uuid.UUID
			var n int
			var used bool
			_, err := pgx.ForEachRow(rows, []any{&id, &n, &used}, func() error { s.Entries[id], s.Used[id] = n, used; return nil })
			return err
		})
	b.Queue(`select contact_id, organization_id from contact_organization where contact_id = any($1) and is_primary`, ids).Query(func(rows pgx.Rows) error {
		var id, organization uuid.UUID
		_, err := pgx.ForEachRow(rows, []any{&id, &organization}, func() error { s.Primary[id] = organization; return nil })
		return err
	})
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return s, err
	}
	names := ofImport(u.options.Tag)
	for _, w := range all {
		names = append(append(names, reversal.Words(w.Changes["tags"].Old)...), reversal.Words(w.Changes["tags"].New)...)
	}
	if s.Tags, err = tag.Known(ctx, tx, names); err != nil {
		return s, err
	}
	s.Tag = s.Tags[u.options.Tag]
	return s, nil
}

// remember stores what the batch did with its contacts, beside what earlier ones did with the same.
func (j *job) remember(ctx context.Context, tx *db.Tx) error {
	byID := map[uuid.UUID]*reversal.Written{}
	var order []*reversal.Written
	for _, w := range j.written {
		before, twice := byID[w.Contact]
		if !twice {
			before = &reversal.Written{Contact: w.Contact, Changes: change.Set{}}
			byID[w.Contact], order = before, append(order, before)
		}
		before.Entries++
		before.Created = before.Created || w.Created
		if w.Organization != nil {
			before.Organization, before.Former = w.Organization, w.Former
		}
		for name, ch := range w.Changes {
			if first, again := before.Changes[name]; again {
				ch.Old = first.Old
			}
			before.Changes[name] = ch
		}
	}
	contacts, created, entries := make([]uuid.UUID, len(order)), make([]bool, len(order)), make([]int, len(order))
	changes, organizations, formers := make([]change.Set, len(order)), make([]*uuid.UUID, len(order)), make([]*uuid.UUID, len(order))
	for i, w := range order {
		contacts[i], created[i], entries[i], organizations[i], formers[i] = w.Contact, w.Created, w.Entries, w.Organization, w.Former
		if changes[i] = w.Changes; w.Created {
			changes[i] = change.Set{} // it goes as a whole
		}
	}
	_, err := tx.Exec(ctx, `
		insert into import_contact as i (import_id, contact_id, created, entries, changes, organization_id, former_id)
		select @import, * from unnest(@contacts::uuid[], @created::boolean[], @entries::int[], @changes::jsonb[], @organizations::uuid[], @formers::uuid[])
		on conflict (import_id, contact_id) do update set entries = i.entries + excluded.entries,
			changes = case when i.created then i.changes else i.changes || (select coalesce(jsonb_object_agg(key, case when i.changes ? key
				then jsonb_build_object('old', i.changes->key->'old', 'new', value->'new') else value end), '{}') from jsonb_each(excluded.changes)) end,
			organization_id = coalesce(excluded.organization_id, i.organization_id), former_id = coalesce(i.former_id, excluded.former_id)`,
		db.Args{"import": j.id, "contacts": contacts, "created": created, "entries": entries, "changes": changes, "organizations": organizations, "formers": formers})
	return err
}

// keptContacts downloads the contacts that an undo left as they are, whole or in part, with the reason.
func (r *Room) keptContacts(ctx context.Context, tx *db.Tx, in op.ByID, d *op.Download) error {
	m, err := readImport(ctx, tx, in.ID)
	if err != nil {
		return err
	}
	var w db.Where
	w.And("i.import_id = ? and i.kept <> ''", m.ID)
	seen := "true"
	if tx.Who.Own {
		seen = w.Bind("c.owner_user_id = ?", tx.Who.UserID)
	}
	d.Start("import-kept.csv", "")
	if err := d.Row([]string{"id", "reason", "message", "first_name", "last_name", "email", "phone"}); err != nil {
		return err
	}
	rows, err := d.Query(ctx, tx, `select i.contact_id::text, i.kept, coalesce(c.first_name, ''), coalesce(c.last_name, ''), coalesce(c.email, ''), coalesce(c.phone, '')
		from import_contact i left join contact c on c.id = i.contact_id and `+seen+` where `+w.String()+` order by i.contact_id`, w.Args...)
	if err != nil {
		return err
	}
	var id, reason, first, last, email, phone string
	_, err = pgx.ForEachRow(rows, []any{&id, &reason, &first, &last, &email, &phone}, func() error {
		return d.Row([]string{id, reason, reversal.Texts[reason], first, last, email, phone})
	})
	return err
}
