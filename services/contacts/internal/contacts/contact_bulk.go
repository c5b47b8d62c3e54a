package contacts

import (
	"context"
	"frontdesk/libs/db"
	"frontdesk/proto"

	"github.com/google/uuid"
)

// writes are changes of many contacts, which send stores with their timeline entries and events.
type writes struct {
	subject string // of the timeline entries of updates
	updates []update
	entries []newEntry
	events  []db.Event // one for each entry
}

type update struct{ old, next Contact }

// update adds a change of a locked contact. Its address stays as it is.
func (w *writes) update(old, next Contact) { w.updates = append(w.updates, update{old, next}) }

// created adds the entry, with this subject, and the event of a contact that insertContacts made.
func (w *writes) created(c Contact, subject string) {
	w.entries = append(w.entries, newEntry{contact: &c.ID, kind: entryCreated, subject: subject, data: creation(c)})
	w.events = append(w.events, contactEvent(proto.KindContactCreated, c, nil, nil))
}

// send stores the writes. The values of archived fields, which clean does not know, are left out of the events.
func (w *writes) send(ctx context.Context, tx *db.Tx, clean *cleaner) error {
	if len(w.updates) > 0 {
		if err := w.sendUpdates(ctx, tx, clean); err != nil {
			return err
		}
	}
	return copyEntries(ctx, tx, w.entries, func(i int) error { return tx.Emit(ctx, w.events[i]) })
}

func (w *writes) sendUpdates(ctx context.Context, tx *db.Tx, clean *cleaner) error {
	contacts := make([]Contact, len(w.updates))
	for i, u := range w.updates {
		contacts[i] = u.next
		contacts[i].LastActivity = &tx.Now
	}
	written, err := updateContacts(ctx, tx, contacts...)
	if err != nil {
		return err
	}
	for _, u := range w.updates {
		c, diff := written[u.next.ID], contactFields.Diff(u.old, u.next)
		c.Fields = clean.shown(c.Fields)
		w.entries = append(w.entries, newEntry{contact: &c.ID, kind: entryUpdated, subject: w.subject, data: diff})
		w.events = append(w.events, contactEvent(proto.KindContactUpdated, c, diff.Names(), nil))
	}
	return nil
}

// giveContacts gives locked contacts of one owner to another, or to nobody: rows, timeline entries, events.
func giveContacts(ctx context.Context, tx *db.Tx, ids []uuid.UUID, from int64, to *int64) error {
	if _, err := tx.Exec(ctx, `update contact set owner_user_id = $2, version = version + 1, updated_at = $3, last_activity = greatest(last_activity, $3)
		where id = any($1)`, ids, to, tx.Now); err != nil {
		return err
	}
	diff := contactFields.Diff(Contact{OwnerUserID: &from}, Contact{OwnerUserID: to})
	entries := make([]newEntry, len(ids))
	for i := range ids {
		entries[i] = newEntry{contact: &ids[i], kind: entryUpdated, subject: "Contact handed over", data: diff}
	}
	if err := copyEntries(ctx, tx, entries, func(int) error { return nil }); err != nil {
		return err
	}
	return publishContacts(ctx, tx, ids, diff.Names())
}
