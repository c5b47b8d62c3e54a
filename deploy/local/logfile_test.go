package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestALogIsClosedEachDayAndDeletedAfterItsDays(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traefik.log")
	l, err := openLog(path, 3*24*time.Hour, func(string) {})
	require.NoError(t, err)
	day := time.Now()
	l.now = func() time.Time { return day }
	files := func() (closed []string, all string) {
		names, err := filepath.Glob(path + "*")
		require.NoError(t, err)
		for _, name := range names {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			if all += string(b); name != path {
				closed = append(closed, name)
			}
		}
		return closed, all
	}
	write := func(text string) {
		_, err := l.Write([]byte(text + "\n"))
		require.NoError(t, err)
	}
	write("day 0")
	write("day 0 again")
	closed, _ := files()
	require.Empty(t, closed)
	for _, text := range []string{"day 1", "day 2", "day 3", "day 4"} {
		day = day.Add(24 * time.Hour)
		write(text)
	}
	closed, all := files()
	require.Len(t, closed, 3, "day 4 is open, day 0 is deleted")
	require.NotContains(t, all, "day 0")
	require.Contains(t, all, "day 1")

	// A process that starts again the next day does not write into yesterday's file.
	yesterday := time.Now().Add(-24 * time.Hour)
	require.NoError(t, os.Chtimes(path, yesterday, yesterday))
	l, err = openLog(path, 3*24*time.Hour, func(string) {})
	require.NoError(t, err)
	write("now")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "now\n", string(b))
}

func TestAFloodOfLogDoesNotFillTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "traefik.log")
	l, err := openLog(path, 3*24*time.Hour, func(string) {})
	require.NoError(t, err)
	now := time.Now()
	l.now = func() time.Time { now = now.Add(time.Millisecond); return now }
	for range closedLogs + 5 {
		l.size = logSize + 1
		_, err := l.Write([]byte(strings.Repeat("x", 10) + "\n"))
		require.NoError(t, err)
	}
	closed, err := filepath.Glob(path + ".*")
	require.NoError(t, err)
	require.Len(t, closed, closedLogs)
}
