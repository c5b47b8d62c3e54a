package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// leaseLasts is how long a lease holds after its last renewal.
	leaseLasts = 12 * time.Second
	leaseRenew = 3 * time.Second
	// leaseGivenUp is the age of the last renewal at which the holder stops, so that it ends before another replica begins.
	leaseGivenUp = leaseLasts - 2*time.Second
)

// errLeaseLost is the cause of the context of work whose lease was not renewed in time: another replica may have it.
var errLeaseLost = errors.New("db: the lease was lost")

// Lease runs f while it holds the lease called name, which one replica has at a time, and returns f's error. held is false if
// another one has it: f did not run. A replica that is frozen or cut off loses its lease after leaseLasts; f's context ends
// then, at the latest when the process runs again. No connection is held while f runs.
func (d *DB) Lease(ctx context.Context, name string, f func(context.Context) error) (held bool, err error) {
	holder, renewed := NewID(), time.Now()
	tag, err := d.Pool.Exec(ctx, `insert into work_lease (name, holder, held_until) values ($1, $2, clock_timestamp() + $3)
		on conflict (name) do update set holder = excluded.holder, held_until = clock_timestamp() + $3
			where not held(work_lease.held_until, $3)`, name, holder, leaseLasts)
	if err != nil {
		return false, fmt.Errorf("claim the lease %s: %w", name, err)
	}
	if tag.RowsAffected() == 0 {
		return false, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() { d.renew(ctx, cancel, name, holder, renewed) })
	defer func() {
		cancel(nil)
		renewing.Wait()
		d.release(ctx, name, holder)
	}()
	return true, f(ctx)
}

// renew renews a lease until ctx ends. It ends ctx with errLeaseLost when another replica has the lease, or may have it soon.
func (d *DB) renew(ctx context.Context, lose context.CancelCauseFunc, name string, holder uuid.UUID, renewed time.Time) {
	for {
		Sleep(ctx, leaseRenew)
		if ctx.Err() != nil {
			return
		}
		begun := time.Now()
		once, cancel := context.WithDeadline(ctx, renewed.Add(leaseGivenUp))
		tag, err := d.Pool.Exec(once, `update work_lease set held_until = clock_timestamp() + $3 where (name, holder) = ($1, $2)`, name, holder, leaseLasts)
		cancel()
		switch {
		case err == nil && tag.RowsAffected() == 1:
			renewed = begun
		case err == nil, time.Since(renewed) >= leaseGivenUp:
			lose(errLeaseLost)
			return
		case ctx.Err() == nil:
			slog.WarnContext(ctx, "renewing a lease is tried again", "lease", name, "error", err)
		}
	}
}

// release frees a lease. If it cannot, the lease ends at its time.
func (d *DB) release(ctx context.Context, name string, holder uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if _, err := d.Pool.Exec(ctx, `delete from work_lease where (name, holder) = ($1, $2)`, name, holder); err != nil {
		slog.WarnContext(ctx, "a lease ends at its time", "lease", name, "error", err)
	}
}
