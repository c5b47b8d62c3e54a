package organization

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/auth"
	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
)

// bulkChange says what is done with many organizations.
type bulkChange struct {
	op.Many
	OwnerUserID opt.Value[int64] `json:"owner_user_id,omitzero" nullable:"true" minimum:"1" doc:"User id of a team member; null for nobody."`
	Trash       bool             `json:"trash,omitempty" doc:"true moves them to the trash; their people stay. It stands alone."`
	Restore     bool             `json:"restore,omitempty" doc:"true takes them out of the trash. It stands alone."`
}

// changeMany does the same with many organizations, each for itself, in one transaction.
func (r *Room) changeMany(ctx context.Context, tx *db.Tx, in bulkChange) (op.Done, error) {
	done := op.Done{Failed: []op.NotDone{}}
	if (in.Trash || in.Restore) && !tx.Who.Can(auth.DeleteContacts) {
		return done, fault.Forbidden(auth.DeleteContacts)
	}
	verbs, asked := map[string]bool{}, change.Set{}
	if in.OwnerUserID.Set {
		verbs["owner_user_id"] = false
		asked.Note("owner_user_id", nil, in.OwnerUserID)
	}
	for name, given := range map[string]bool{"trash": in.Trash, "restore": in.Restore} {
		if given {
			verbs[name] = true
			asked.Note(name, nil, true)
		}
	}
	if err := op.Alone(verbs); err != nil {
		return done, err
	}
	clean, err := r.field.CleanerFor(ctx, tx, "organization", opt.Value[map[string]any]{})
	if err != nil {
		return done, err
	}
	owner := clean.Given().Owner(in.OwnerUserID)
	if err := clean.Err(); err != nil {
		return done, err
	}
	ids := in.Sorted()
	if in.Trash || in.Restore {
		if err := lockPeopleOfMany(ctx, tx, ids); err != nil {
			return done, err
		}
	}
	for _, id := range ids {
		changed, err := in.one(ctx, tx, id, owner)
		if err := done.Count(id, changed, err); err != nil {
			return done, err
		}
	}
	tx.Changed(asked)
	return done, op.AuditMany(ctx, tx, "bulk-organizations", "organization", ids)
}

// one does it with one organization. Whatever refuses it does so before anything is written.
func (in bulkChange) one(ctx context.Context, tx *db.Tx, id uuid.UUID, owner *int64) (changed bool, err error) {
	if in.Trash || in.Restore {
		o, err := Lock(ctx, tx, id)
		if err != nil || in.Trash == (o.DeletedAt != nil) {
			return false, err
		}
		tx.TakeBack(map[bool]string{true: "restore-organization", false: "delete-organization"}[in.Trash], map[string]any{"id": id})
		if in.Trash {
			return true, trash(ctx, tx, o)
		}
		return true, restore(ctx, tx, o)
	}
	old, err := LockLive(ctx, tx, id)
	if err != nil {
		return false, err
	}
	o := old
	o.OwnerUserID = owner
	return len(Fields.Diff(old, o)) > 0, Save(ctx, tx, old, o, "Organization changed")
}

// lockPeopleOfMany is lockPeople for organizations by their ids, sorted.
func lockPeopleOfMany(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`select from organization_news where organization_id = any($1) order by organization_id for update`, ids)
	b.Queue(`select from contact where id in (select l.contact_id from unnest($1::uuid[]) o (id) cross join lateral
		(`+db.LimitTo(`select contact_id from contact_organization where organization_id = o.id and is_primary order by contact_id`, peopleSlice)+`) l) order by id for no key update`, ids)
	return tx.SendBatch(ctx, b).Close()
}
