// Package memory keeps the memory of a process near what it works with.
package memory

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Go collects when the heap has grown by a percentage of what is live. With little live memory that is all the time, with
// much it lets garbage pile up. So the percentage is set to allow about the same garbage whatever is live, within bounds.
const (
	mostPercent  = 400
	leastPercent = 10
)

// A process is at rest when it allocates less than restful bytes in the time of a look. Then it returns what it holds beside its live heap,
// if that is worth a collection: as much as slack, or an eighth of a large heap.
const (
	looks   = 20 * time.Second
	restful = 16 << 20
	slack   = 6 << 20
)

// Keep makes the process collect after about so many bytes of new garbage, whatever its live heap is, and has it return its garbage
// to the system within a minute of rest. What was live in the last collection counts as garbage after the next, which the runtime
// starts two minutes later at most. Keep runs until ctx ends. The environment variable GOGC, where it is set, decides instead when
// to collect.
func Keep(ctx context.Context, garbage uint64) {
	if os.Getenv("GOGC") == "" {
		retune(tuning{garbage, -1})
	}
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for before := look(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now := look()
		if now.rests(before) {
			debug.FreeOSMemory()
		}
		before = now
	}
}

// tuning is the garbage that is allowed, and the percentage in force; -1 if that is not known.
type tuning struct {
	garbage uint64
	percent int
}

// retune sets the percentage for the live heap of now, and runs again after the next collection.
func retune(t tuning) {
	if percent := percentFor(look().live, t.garbage); percent != t.percent {
		debug.SetGCPercent(percent)
		t.percent = percent
	}
	// The next collection finds that nothing points to the new array, and calls the cleanup.
	runtime.AddCleanup(new([16]byte), retune, t)
}

// percentFor is the GOGC percentage at which live bytes come with about garbage bytes.
func percentFor(live, garbage uint64) int {
	return min(max(int(garbage*100/max(live, 1)), leastPercent), mostPercent)
}

// heap is the heap of the process at a time, in bytes.
type heap struct {
	allocated uint64 // since the process began
	live      uint64 // at the end of the last collection
	held      uint64 // from the system
}

// rests reports whether little was allocated since before, and enough is held to be returned.
func (h heap) rests(before heap) bool {
	return h.allocated-before.allocated < restful && h.held > h.live+max(slack, h.live/8)
}

func look() heap {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}, {Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(s)
	n := func(i int) uint64 { return s[i].Value.Uint64() }
	return heap{allocated: n(0), live: n(1), held: n(2) + n(3) + n(4)}
}
