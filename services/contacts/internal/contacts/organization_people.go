package contacts

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// A contact shows the organization that its primary link leads to. When the organization's name changes, or it goes to the
// trash or comes back, these contacts have changed too: they get a new version and are published. The first peopleSlice of
// them go with the organization's own change, the others soon after in slices of their own, so that a change of a large
// organization locks few people at a time.
const peopleSlice = 200

// peopleOf selects the next people who show the organization $1, behind contact $2.
var peopleOf = db.LimitTo(`select contact_id from contact_organization where organization_id = $1 and is_primary and contact_id > $2
	order by contact_id`, peopleSlice)

// lockPeople locks what publishPeople will write, before the organization is locked: what is left to publishNext, then the
// people of the first slice.
func lockPeople(ctx context.Context, tx *db.Tx, organization uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`select from organization_news where organization_id = $1 for update`, organization)
	b.Queue(`select from contact where id in (`+peopleOf+`) order by id for no key update`, organization, uuid.Nil)
	return tx.SendBatch(ctx, b).Close()
}

// publishPeople publishes the people who show a changed organization, and leaves those behind the first slice to publishNext.
func publishPeople(ctx context.Context, tx *db.Tx, organization uuid.UUID) error {
	last, err := publishSlice(ctx, tx, organization, uuid.Nil)
	if err != nil || last == uuid.Nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into organization_news as n (organization_id, after, actor) values ($1, $2, $3)
		on conflict (organization_id) do update set after = least(n.after, excluded.after), actor = excluded.actor`, organization, last, tx.Who)
	return err
}

// publishSlice publishes the people who follow one, a slice of them. It returns the last one, or uuid.Nil if no more follow.
func publishSlice(ctx context.Context, tx *db.Tx, organization, after uuid.UUID) (last uuid.UUID, err error) {
	rows, err := tx.Query(ctx, peopleOf, organization, after)
	if err != nil {
		return last, err
	}
	ids, err := collectIDs(rows)
	if err != nil || len(ids) == 0 {
		return last, err
	}
	if len(ids) == peopleSlice {
		last = ids[len(ids)-1]
	}
	return last, publishLinked(ctx, tx, ids)
}

// publishLinked stores contacts whose organization is another now, or looks otherwise, as their next versions, and publishes
// them.
func publishLinked(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	if _, err := tx.Exec(ctx, `select from contact where id = any($1) order by id for no key update`, ids); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `update contact set version = version + 1, updated_at = $2 where id = any($1)`, ids, tx.Now); err != nil {
		return err
	}
	return publishContacts(ctx, tx, ids, []string{"organization"})
}

// publishNext publishes the next slice of what publishPeople left.
func (s *service) publishNext(ctx context.Context) (worked bool, err error) {
	err = s.DB.Do(ctx, func(tx *db.Tx) error {
		var organization, after uuid.UUID
		err := tx.QueryRow(ctx, `select organization_id, after, actor from organization_news order by organization_id limit 1 for update skip locked`).
			Scan(&organization, &after, &tx.Who)
		if worked = err == nil; errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		if after, err = publishSlice(ctx, tx, organization, after); err != nil {
			return fmt.Errorf("people of organization %s: %w", organization, err)
		}
		if after == uuid.Nil {
			_, err = tx.Exec(ctx, `delete from organization_news where organization_id = $1`, organization)
			return err
		}
		_, err = tx.Exec(ctx, `update organization_news set after = $2 where organization_id = $1`, organization, after)
		return err
	})
	return worked, err
}
