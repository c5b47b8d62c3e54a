package app

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// waitsFor is what the service needs before it can work; nothing when it is ready.
func (r *runner) waitsFor() (all []waiting) {
	switch {
	case r.stopping.Load():
		return []waiting{{"its stop", "the process was told to stop and finishes its requests"}}
	case !r.built.Load():
		return []waiting{*r.step.Load()}
	}
	for _, t := range r.tables() {
		if !t.Ready() {
			why := cmp.Or(t.Err(), errors.New("its messages are being read"))
			all = append(all, waiting{"topic " + t.Topic(), why.Error()})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.parts.Ready)) {
		if err := r.parts.Ready[name](); err != nil {
			all = append(all, waiting{name, err.Error()})
		}
	}
	if !r.door.isOpen() && len(all) == 0 {
		all = []waiting{{"its start", "the operations are being prepared"}}
	}
	return all
}

// ready reports whether the service can work.
func (r *runner) ready() bool { return len(r.waitsFor()) == 0 }

// copied reports whether all tables are ready.
func (r *runner) copied() bool {
	return !slices.ContainsFunc(r.tables(), func(t Table) bool { return !t.Ready() })
}
