package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// Go collects when the heap has grown by a percentage of what is live. With little live memory that is all the time, with
// much it lets garbage pile up. So the percentage is set to allow about the same garbage whatever is live, within bounds.
const (
	garbage      = 40 << 20
	mostPercent  = 400
	leastPercent = 10
)

// tuneGC makes the process collect after about 40 MB of new garbage, whatever its live heap is. The environment variable
// GOGC, where it is set, decides instead.
func tuneGC() {
	if os.Getenv("GOGC") != "" {
		return
	}
	retuneGC(-1)
}

// retuneGC sets the percentage for the live heap of now, and runs again after the next collection. percent is the one in
// force, -1 when it is not known.
func retuneGC(percent int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if now := percentFor(live[0].Value.Uint64()); now != percent {
		debug.SetGCPercent(now)
		percent = now
	}
	// The next collection finds that nothing points to the new array, and calls the cleanup.
	runtime.AddCleanup(new([16]byte), retuneGC, percent)
}

// percentFor is the GOGC percentage at which live bytes come with about garbage bytes.
func percentFor(live uint64) int {
	return min(max(int(garbage*100/max(live, 1)), leastPercent), mostPercent)
}
