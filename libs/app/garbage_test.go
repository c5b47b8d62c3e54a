package app

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

func TestGarbageIsCollectedByHowMuchThereIsOfIt(t *testing.T) {
	require.Equal(t, 400, percentFor(0))
	require.Equal(t, 400, percentFor(1<<20))
	require.Equal(t, 100, percentFor(garbage))
	require.Equal(t, 20, percentFor(5*garbage))
	require.Equal(t, 10, percentFor(1<<40))

	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "")
	tuneGC()
	percent := func() int {
		now := debug.SetGCPercent(-1)
		debug.SetGCPercent(now)
		return now
	}
	require.Equal(t, 400, percent())
	kept := make([]byte, 4*garbage)
	until.Holds(t, func() bool { runtime.GC(); return percent() <= 25 }, 5*time.Second, time.Millisecond)
	runtime.KeepAlive(kept)
	until.Holds(t, func() bool { runtime.GC(); return percent() == 400 }, 5*time.Second, time.Millisecond)
}
