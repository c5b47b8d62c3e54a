package submission

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/proto"
	"frontdesk/services/forms/internal/definition"
)

const (
	// askAfter is how long a submission waits for the answer of contacts before contacts is asked again. The answer is an event
	// of the contact, so a later event replaces it in Kafka while this service is away for more than a week.
	askAfter = 24 * time.Hour
	askSlice = 100
)

// askAgain repeats the commands for submissions that contacts has not answered for a day. contacts answers a repeated command
// as it did the first time.
func (r *Room) askAgain(ctx context.Context) error {
	return r.DB.Slices(ctx, askSlice, func(tx *db.Tx) (int, error) { return askSome(ctx, tx) })
}

func askSome(ctx context.Context, tx *db.Tx) (n int, err error) {
	rows, err := tx.Query(ctx, `update submission set asked_at = $1 where id in (
			select id from submission where status = 'received' and result = 'pending' and held is not null and coalesce(asked_at, created_at) < $2
			order by coalesce(asked_at, created_at) limit $3 for update skip locked)
		returning held`, tx.Now, tx.Now.Add(-askAfter), askSlice)
	if err != nil {
		return 0, fmt.Errorf("find unanswered submissions: %w", err)
	}
	var commands []*proto.EnsureContact
	var held []byte
	if _, err := pgx.ForEachRow(rows, []any{&held}, func() error {
		c := &proto.EnsureContact{}
		commands = append(commands, c)
		return protobuf.Unmarshal(held, c)
	}); err != nil {
		return 0, fmt.Errorf("read unanswered submissions: %w", err)
	}
	// Ids of submissions sort by time: who sent first is asked about first.
	slices.SortFunc(commands, func(a, b *proto.EnsureContact) int { return strings.Compare(a.GetOriginId(), b.GetOriginId()) })
	for _, c := range commands {
		tx.Who = db.Actor{Channel: db.ChannelForm, Label: definition.NameOf(c.GetFirstName(), c.GetLastName(), c.GetEmail(), c.GetPhone())}
		if err := tx.Emit(ctx, db.Event{Topic: proto.ContactsCommandTopic, Kind: proto.KindEnsureContact, Key: commandKey(c), Data: c}); err != nil {
			return 0, err
		}
	}
	return len(commands), nil
}
