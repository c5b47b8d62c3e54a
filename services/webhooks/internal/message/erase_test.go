package message

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/proto"
)

func TestAnErasureMeetsAnEventThatIsBeingStored(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]string{"the event is first": "event", "the erasure is first": "erasure"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, room := start(t, apptest.Connections(4))
			ctx := t.Context()
			event := func(tx *db.Tx) error {
				id := uuid.NewString()
				return room.keep(ctx, tx, bus.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationUpdated, ID: db.NewID(), Key: id, Version: 1,
					At: tx.Now, Data: []byte(`{"id":"` + id + `","name":"Ann's","email":"ann@example.com"}`)})
			}
			erase := func(tx *db.Tx) error {
				p := erasure.New(s.Keys.Person, s.Now().Add(time.Minute), nil, [][]byte{s.Keys.Person("ann@example.com")})
				if _, err := room.forget(ctx, tx, p); err != nil {
					return err
				}
				return tx.Forget(ctx, p)
			}
			begins, follows := event, erase
			if first == "erasure" {
				begins, follows = erase, event
			}
			second := make(chan error, 1)
			require.NoError(t, s.DB.Do(ctx, func(tx *db.Tx) error {
				if err := begins(tx); err != nil {
					return err
				}
				go func() { second <- s.DB.Do(context.WithoutCancel(ctx), follows) }()
				s.Waiting(1, func() bool { return len(second) > 0 })
				return nil
			}))
			require.NoError(t, <-second)
			require.Equal(t, 1, s.Count(`select count(*) from message`))
			require.Zero(t, s.Count(`select count(*) from message where payload like '%ann@%'`))
		})
	}
}

func TestBodiesThatWereReadOtherwiseAreForgottenAndReadAnew(t *testing.T) {
	t.Parallel()
	s, room := start(t)
	for _, email := range []string{"d'hondt@example.com", "bob@example.com"} {
		require.NoError(t, s.DB.Do(t.Context(), func(tx *db.Tx) error {
			id := uuid.NewString()
			return room.keep(t.Context(), tx, bus.Event{Topic: proto.OrganizationTopic, Kind: proto.KindOrganizationUpdated, ID: db.NewID(), Key: id, Version: 1,
				At: tx.Now, Data: []byte(`{"id":"` + id + `","name":"A","email":"` + email + `"}`)})
		}))
	}
	// They have the hashes of a reading that found less.
	_, err := s.DB.Pool.Exec(t.Context(), `update message set read_as = 0, people = '{}'`)
	require.NoError(t, err)
	require.NoError(t, s.DB.Do(t.Context(), func(tx *db.Tx) error {
		_, err := room.forget(t.Context(), tx, erasure.New(s.Keys.Person, s.Now().Add(time.Minute), nil, [][]byte{s.Keys.Person("d'hondt@example.com")}))
		return err
	}))
	require.Zero(t, s.Count(`select count(*) from message where payload like '%hondt%'`))
	require.NoError(t, reread.Job(s.DB).Run(t.Context()))
	var people [][]byte
	require.NoError(t, s.DB.Pool.QueryRow(t.Context(), `select people from message where payload like '%bob%' and read_as > 0`).Scan(&people))
	require.Equal(t, [][]byte{s.Keys.Person("bob@example.com")}, people)
}
