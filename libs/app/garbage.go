package app

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// A process collects its garbage when there is as much of it as garbage, whatever it keeps, and not when there is
// as much as it keeps: one that keeps little would collect all the time, one that keeps much would let it pile up.
const (
	garbage      = 40 << 20
	mostPercent  = 400
	leastPercent = 10
)

// collect sets how often garbage is collected, after each collection anew. Who sets GOGC decides instead.
func collect() {
	if os.Getenv("GOGC") != "" {
		return
	}
	tune(-1)
}

func tune(percent int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	if now := collectAt(live[0].Value.Uint64()); now != percent {
		debug.SetGCPercent(now)
		percent = now
	}
	// What nothing points to is cleaned up at the end of the next collection.
	runtime.AddCleanup(new([16]byte), tune, percent)
}

// collectAt is the percentage of what is kept at which there is as much garbage as allowed.
func collectAt(live uint64) int {
	return min(max(int(garbage*100/max(live, 1)), leastPercent), mostPercent)
}
