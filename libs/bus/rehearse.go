package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"

	"frontdesk/libs/db"
)

// ErrElsewhere means that another replica does the same rehearsal.
var ErrElsewhere = errors.New("bus: another replica rehearses this")

// Rehearse handles messages that nobody has sent as the consumer handles those of its topics, in their order and in one transaction, does what follows later
// from them, rolls everything back and returns what it would have published. Messages of topics that it does not follow pass. key tells this rehearsal from
// others: while one replica is at it, the rest fail with ErrElsewhere.
func (c *Consumer) Rehearse(ctx context.Context, key string, messages []db.Message) (published []db.Message, err error) {
	err = c.DB.Rehearse(ctx, func(tx *db.Tx) error {
		// Services share a database, and a question has the same id for all of them.
		var ours bool
		if err := tx.QueryRow(ctx, `select pg_try_advisory_xact_lock($1)`, db.LockKey(c.DB.Schema+".rehearsal", key)).Scan(&ours); err != nil {
			return err
		}
		if !ours {
			return ErrElsewhere
		}
		handled := make([][]Event, len(c.Follows))
		for i, m := range messages {
			e, err := decode(kafka.Message{Topic: m.Topic, Key: []byte(m.Key), Value: m.Value, Offset: int64(i), Time: time.Now()})
			if err != nil {
				return fmt.Errorf("bus: rehearse a message of %s: %w", m.Topic, err)
			}
			for n, f := range c.Follows {
				if f.Topic != m.Topic {
					continue
				}
				if err := apply(ctx, tx, f, []Event{e}, map[uuid.UUID]bool{e.ID: true}); err != nil {
					return err
				}
				handled[n] = append(handled[n], e)
			}
		}
		for n, f := range c.Follows {
			if f.Later == nil || len(handled[n]) == 0 {
				continue
			}
			if err := f.Later(ctx, tx, handled[n]); err != nil {
				return fmt.Errorf("bus: rehearse what follows from %s: %w", f.Topic, err)
			}
		}
		published = tx.Emitted()
		return nil
	})
	return published, err
}
