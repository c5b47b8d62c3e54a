package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

// supervised is a supervisor of a program that writes a line to a file at each start and ends at once, and the number of its starts.
func supervised(t *testing.T, said *spoken) (s *supervisor, crashing process, starts func() int) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "starts")
	s = newSupervisor(dir, time.Hour, filepath.Join(dir, "hold"), said.say, func() {})
	t.Cleanup(func() { s.stopAll([]string{"contacts"}) })
	crashing = process{name: "contacts", stop: syscall.SIGTERM, onDeath: syscall.SIGKILL, ready: func(context.Context) error { return nil },
		command: func() *exec.Cmd { return exec.Command("sh", "-c", "echo started >>"+file+"; exit 1") }}
	return s, crashing, func() int {
		b, err := os.ReadFile(file)
		if err != nil {
			return 0
		}
		return bytes.Count(b, []byte("\n"))
	}
}

type spoken struct {
	mu  sync.Mutex
	all []string
}

func (l *spoken) say(format string, _ ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, strings.TrimSpace(format))
}

func (l *spoken) count(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.all {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// holdDown holds a process down as a restore does, and returns what lets it go.
func holdDown(t *testing.T, s *supervisor, name string) (release func()) {
	t.Helper()
	lock, err := lockHolds(s.holds)
	require.NoError(t, err)
	file := filepath.Join(s.holds, name)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, lock.Close())
	return func() { require.NoError(t, os.Remove(file)) }
}

// A service that keeps crashing is the very case for a restore, and between two starts there is nothing to stop.
func TestAServiceThatIsHeldBetweenTwoStartsStaysDown(t *testing.T) {
	s, contacts, starts := supervised(t, &spoken{})
	require.NoError(t, s.start(contacts))
	until.Holds(t, func() bool { return starts() == 2 }, 10*time.Second, time.Millisecond)
	release := holdDown(t, s, "contacts")
	before := starts()
	time.Sleep(1500 * time.Millisecond) // the pauses that were to come: 0.4 and 0.8 s
	require.Equal(t, before, starts())
	release()
	until.Holds(t, func() bool { return starts() > before }, 10*time.Second, time.Millisecond)
}

func TestAServiceThatIsHeldIsNotStartedByANewRunEither(t *testing.T) {
	said := &spoken{}
	s, contacts, starts := supervised(t, said)
	release := holdDown(t, s, "contacts")
	require.NoError(t, s.start(contacts))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, s.waitReady(ctx, "contacts"), "the others are not kept waiting")
	require.Equal(t, 1, said.count("stays stopped"))
	time.Sleep(300 * time.Millisecond)
	require.Zero(t, starts())
	release()
	until.Holds(t, func() bool { return starts() > 0 }, 10*time.Second, time.Millisecond)
}
