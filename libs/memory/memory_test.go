package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

func TestGarbageIsCollectedByHowMuchThereIsOfIt(t *testing.T) {
	const garbage = 40 << 20
	require.Equal(t, 400, percentFor(0, garbage))
	require.Equal(t, 400, percentFor(1<<20, garbage))
	require.Equal(t, 100, percentFor(garbage, garbage))
	require.Equal(t, 20, percentFor(5*garbage, garbage))
	require.Equal(t, 10, percentFor(1<<40, garbage))

	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	retune(tuning{garbage, -1})
	percent := func() int {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return int(s[0].Value.Uint64())
	}
	require.Equal(t, 400, percent())
	kept := make([]byte, 4*garbage)
	until.Holds(t, func() bool { runtime.GC(); return percent() <= 25 }, 5*time.Second, time.Millisecond)
	runtime.KeepAlive(kept)
	until.Holds(t, func() bool { runtime.GC(); return percent() == 400 }, 5*time.Second, time.Millisecond)
}

func TestAProcessReturnsMemoryOnlyAtRestAndWhenItIsWorthACollection(t *testing.T) {
	before := heap{allocated: 100 << 20}
	for _, c := range []struct {
		what                  string
		allocated, live, held uint64
		rests                 bool
	}{
		{"rests, with garbage", 104 << 20, 8 << 20, 30 << 20, true},
		{"works", 200 << 20, 8 << 20, 30 << 20, false},
		{"rests, with little garbage", 104 << 20, 8 << 20, 13 << 20, false},
		{"rests, with little garbage beside a large heap", 104 << 20, 400 << 20, 440 << 20, false},
		{"rests, with garbage beside a large heap", 104 << 20, 400 << 20, 460 << 20, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			require.Equal(t, c.rests, heap{c.allocated, c.live, c.held}.rests(before))
		})
	}

	runtime.GC()
	percent := debug.SetGCPercent(-1) // or making the garbage starts a collection that finds it live
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	garbage := make([]byte, 64<<20)
	garbage[0]++
	full := look()
	require.True(t, full.rests(full), "%+v", full)
	debug.FreeOSMemory()
	returned := look()
	require.False(t, returned.rests(full), "%+v", returned)
}

func TestGarbageThatWasLiveInTheLastCollectionIsReturnedAfterTheNext(t *testing.T) {
	garbage := make([]byte, 64<<20)
	runtime.GC()
	runtime.KeepAlive(garbage)
	kept := look()
	require.False(t, kept.rests(kept), "%+v", kept)
	runtime.GC()
	full := look()
	require.True(t, full.rests(full), "%+v", full)
}
