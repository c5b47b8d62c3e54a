package contact

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/timeline"
)

// Writes are changes of many contacts, which send stores with their timeline entries and events.
type Writes struct {
	Subject string // of the timeline entries of updates
	updates []update
	entries []timeline.NewEntry
	events  []db.Event // one for each entry
	given   Assigned
}

// update is a change, or a move to the trash.
type update struct {
	old, next Contact
	trash     bool
}

// Update adds a change of a locked contact. Its address stays as it is.
func (w *Writes) Update(old, next Contact) { w.updates = append(w.updates, update{old, next, false}) }

// Trash adds that a locked contact goes to the trash. Its organizations are the caller's to publish.
func (w *Writes) Trash(c Contact) { w.updates = append(w.updates, update{c, c, true}) }

// Created adds the entry, with this subject, and the event of a contact that Insert made.
func (w *Writes) Created(c Contact, subject string) {
	w.entries = append(w.entries, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Created, Subject: subject, Data: Creation(c)})
	w.events = append(w.events, Event(proto.KindContactCreated, c, nil, nil))
	w.give(nil, c)
}

func (w *Writes) give(had *int64, c Contact) {
	if w.given == nil {
		w.given = Assigned{}
	}
	w.given.Note(had, c)
}

// Send stores the writes. The values of archived fields, which clean does not know, are left out of the events.
func (w *Writes) Send(ctx context.Context, tx *db.Tx, clean *field.Cleaner) error {
	if len(w.updates) > 0 {
		if err := w.sendUpdates(ctx, tx, clean); err != nil {
			return err
		}
	}
	if err := timeline.Copy(ctx, tx, w.entries, func(i int) error { return tx.Emit(ctx, w.events[i]) }); err != nil {
		return err
	}
	return w.given.Tell(ctx, tx)
}

func (w *Writes) sendUpdates(ctx context.Context, tx *db.Tx, clean *field.Cleaner) error {
	contacts := make([]Contact, len(w.updates))
	for i, u := range w.updates {
		contacts[i] = u.next
		contacts[i].LastActivity = &tx.Now
		if u.trash {
			contacts[i].DeletedAt = &tx.Now
		}
	}
	written, err := updateContacts(ctx, tx, contacts...)
	if err != nil {
		return err
	}
	for _, u := range w.updates {
		c, diff := written[u.next.ID], Fields.Diff(u.old, u.next)
		c.Fields = clean.Shown(c.Fields)
		if u.trash {
			w.entries = append(w.entries, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Deleted, Subject: "Contact moved to the trash"})
			w.events = append(w.events, Event(proto.KindContactDeleted, c, nil, nil))
			continue
		}
		w.give(u.old.OwnerUserID, c)
		w.entries = append(w.entries, timeline.NewEntry{Contact: &c.ID, Kind: timeline.Updated, Subject: w.Subject, Data: diff})
		w.events = append(w.events, Event(proto.KindContactUpdated, c, diff.Names(), nil))
	}
	return nil
}

// Give gives locked contacts of one owner to another, or to nobody: rows, timeline entries, events.
func Give(ctx context.Context, tx *db.Tx, ids []uuid.UUID, from int64, to *int64) error {
	if _, err := tx.Exec(ctx, `update contact set owner_user_id = $2, version = version + 1, updated_at = $3, last_activity = greatest(last_activity, $3)
		where id = any($1)`, ids, to, tx.Now); err != nil {
		return err
	}
	diff := Fields.Diff(Contact{OwnerUserID: &from}, Contact{OwnerUserID: to})
	entries := make([]timeline.NewEntry, len(ids))
	for i := range ids {
		entries[i] = timeline.NewEntry{Contact: &ids[i], Kind: timeline.Updated, Subject: "Contact handed over", Data: diff}
	}
	if err := timeline.Copy(ctx, tx, entries, func(int) error { return nil }); err != nil {
		return err
	}
	contacts, err := publish(ctx, tx, ids, diff.Names())
	if err != nil {
		return err
	}
	given := Assigned{}
	for _, c := range contacts {
		given.Note(&from, c)
	}
	return given.Tell(ctx, tx)
}
