package directory_test

import (
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/db/pgserver"
	"frontdesk/libs/until"
	"frontdesk/services/contacts/internal/directory"
)

// ids of transactions are given again by a server that did not see who had them: one that was promoted or restored, and one
// that crashed before they were on disk.
func TestADirectoryOfAnotherServerIsLoadedAnew(t *testing.T) {
	options := pgserver.Options{Dir: filepath.Join(t.TempDir(), "first"), Durable: true}
	start := func() *pgserver.Server {
		server, err := pgserver.Start(t.Context(), options)
		require.NoError(t, err)
		t.Cleanup(server.Stop)
		return server
	}
	primary := start()
	options.Port = primary.Port()
	dbtest.On(t, primary.URL())
	d := dbtest.New(t, "contacts", migrations)
	r := directory.NewReplica(d)
	stop := keepUp(t, r)
	agree := func(want int64) {
		t.Helper()
		// Connections to the server that is gone fail first.
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			held, kept, err := both(t.Context(), d, r, directory.Query{})
			if assert.NoError(c, err) {
				assert.Equal(c, want, kept.Total)
				assert.Equal(c, kept, held)
			}
		}, 20*time.Second, 10*time.Millisecond)
	}
	insert(t, d, "In both")
	agree(1)

	t.Log("a backup of all files, and contacts that came after it")
	d.Pool.Reset()
	primary.Stop()
	second := filepath.Join(t.TempDir(), "second")
	require.NoError(t, exec.Command("cp", "-a", options.Dir, second).Run())
	primary = start()
	for range 20 {
		until.Holds(t, func() bool {
			_, err := d.Pool.Exec(t.Context(), newContact, uuid.New(), "Lost")
			return err == nil
		}, 10*time.Second, 10*time.Millisecond)
	}
	agree(21)

	t.Log("the other server takes the place, and gives out the ids that the lost contacts had")
	stop()
	require.NoError(t, syscall.Kill(primary.PID(), syscall.SIGQUIT))
	primary.Stop()
	d.Pool.Reset()
	options.Dir = second
	start()
	for range 30 {
		insert(t, d, "New")
	}
	keepUp(t, r)
	require.EqualValues(t, 31, found(t, d, r, directory.Query{}), "at once, before the comparison comes to it")
	require.Zero(t, found(t, d, r, directory.Query{Words: []string{"lost"}}))

	t.Log("a crash that the server itself outlives")
	before := r.Newest().Server()
	var backend int
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select pg_backend_pid()`).Scan(&backend))
	require.NoError(t, syscall.Kill(backend, syscall.SIGKILL))
	agree(31)
	until.Holds(t, func() bool { return newest(t, r).Server() != before }, 10*time.Second, 10*time.Millisecond)
}
