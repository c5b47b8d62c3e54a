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
	// AtOnce is how many slices a process does at the same time; 0 is one.
	AtOnce int
	// Pause is the time from one slice to the next at least, if the first one found nothing to do or failed.
	Pause time.Duration
	// Slice does the next slice and reports whether it did anything. After an error the same slice is tried again.
	Slice func(ctx context.Context) (worked bool, err error)
}

// longestRest is the wait at most: another process may have left something to do.
const longestRest = 2 * time.Second

// work runs slices until ctx ends. news is closed once this process may have left it something to do.
func (w Worker) work(ctx context.Context, news func() <-chan struct{}) {
	for ctx.Err() == nil {
		heard, began := news(), time.Now()
		worked, err := w.Slice(ctx)
		if worked && err == nil {
			continue
		}
		if err == nil {
			select {
			case <-ctx.Done():
			case <-heard:
			case <-time.After(longestRest):
			}
		} else if ctx.Err() == nil {
			slog.WarnContext(ctx, "worker tries again", "worker", w.Name, "error", err)
		}
		db.Sleep(ctx, w.Pause-time.Since(began))
	}
}
