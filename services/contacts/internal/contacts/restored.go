package contacts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// restored erases the people again who were erased since the backup, and fails the imports that were not done: the contacts
// that they made since are gone, and going on would make others in their place.
func (s *service) restored(ctx context.Context) (did []string, err error) {
	erased, err := s.eraseAgain(ctx)
	if err != nil {
		return nil, fmt.Errorf("erase people again: %w", err)
	}
	if erased > 0 {
		did = append(did, fmt.Sprintf("%d contacts that were erased since the backup are erased again", erased))
	}
	imports := 0
	err = s.DB.Do(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `select id from import where status in ($1, $2) order by id for update`, importQueued, importRunning)
		if err != nil {
			return err
		}
		ids, err := collectIDs(rows)
		if err != nil {
			return err
		}
		for _, id := range ids {
			reason := importError(0, "", "svc_invalid_status",
				fault.NewProblem("restored", "The import was not done when the backup was made. Look at what is there and upload the rest again."))
			if err := (&job{id: id}).end(ctx, tx, reason); err != nil {
				return fmt.Errorf("end import %s: %w", id, err)
			}
		}
		imports = len(ids)
		return nil
	})
	if imports > 0 {
		did = append(did, fmt.Sprintf("%d imports that were not done have failed", imports))
	}
	return did, err
}

// eraseAgain erases the contacts whose topic ends in contact.erased, each as of the time at which that happened, and returns
// how many.
func (s *service) eraseAgain(ctx context.Context) (n int, err error) {
	for {
		var id uuid.UUID
		var at time.Time
		err := s.DB.Pool.QueryRow(ctx, `select c.id, l.at from logged l join contact c on c.id = l.key::uuid
			where l.topic = $1 and l.kind = $2 order by c.id limit 1`, proto.ContactTopic, proto.KindContactErased).Scan(&id, &at)
		if errors.Is(err, pgx.ErrNoRows) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if err := s.DB.Do(ctx, func(tx *db.Tx) error {
			tx.History, tx.Now = true, at.UTC().Truncate(time.Second)
			if err := holdImports(ctx, tx); err != nil {
				return err
			}
			if _, err := lockToErase(ctx, tx, `select id from contact where id = $1`, id); err != nil {
				return err
			}
			l := &leavers{Person: erasure.New(s.Keys.Person, tx.Now.Add(time.Second), nil, nil)}
			if err := l.erase(ctx, tx, id); err != nil {
				return err
			}
			return l.forget(ctx, tx)
		}); err != nil {
			return n, fmt.Errorf("contact %s: %w", id, err)
		}
		n++
	}
}
