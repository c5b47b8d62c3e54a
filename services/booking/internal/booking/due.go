package booking

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// eachDue runs do for every appointment that is due, the earliest first, each in a transaction of its own, and stops while
// the app is off. from is the part of a query that selects the due appointments a at the time $1. do must end that the
// appointment is due. The condition is checked again under the appointment's lock, so a change of this moment counts and a
// second replica finds nothing to do. An appointment that do fails on goes aside.
func (s *service) eachDue(ctx context.Context, aside *app.Aside[uuid.UUID], from string, do func(ctx context.Context, tx *db.Tx, a record) error) error {
	for ctx.Err() == nil && s.Apps.On(s.Service) {
		var due []uuid.UUID
		err := s.DB.Read(ctx, func(tx *db.Tx) error {
			rows, err := tx.Query(ctx, `select a.id `+from+` and a.id <> all($2) order by a.starts_at, a.id limit 100`, tx.Now, aside.Keys())
			if err != nil {
				return err
			}
			due, err = pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
			return err
		})
		if err != nil || len(due) == 0 {
			return err
		}
		for _, id := range due {
			if _, err := aside.Did(ctx, []uuid.UUID{id}, s.ifDue(ctx, from, id, do)); err != nil {
				return fmt.Errorf("appointment %s: %w", id, err)
			}
		}
	}
	return ctx.Err()
}

func (s *service) ifDue(ctx context.Context, from string, id uuid.UUID, do func(ctx context.Context, tx *db.Tx, a record) error) error {
	return s.DB.Do(ctx, func(tx *db.Tx) error {
		if !s.Apps.On(s.Service) {
			return nil
		}
		a, err := s.lock(ctx, tx, id)
		if missed(err) {
			return nil
		}
		if err != nil {
			return err
		}
		var still bool
		if err := tx.QueryRow(ctx, `select exists (select `+from+` and a.id = $2)`, tx.Now, id).Scan(&still); err != nil || !still {
			return err
		}
		return do(ctx, tx, a)
	})
}

// missed reports whether err says that a record is not there.
func missed(err error) bool {
	f, ok := errors.AsType[*fault.Fault](err)
	return errors.Is(err, pgx.ErrNoRows) || ok && f.Status == 404
}
