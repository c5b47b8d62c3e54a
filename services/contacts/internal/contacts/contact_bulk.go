package contacts

import (
	"context"
	"frontdesk/libs/db"
	"frontdesk/proto"

	"github.com/jackc/pgx/v5"
)

// writes are what a round has to store beside new contacts.
type writes struct {
	subject string // of the timeline entries of updates
	updates []update
	entries []entry
	events  []db.Event // one for each entry
}

// update is a contact before and after a row.
type update struct{ old, new Contact }

// shown is a contact without the values of archived fields.
func (c *cleaner) shown(contact Contact) Contact {
	shown := map[string]any{}
	for k, v := range contact.Fields {
		if _, ok := c.custom[k]; ok {
			shown[k] = v
		}
	}
	contact.Fields = shown
	return contact
}

func (w *writes) send(ctx context.Context, tx *db.Tx, clean *cleaner) error {
	if len(w.updates) > 0 {
		if err := w.sendUpdates(ctx, tx, clean); err != nil {
			return err
		}
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"activity"},
		[]string{"id", "contact_id", "type", "subject", "data", "channel", "actor_label", "user_id", "created_at"},
		pgx.CopyFromSlice(len(w.entries), func(i int) ([]any, error) {
			// The server stores the entries before this one meanwhile. A panic here would be one of the driver's goroutine.
			if err := recovered(func() error { return tx.Emit(ctx, w.events[i]) }); err != nil {
				return nil, err
			}
			e := w.entries[i]
			return []any{db.NewID(), *e.contact, e.kind, e.subject, e.data, tx.Who.Channel, tx.Who.Label, userID(tx.Who), tx.Now}, nil
		}))
	return err
}

func (w *writes) sendUpdates(ctx context.Context, tx *db.Tx, clean *cleaner) error {
	contacts := make([]Contact, len(w.updates))
	for i, u := range w.updates {
		contacts[i] = u.new
		contacts[i].LastActivity = &tx.Now
	}
	written, err := updateContacts(ctx, tx, contacts...)
	if err != nil {
		return err
	}
	for _, u := range w.updates {
		c, diff := written[u.new.ID], contactFields.Diff(u.old, u.new)
		w.entries = append(w.entries, entry{contact: &c.ID, kind: entryUpdated, subject: w.subject, data: diff})
		w.events = append(w.events, contactEvent(proto.KindContactUpdated, clean.shown(c), diff.Names(), nil))
	}
	return nil
}
