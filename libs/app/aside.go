package app

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/fault"
)

// Aside holds the keys of rows that work failed on for their own sake, so that one bad row does not stop the rest. A row stays
// aside for a second, then it is tried again; each further failure doubles the time, up to a quarter of an hour. Each
// process has its own: a new one tries every row at once.
//
// Work claims Size rows other than Keys in a transaction, and ends with Did.
type Aside[K comparable] struct {
	work   string
	failed metric.Int64Counter

	mu   sync.Mutex
	rows map[K]*setAside
	// alone is how many more rows are to be done one at a time, because one of several failed.
	alone int
}

type setAside struct {
	until time.Time
	wait  time.Duration
}

const (
	firstAside   = time.Second
	longestAside = 15 * time.Minute
)

// NewAside makes an empty one. work names the job or worker in logs and in the metric frontdesk.aside.
func NewAside[K comparable](work string) *Aside[K] {
	failed, _ := otel.Meter("frontdesk").Int64Counter("frontdesk.aside", metric.WithUnit("{row}"), metric.WithDescription("rows that work failed on and went past"))
	a := &Aside[K]{work: work, failed: failed, rows: map[K]*setAside{}}
	a.count(context.Background(), 0) // an alert sees the first one only behind a 0
	return a
}

func (a *Aside[K]) count(ctx context.Context, rows int64) {
	a.failed.Add(ctx, rows, metric.WithAttributes(attribute.String("work", a.work)))
}

// Keys are the rows to leave out now; never nil, so that SQL may compare with all of them.
func (a *Aside[K]) Keys() []K {
	a.mu.Lock()
	defer a.mu.Unlock()
	keys := make([]K, 0, len(a.rows))
	for k, row := range a.rows {
		if time.Now().Before(row.until) {
			keys = append(keys, k)
		}
	}
	return keys
}

// Size is how many rows to work on together: most, or 1 after a failure of several, until each of these had its turn.
func (a *Aside[K]) Size(most int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.alone > 0 {
		return 1
	}
	return most
}

// Did ends work on rows that succeeded, or failed with err. It reports whether there were any. An error comes back unless
// the rows are its cause: then a single row goes aside, and several are done again one at a time.
func (a *Aside[K]) Did(ctx context.Context, rows []K, err error) (worked bool, _ error) {
	switch {
	case len(rows) == 0:
		return false, err
	case err == nil:
		a.mu.Lock()
		defer a.mu.Unlock()
		a.alone = max(0, a.alone-len(rows))
		for _, k := range rows {
			delete(a.rows, k)
		}
	case ctx.Err() != nil || fault.Transient(err):
		return true, err
	case len(rows) == 1:
		a.take(ctx, rows[0], err)
	default:
		a.mu.Lock()
		defer a.mu.Unlock()
		a.alone = len(rows)
	}
	return true, nil
}

// take sets a row aside, and logs and counts it.
func (a *Aside[K]) take(ctx context.Context, key K, err error) {
	a.mu.Lock()
	maps.DeleteFunc(a.rows, func(_ K, row *setAside) bool { return time.Since(row.until) > longestAside }) // done elsewhere, or gone
	row := a.rows[key]
	if row == nil {
		row = &setAside{wait: firstAside / 2}
		a.rows[key] = row
	}
	a.alone = max(0, a.alone-1)
	row.wait = min(2*row.wait, longestAside)
	row.until = time.Now().Add(row.wait)
	wait := row.wait
	a.mu.Unlock()
	a.count(ctx, 1)
	slog.ErrorContext(ctx, "row set aside", "work", a.work, "row", fmt.Sprint(key), "again_after", wait.String(), "error", err)
}
