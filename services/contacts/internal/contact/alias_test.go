package contact

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/proto"
)

func TestManyEventsLockTheirContactsInOneOrder(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "contacts", nil)
	_, err := d.Pool.Exec(t.Context(), `create table contact_alias (id uuid primary key, target uuid)`)
	require.NoError(t, err)
	var commands, appointments []bus.Event
	for range 40 {
		id := uuid.New()
		command, err := protobuf.Marshal(&proto.EnsureContact{ContactId: id.String()})
		require.NoError(t, err)
		record, err := json.Marshal(map[string]any{"contact": map[string]any{"id": id}})
		require.NoError(t, err)
		commands = append(commands, bus.Event{Kind: proto.KindEnsureContact, Data: command})
		appointments = append(appointments, bus.Event{Kind: proto.KindAppointmentBooked, Data: record})
	}
	slices.Reverse(appointments)
	var runs atomic.Int32
	lock := func(lock func(context.Context, *db.Tx, []bus.Event) error, events []bus.Event) {
		for range 20 {
			require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
				runs.Add(1)
				return lock(t.Context(), tx, events)
			}))
		}
	}
	var both sync.WaitGroup
	both.Go(func() { lock(LockCommands, commands) })
	both.Go(func() { lock(PinAll, appointments) })
	both.Wait()
	require.EqualValues(t, 40, runs.Load(), "a deadlock makes a transaction run again")
}
