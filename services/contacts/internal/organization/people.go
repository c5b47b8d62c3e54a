package organization

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/contact"
)

// A contact shows the organization that its primary link leads to. When the organization's name changes, or it goes to the
// trash or comes back, these contacts have changed too: they get a new version and are published. The first peopleSlice of
// them go with the organization's own change, the others soon after in slices of their own, so that a change of a large
// organization locks few people at a time.
const peopleSlice = 200

// peopleOf selects the next people who show the organization $1, behind contact $2.
func peopleOf(slice int) string {
	return db.LimitTo(`select contact_id from contact_organization where organization_id = $1 and is_primary and contact_id > $2 order by contact_id`, slice)
}

// lockPeople locks what publishPeople will write, before the organization is locked: what is left to publishNext, then the
// people of the first slice.
func lockPeople(ctx context.Context, tx *db.Tx, organization uuid.UUID) error {
	b := &pgx.Batch{}
	b.Queue(`select from organization_news where organization_id = $1 for update`, organization)
	b.Queue(`select from contact where id in (`+peopleOf(peopleSlice)+`) order by id for no key update`, organization, uuid.Nil)
	return tx.SendBatch(ctx, b).Close()
}

// publishPeople publishes the people who show a changed organization, and leaves those behind the first slice to publishNext.
func publishPeople(ctx context.Context, tx *db.Tx, organization uuid.UUID) error {
	people, err := publishSlice(ctx, tx, organization, uuid.Nil, peopleSlice)
	if err != nil || len(people) < peopleSlice {
		return err
	}
	last := people[len(people)-1]
	_, err = tx.Exec(ctx, `insert into organization_news as n (organization_id, after, actor) values ($1, $2, $3)
		on conflict (organization_id) do update set after = least(n.after, excluded.after), actor = excluded.actor`, organization, last, tx.Who)
	return err
}

// publishSlice publishes a slice of the people who follow one, and returns them: fewer than the slice if no more follow. With
// an error it returns those that it failed on.
func publishSlice(ctx context.Context, tx *db.Tx, organization, after uuid.UUID, slice int) ([]uuid.UUID, error) {
	people, err := contact.IDsOf(ctx, tx, peopleOf(slice), organization, after)
	if err != nil || len(people) == 0 {
		return nil, err
	}
	return people, contact.PublishLinked(ctx, tx, people)
}

// news are the rows on which publishNext failed.
type news struct {
	organizations, people *app.Aside[uuid.UUID]
}

// publishNext publishes the next slice of what publishPeople left. A person who cannot be published is logged and passed: their
// next change publishes them.
func (r *Room) publishNext(ctx context.Context) (worked bool, err error) {
	var organization, people []uuid.UUID
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		organization, people = nil, nil
		id, after, err := r.news.claim(ctx, tx)
		if err != nil || id == uuid.Nil {
			return err
		}
		organization = []uuid.UUID{id}
		slice := r.news.people.Size(peopleSlice)
		if people, err = publishSlice(ctx, tx, id, after, slice); err != nil {
			return fmt.Errorf("people of organization %s: %w", id, err)
		}
		return moveNews(ctx, tx, id, people, slice)
	})
	if len(people) == 0 {
		return r.news.organizations.Did(ctx, organization, err)
	}
	failed := err != nil && len(people) == 1
	if worked, err = r.news.people.Did(ctx, people, err); err != nil || !failed {
		return worked, err
	}
	err = r.DB.Do(ctx, func(tx *db.Tx) error { return moveNews(ctx, tx, organization[0], people, 1) })
	return r.news.organizations.Did(ctx, organization, err)
}

// claim locks the next organization whose people are to be published, and gives the person behind whom to go on. organization
// is uuid.Nil if none has news. The transaction acts in the name of who changed the organization.
func (n news) claim(ctx context.Context, tx *db.Tx) (organization, after uuid.UUID, err error) {
	err = tx.QueryRow(ctx, `select organization_id, after, actor from organization_news where organization_id <> all($1) order by organization_id limit 1
		for update skip locked`, n.organizations.Keys()).Scan(&organization, &after, &tx.Who)
	if errors.Is(err, pgx.ErrNoRows) {
		return uuid.Nil, uuid.Nil, nil
	}
	return organization, after, err
}

// moveNews goes on behind people, or ends the news if they are fewer than the slice.
func moveNews(ctx context.Context, tx *db.Tx, organization uuid.UUID, people []uuid.UUID, slice int) error {
	if len(people) < slice {
		_, err := tx.Exec(ctx, `delete from organization_news where organization_id = $1`, organization)
		return err
	}
	_, err := tx.Exec(ctx, `update organization_news set after = $2 where organization_id = $1`, organization, people[len(people)-1])
	return err
}
