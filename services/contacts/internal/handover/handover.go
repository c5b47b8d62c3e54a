package handover

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/contacts/internal/contact"
	"frontdesk/services/contacts/internal/organization"
	"frontdesk/services/contacts/internal/task"
)

// handOverSlice is how many contacts, or organizations, change hands in one transaction. Whoever edits one of them waits for
// that transaction at most.
const handOverSlice = 100

// startHandOver notes that somebody left the team, and who takes over; handOverNext does the rest. What still was to come to
// the person goes to the successor as well.
func startHandOver(ctx context.Context, tx *db.Tx, from int64, extra *proto.StaffRemoved) error {
	b := &pgx.Batch{}
	b.Queue(`update hand_over set to_user = nullif($2::bigint, 0) where to_user = $1`, from, extra.GetSuccessor())
	b.Queue(`insert into hand_over (from_user, to_user, actor, identity_version, created_at) values ($1, nullif($2::bigint, 0), $3, $4, $5)
		on conflict (from_user) do update set to_user = excluded.to_user, actor = excluded.actor, identity_version = excluded.identity_version`,
		from, extra.GetSuccessor(), tx.Who, extra.GetIdentityVersion(), tx.Now)
	return tx.SendBatch(ctx, b).Close()
}

// handing are the records on which a hand-over failed.
type handing struct {
	people        *app.Aside[int64]
	contacts      *app.Aside[uuid.UUID]
	organizations *app.Aside[uuid.UUID]
	tasks         *app.Aside[uuid.UUID]
}

func newHanding() handing {
	return handing{app.NewAside[int64]("hand-over"), app.NewAside[uuid.UUID]("hand-over of contacts"), app.NewAside[uuid.UUID]("hand-over of organizations"),
		app.NewAside[uuid.UUID]("hand-over of tasks")}
}

// handOverNext hands over the next slice in one transaction. It changes only what still has the old owner, so a crash leaves
// nothing out and repeats nothing. Of several records one that fails does not keep the others from their new owner.
func (r *Room) handOverNext(ctx context.Context) (worked bool, err error) {
	var slice handedOver
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		slice = handedOver{}
		return r.handing.next(ctx, tx, r.Identity, &slice)
	})
	switch {
	case len(slice.contacts) > 0:
		return r.handing.contacts.Did(ctx, slice.contacts, err)
	case len(slice.organizations) > 0:
		return r.handing.organizations.Did(ctx, slice.organizations, err)
	case len(slice.tasks) > 0:
		return r.handing.tasks.Did(ctx, slice.tasks, err)
	}
	worked, err = r.handing.people.Did(ctx, slice.from, err)
	return worked && !slice.waits, err
}

// handedOver is what a slice worked on.
type handedOver struct {
	from          []int64 // the person who left
	contacts      []uuid.UUID
	organizations []uuid.UUID
	tasks         []uuid.UUID
	waits         bool // other transactions have the records that are left, or the person can still come by some
}

// next does the next slice of the oldest hand-over that no other replica is at.
func (h handing) next(ctx context.Context, tx *db.Tx, team *auth.Identity, slice *handedOver) error {
	var from, removed int64
	var to *int64
	err := tx.QueryRow(ctx, `select from_user, to_user, actor, identity_version from hand_over where from_user <> all($1) order by created_at, from_user limit 1
		for update skip locked`, h.people.Keys()).Scan(&from, &to, &tx.Who, &removed)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	slice.from = []int64{from}
	if worked, err := h.slice(ctx, tx, from, to, slice); err != nil || worked {
		return err
	}
	// Records that another transaction has locked, or that are aside, were skipped: other hand-overs go first. Until settings has taken
	// the removed role, the person can make more, and imports and forms can give them more.
	leaving := team.OnTeam(from) && !team.OnTeamAfter(removed, from)
	tag, err := tx.Exec(ctx, `delete from hand_over where from_user = $1 and not $2 and not exists (select from contact where owner_user_id = $1)
		and not exists (select from organization where owner_user_id = $1) and not exists (select from task where owner_user_id = $1)`, from, leaving)
	if slice.waits = tag.RowsAffected() == 0; err == nil && slice.waits {
		_, err = tx.Exec(ctx, `update hand_over set created_at = $2 where from_user = $1`, from, tx.Now)
	}
	return err
}

// slice hands over the next contacts, organizations or tasks of a person, and reports whether there were any.
func (h handing) slice(ctx context.Context, tx *db.Tx, from int64, to *int64, slice *handedOver) (worked bool, err error) {
	if slice.contacts, err = h.handOverContacts(ctx, tx, from, to); err != nil {
		return false, fmt.Errorf("hand over the contacts of user %d: %w", from, err)
	}
	if len(slice.contacts) > 0 {
		return true, nil
	}
	if slice.organizations, err = h.handOverOrganizations(ctx, tx, from, to); err != nil {
		return false, fmt.Errorf("hand over the organizations of user %d: %w", from, err)
	}
	if len(slice.organizations) > 0 {
		return true, nil
	}
	if slice.tasks, err = h.handOverTasks(ctx, tx, from, to); err != nil {
		return false, fmt.Errorf("hand over the tasks of user %d: %w", from, err)
	}
	return len(slice.tasks) > 0, nil
}

// handOverContacts gives the next contacts of a person to their successor, or removes the owner, and returns their ids. With
// an error it returns the ids that it failed on.
func (h handing) handOverContacts(ctx context.Context, tx *db.Tx, from int64, to *int64) ([]uuid.UUID, error) {
	ids, err := contact.IDsOf(ctx, tx, db.LimitTo(`select id from contact where owner_user_id = $1 and id <> all($2) order by id`, h.contacts.Size(handOverSlice))+
		` for no key update skip locked`, from, h.contacts.Keys())
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return ids, contact.Give(ctx, tx, ids, from, to)
}

// handOverOrganizations is handOverContacts for organizations, of which a person has few.
func (h handing) handOverOrganizations(ctx context.Context, tx *db.Tx, from int64, to *int64) ([]uuid.UUID, error) {
	ids, err := contact.IDsOf(ctx, tx, db.LimitTo(`select id from organization where owner_user_id = $1 and id <> all($2) order by id`, h.organizations.Size(handOverSlice/10))+
		` for no key update skip locked`, from, h.organizations.Keys())
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		old, err := organization.Lock(ctx, tx, id)
		if err != nil {
			return ids, err
		}
		o := old
		o.OwnerUserID = to
		if err := organization.Save(ctx, tx, old, o, "Organization handed over"); err != nil {
			return ids, err
		}
	}
	return ids, nil
}

// handOverTasks is handOverContacts for tasks.
func (h handing) handOverTasks(ctx context.Context, tx *db.Tx, from int64, to *int64) ([]uuid.UUID, error) {
	ids, err := contact.IDsOf(ctx, tx, db.LimitTo(`select id from task where owner_user_id = $1 and id <> all($2) order by id`, h.tasks.Size(handOverSlice))+
		` for update skip locked`, from, h.tasks.Keys())
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	return ids, task.Give(ctx, tx, ids, to)
}

// handOverNow does in a rehearsal all slices of the people who leave by these events.
func (r *Room) handOverNow(ctx context.Context, tx *db.Tx, events []bus.Event) error {
	for _, e := range events {
		if e.Kind != proto.KindStaffRemoved {
			continue
		}
		var from int64
		var to *int64
		if err := tx.QueryRow(ctx, `select from_user, to_user, actor from hand_over where from_user::text = $1`, e.Key).Scan(&from, &to, &tx.Who); err != nil {
			return fmt.Errorf("read a hand-over to rehearse: %w", err)
		}
		for worked := true; worked; {
			var err error
			if worked, err = r.handing.slice(ctx, tx, from, to, &handedOver{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// onStaff hands over what a person who left the team owns. History says so of people who are back on the team, too.
func (r *Room) onStaff(ctx context.Context, tx *db.Tx, e bus.Event) error {
	if e.Kind != proto.KindStaffRemoved {
		return nil
	}
	user, err := strconv.ParseInt(e.Key, 10, 64)
	if err != nil {
		return fmt.Errorf("id of a person who left: %w", err)
	}
	var extra proto.StaffRemoved
	if err := e.DecodeExtra(&extra); err != nil {
		return err
	}
	if e.History && r.Identity.OnTeamAfter(extra.GetIdentityVersion(), user) {
		return nil
	}
	return startHandOver(ctx, tx, user, &extra)
}
