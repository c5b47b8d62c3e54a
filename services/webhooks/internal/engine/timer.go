package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
)

// timers wake lanes when a retry is due. They are jobs of River in the service's own schema. A lane that is woken reads
// the delivery rows, so a timer that is lost or fires twice does no harm.
type timers struct {
	client   *river.Client[pgx.Tx]
	stopping *atomic.Bool
}

// timer is a moment at which a webhook has something due.
type timer struct {
	webhook uuid.UUID
	at      time.Time
}

// due is the job of a timer.
type due struct {
	Webhook uuid.UUID `json:"webhook"`
	At      int64     `json:"at"`
}

func (due) Kind() string { return "webhook_due" }

// sweep is the job that wakes lanes whose notification or timer was lost.
type sweep struct{}

func (sweep) Kind() string { return "webhook_sweep" }

const sweepEvery = 15 * time.Second

// newTimers makes the timers, which call wake for a webhook that has something due, and from time to time sweepAll for all.
func newTimers(ctx context.Context, k *app.Kit, wake func(webhook uuid.UUID), sweepAll func(context.Context) error) (*timers, error) {
	driver := riverpgxv5.New(k.DB.Pool)
	if err := migrateRiver(ctx, k.DB, driver); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, j *river.Job[due]) error {
		wake(j.Args.Webhook)
		return nil
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, _ *river.Job[sweep]) error { return sweepAll(ctx) }))
	stopping := new(atomic.Bool)
	cfg := &river.Config{
		Schema:  k.DB.Schema,
		Workers: workers,
		Logger:  slog.New(quiet{slog.Default().Handler(), stopping}),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}},
		// The deliveries hold everything that a completed job could show.
		CompletedJobRetentionPeriod: time.Hour,
		PeriodicJobs: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
			func() (river.JobArgs, *river.InsertOpts) { return sweep{}, nil }, &river.PeriodicJobOpts{ID: "sweep", RunOnStart: true})},
	}
	if k.Config.Now != nil {
		cfg.Test.Time = clock(k.Config.Now)
	}
	client, err := river.NewClient(driver, cfg)
	return &timers{client, stopping}, err
}

// migrateRiver applies River's migrations, on one replica at a time.
func migrateRiver(ctx context.Context, d *db.DB, driver *riverpgxv5.Driver) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: d.Schema, Logger: slog.New(quiet{slog.Default().Handler(), new(atomic.Bool)})})
	if err != nil {
		return err
	}
	pooled, err := d.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// Closing the connection releases the lock.
	conn := pooled.Hijack()
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, fmt.Sprintf(`set lock_timeout = 0; select pg_advisory_lock(%d)`, db.LockKey("webhooks.river", ""))); err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// run works River's jobs until ctx ends.
func (t *timers) run(ctx context.Context) {
	for {
		err := t.client.Start(context.WithoutCancel(ctx))
		if err == nil {
			break
		}
		slog.WarnContext(ctx, "starting the timers is retried", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
	<-ctx.Done()
	t.stopping.Store(true)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := t.client.StopAndCancel(stop); err != nil {
		slog.WarnContext(ctx, "timers did not stop in time", "error", err)
	}
}

// set adds timers in the transaction that schedules the retries. Retries of one webhook in the same second share a timer.
func (t *timers) set(ctx context.Context, tx *db.Tx, timers []timer) error {
	seen := map[due]bool{}
	var jobs []river.InsertManyParams
	for _, x := range timers {
		// Rounded up: a lane that wakes early finds nothing due.
		at := x.at.Add(time.Second - time.Nanosecond).Truncate(time.Second)
		args := due{x.webhook, at.Unix()}
		if seen[args] {
			continue
		}
		seen[args] = true
		jobs = append(jobs, river.InsertManyParams{Args: args, InsertOpts: &river.InsertOpts{ScheduledAt: at, UniqueOpts: river.UniqueOpts{ByArgs: true}}})
	}
	if len(jobs) == 0 {
		return nil
	}
	_, err := t.client.InsertManyTx(ctx, tx.Tx, jobs)
	return err
}

// restored deletes the timers of a backup: the deliveries that they would wake have ended.
func (t *timers) restored(ctx context.Context, d *db.DB) ([]string, error) {
	if _, err := d.Pool.Exec(ctx, `delete from river_job where state in ('available', 'pending', 'retryable', 'running', 'scheduled')`); err != nil {
		return nil, fmt.Errorf("delete the timers of deliveries: %w", err)
	}
	return nil, nil
}

// clock is the service's clock for River, in tests that move it.
type clock func() time.Time

func (c clock) Now() time.Time       { return c() }
func (c clock) NowOrNil() *time.Time { now := c(); return &now }

// quiet passes on River's warnings and errors, until stopping: from then on they are about work that the stop cuts off.
type quiet struct {
	slog.Handler
	stopping *atomic.Bool
}

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	if q.stopping.Load() {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}
