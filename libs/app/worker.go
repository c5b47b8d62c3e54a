package app

import (
	"context"
	"log/slog"
	"time"

	"frontdesk/libs/db"
)

// Worker does continuous work in slices. All replicas run it at the same time, so a slice claims what it does.
type Worker struct {
	Name string
	// Pause is the wait after a slice that found nothing to do, or failed. It becomes two seconds while nothing happens in this process.
	Pause time.Duration
	// Slice does the next slice and reports whether it did anything. After an error the same slice is tried again.
	Slice func(ctx context.Context) (worked bool, err error)
}

// longestRest is the wait at most: another process may have left something to do.
const longestRest = 2 * time.Second

// work runs slices until ctx ends. wakes changes when this process may have left it something to do.
func (w Worker) work(ctx context.Context, wakes func() int64) {
	for ctx.Err() == nil {
		before, began := wakes(), time.Now()
		worked, err := w.Slice(ctx)
		if err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "worker tries again", "worker", w.Name, "error", err)
		}
		if worked && err == nil {
			continue
		}
		for ctx.Err() == nil {
			db.Sleep(ctx, w.Pause)
			if err != nil || wakes() != before || time.Since(began) >= longestRest {
				break
			}
		}
	}
}
