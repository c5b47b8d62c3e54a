package directory_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/app/apptest"
	"frontdesk/libs/db"
	"frontdesk/services/contacts/internal/contacts"
	"frontdesk/services/contacts/internal/directory"
)

// held is how many contacts a copy holds.
func held(t *testing.T, r *directory.Replica, s *apptest.Service) (n int64) {
	require.NoError(t, s.Kit.DB.Read(t.Context(), func(tx *db.Tx) error {
		d, err := r.Current(t.Context(), tx, nil)
		if err == nil {
			_, n = d.First(directory.Query{}, 0)
		}
		return err
	}))
	return n
}

func TestAReplicaFollowsTheDatabase(t *testing.T) {
	s := apptest.Start(t, contacts.Service)
	admin := s.As("svc_admin")
	r := directory.NewReplica(s.Kit.DB)
	require.False(t, r.Ready())
	id := admin.Post("/contacts", map[string]any{"first_name": "Gone"}).Is(201).Text("id")
	admin.Post("/contacts", map[string]any{"first_name": "Here"}).Is(201)
	require.EqualValues(t, 2, held(t, r, s))
	require.True(t, r.Ready())
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `delete from contact where id = $1`, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, held(t, r, s))
}

func TestACopyThatIsTooOldIsReadAnew(t *testing.T) {
	s := apptest.Start(t, contacts.Service)
	admin := s.As("svc_admin")
	r := directory.NewReplica(s.Kit.DB)
	gone := admin.Post("/contacts", map[string]any{"first_name": "Gone"}).Is(201).Text("id")
	require.EqualValues(t, 1, held(t, r, s))
	_, err := s.Kit.DB.Pool.Exec(t.Context(), `delete from contact where id = $1`, gone)
	require.NoError(t, err)
	_, err = s.Kit.DB.Pool.Exec(t.Context(), `update contact_gone set gone_at = now() - interval '25 hours'`)
	require.NoError(t, err)
	require.NoError(t, r.DropGone(t.Context()))
	require.EqualValues(t, 1, held(t, r, s), "nothing says any more that the contact is gone")
	r.Age(24 * time.Hour)
	require.Zero(t, held(t, r, s))
}

func TestACopyOfAStateThatNeverWasIsReadAnew(t *testing.T) {
	s := apptest.Start(t, contacts.Service)
	r := directory.NewReplica(s.Kit.DB)
	r.Pretend("4000000000:4000000000:", []directory.Record{{Text: "lost"}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go r.KeepUp(ctx)
	require.Eventually(t, func() bool { return !r.Ready() || held(t, r, s) == 0 }, 10*time.Second, 10*time.Millisecond)
	require.Zero(t, held(t, r, s))
}
