package people

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/field"
	"frontdesk/services/contacts/internal/link"
	"frontdesk/services/contacts/internal/record"
	"frontdesk/services/contacts/internal/tag"
)

// bulkChange says what is done with many contacts.
type bulkChange struct {
	op.Many
	AddTags     []string          `json:"add_tags,omitempty" maxItems:"100" doc:"Names of tags that they get; new ones are made."`
	RemoveTags  []string          `json:"remove_tags,omitempty" maxItems:"100" doc:"Names of tags that they lose."`
	OwnerUserID opt.Value[int64]  `json:"owner_user_id,omitzero" nullable:"true" minimum:"1" doc:"User id of a team member; null for nobody."`
	Status      opt.Value[string] `json:"status,omitzero" enum:"lead,customer,inactive" doc:"Their status."`
	Trash       bool              `json:"trash,omitempty" doc:"true moves them to the trash. It stands alone."`
	Restore     bool              `json:"restore,omitempty" doc:"true takes them out of the trash. It stands alone."`
}

// verbs are what in asks for, true for those that stand alone.
func (in bulkChange) verbs() map[string]bool {
	verbs := map[string]bool{}
	for name, asked := range map[string]bool{"add_tags": len(in.AddTags) > 0, "remove_tags": len(in.RemoveTags) > 0, "owner_user_id": in.OwnerUserID.Set, "status": in.Status.Set} {
		if asked {
			verbs[name] = false
		}
	}
	for name, asked := range map[string]bool{"trash": in.Trash, "restore": in.Restore} {
		if asked {
			verbs[name] = true
		}
	}
	return verbs
}

// changeMany does the same with many contacts, each for itself, in one transaction.
func (r *Room) changeMany(ctx context.Context, tx *db.Tx, in bulkChange) (op.Done, error) {
	done := op.Done{Failed: []op.NotDone{}}
	if (in.Trash || in.Restore) && !tx.Who.Can(auth.DeleteContacts) {
		return done, fault.Forbidden(auth.DeleteContacts)
	}
	if err := op.Alone(in.verbs()); err != nil {
		return done, err
	}
	clean, err := r.field.NewCleaner(ctx, tx, "contact")
	if err != nil {
		return done, err
	}
	owner := clean.Given().Owner(in.OwnerUserID)
	clean.Given().Tags(opt.Of(slices.Concat(in.AddTags, in.RemoveTags)))
	if err := clean.Err(); err != nil {
		return done, err
	}
	ids := in.Sorted()
	contacts, err := lockMany(ctx, tx, ids, &done)
	if err != nil {
		return done, err
	}
	switch {
	case in.Restore:
		err = r.restoreMany(ctx, tx, contacts, &done)
	case in.Trash:
		err = trashMany(ctx, tx, contacts, clean, &done)
	default:
		err = in.edit(ctx, tx, contacts, owner, clean, &done)
	}
	if err != nil {
		return done, err
	}
	tx.Changed(in.changes())
	return done, op.AuditMany(ctx, tx, "bulk-contacts", "contact", ids)
}

// lockMany locks the contacts that the actor may see, whole and sorted; the others are not found.
func lockMany(ctx context.Context, tx *db.Tx, ids []uuid.UUID, done *op.Done) ([]contact.Contact, error) {
	var w db.Where
	w.And("c.id = any(?)", ids)
	contact.OnlyOwn(&w, tx)
	contacts, err := contact.Query(ctx, tx, `select `+contact.Whole+contact.From+` where `+w.String()+` order by c.id for no key update of c`, w.Args...)
	if err != nil {
		return nil, err
	}
	found := map[uuid.UUID]bool{}
	for _, c := range contacts {
		found[c.ID] = true
	}
	for _, id := range ids {
		if !found[id] {
			_ = done.Count(id, false, fault.NotFound("contact"))
		}
	}
	return contacts, nil
}

func (r *Room) restoreMany(ctx context.Context, tx *db.Tx, contacts []contact.Contact, done *op.Done) error {
	for _, c := range contacts {
		var err error
		if c.DeletedAt != nil {
			if _, err = r.restoreContact(ctx, tx, op.ByID{ID: c.ID}); err == nil {
				tx.TakeBack("delete-contact", map[string]any{"id": c.ID})
			}
		}
		if err := done.Count(c.ID, c.DeletedAt != nil, err); err != nil {
			return err
		}
	}
	return nil
}

func trashMany(ctx context.Context, tx *db.Tx, contacts []contact.Contact, clean *field.Cleaner, done *op.Done) error {
	w := contact.Writes{}
	var trashed []uuid.UUID
	for _, c := range contacts {
		if c.DeletedAt == nil {
			w.Trash(c)
			tx.TakeBack("restore-contact", map[string]any{"id": c.ID})
			trashed = append(trashed, c.ID)
		}
		if err := done.Count(c.ID, c.DeletedAt == nil, nil); err != nil {
			return err
		}
	}
	if err := w.Send(ctx, tx, clean); err != nil || len(trashed) == 0 {
		return err
	}
	return link.PublishCounts(ctx, tx, trashed...)
}

// edit changes contacts that are not in the trash.
func (in bulkChange) edit(ctx context.Context, tx *db.Tx, contacts []contact.Contact, owner *int64, clean *field.Cleaner, done *op.Done) error {
	add, err := tag.Names(ctx, tx, in.AddTags)
	if err != nil {
		return err
	}
	known, err := tag.Known(ctx, tx, in.RemoveTags)
	if err != nil {
		return err
	}
	w := contact.Writes{Subject: "Contact changed"}
	for _, old := range contacts {
		if old.DeletedAt != nil {
			_ = done.Count(old.ID, false, contact.InTrash("contact"))
			continue
		}
		c := old
		c.Tags = slices.DeleteFunc(record.Union(old.Tags, add), func(name string) bool {
			return slices.ContainsFunc(in.RemoveTags, func(typed string) bool { return known[typed] == name })
		})
		if len(c.Tags) > max(field.MaxTags, len(old.Tags)) {
			_ = done.Count(old.ID, false, fault.Invalid("add_tags", fault.TooMany(field.MaxTags)))
			continue
		}
		if in.OwnerUserID.Set {
			c.OwnerUserID = owner
		}
		in.Status.Apply(&c.Status)
		diff := contact.Fields.Diff(old, c)
		changed := len(diff) > 0
		if changed {
			w.Update(old, c)
			tx.TakeBack("update-contact", diff.Before(map[string]any{"id": c.ID, "mode": contact.ModeOverwrite}))
		}
		_ = done.Count(old.ID, changed, nil)
	}
	return w.Send(ctx, tx, clean)
}

// changes are what the audit log says was asked for.
func (in bulkChange) changes() change.Set {
	s := change.Set{}
	for name, v := range map[string]any{"add_tags": in.AddTags, "remove_tags": in.RemoveTags} {
		if list, ok := v.([]string); ok && len(list) > 0 {
			s.Note(name, nil, list)
		}
	}
	if in.OwnerUserID.Given() {
		s.Note("owner_user_id", nil, in.OwnerUserID.V)
	}
	if in.Status.Set {
		s.Note("status", nil, in.Status.V)
	}
	for name, asked := range map[string]bool{"trash": in.Trash, "restore": in.Restore} {
		if asked {
			s.Note(name, nil, true)
		}
	}
	return s
}
