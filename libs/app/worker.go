package app

import (
	"context"
	"log/slog"
	"time"
)

// Worker does continuous work in slices. All replicas run it at the same time, so a slice claims what it does.
type Worker struct {
	Name string
	// Pause is the wait after a slice that found nothing to do, or failed.
	Pause time.Duration
	// Slice does the next slice and reports whether it did anything. After an error the same slice is tried again.
	Slice func(ctx context.Context) (worked bool, err error)
}

// work runs slices until ctx ends.
func (w Worker) work(ctx context.Context) {
	for ctx.Err() == nil {
		worked, err := w.Slice(ctx)
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "worker tries again", "worker", w.Name, "error", err)
		}
		if worked && err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(w.Pause):
		}
	}
}
