package relay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// endOfState adds the marker behind the state of all records, for the tables that follow the topic: they then drop the keys
// that it has not. A topic with several owners or partitions has no such place.
func (r *Relay) endOfState(ctx context.Context, tx pgx.Tx, t proto.Topic) error {
	if t.Owner != r.DB.Schema || t.Partitions != 1 || !t.Compacted {
		return nil
	}
	value, err := protobuf.Marshal(&proto.Envelope{Id: uuid.NewString(), Kind: proto.KindStatePublished, RecordId: proto.StateKey, State: true,
		OccurredAt: timestamppb.New(r.DB.Now()), Actor: &proto.Actor{Channel: db.ChannelSystem}})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `insert into outbox (topic, key, value, hash) values ($1, $2, $3, $4)`, t.Name, proto.StateKey, value, db.KeyHash(proto.StateKey))
	return err
}

// publishLost publishes the state of each topic that has lost more than the rows that were kept, and the marker behind it. If it
// fails, the next check tries again.
func (r *Relay) publishLost(ctx context.Context) error {
	type lost struct {
		Topic string
		Since time.Time
	}
	all, err := db.Rows[lost](ctx, r.DB.Pool, `select topic, since from lost_topic order by topic`)
	if err != nil || r.PublishState == nil {
		return err
	}
	var failed []error
	for _, l := range all {
		_, err := r.DB.Lease(ctx, "state of "+l.Topic, func(ctx context.Context) error {
			if err := r.PublishState(ctx, l.Topic); err != nil {
				return err
			}
			return r.DB.Do(ctx, func(tx *db.Tx) error {
				// If the topic has lost messages again meanwhile, since has changed and the row stays.
				if _, err := tx.Exec(ctx, `delete from lost_topic where topic = $1 and since = $2`, l.Topic, l.Since); err != nil {
					return err
				}
				return r.endOfState(ctx, tx.Tx, proto.TopicNamed(l.Topic))
			})
		})
		if err != nil {
			failed = append(failed, fmt.Errorf("publish the state of %s: %w", l.Topic, err))
		}
	}
	r.DB.Wake()
	return errors.Join(failed...)
}
