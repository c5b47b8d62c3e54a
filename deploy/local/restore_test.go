package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Without a running system there is no process to stop, but the next run would start what was restored by half.
func TestARestoreOfAStoppedSystemThatFailsKeepsItsServicesDown(t *testing.T) {
	said := &spoken{}
	s, contacts, starts := supervised(t, said)
	l := &launch{knobs: knobs{DataDir: filepath.Dir(s.holds)}}
	broken := errors.New("the dump is damaged")
	err := l.heldDown([]string{"contacts"}, func() error { return broken })
	require.ErrorIs(t, err, broken)
	require.ErrorContains(t, err, "contacts stay stopped: restore again")

	require.NoError(t, s.start(contacts))
	require.NoError(t, s.waitReady(t.Context(), "contacts"))
	require.Equal(t, 1, said.count("stays stopped"))
	time.Sleep(300 * time.Millisecond)
	require.Zero(t, starts())
	require.True(t, s.held("contacts-2"), "nor does a replica that the next run adds")
	require.False(t, s.held("booking"), "which was not restored")

	require.NoError(t, l.heldDown([]string{"contacts"}, func() error {
		require.True(t, s.held("contacts"))
		return nil
	}))
	left, err := os.ReadDir(s.holds)
	require.NoError(t, err)
	require.Empty(t, left, "all may start again")
}
