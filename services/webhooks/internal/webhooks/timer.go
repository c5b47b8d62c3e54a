package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"frontdesk/libs/app"
	"frontdesk/libs/db"
)

// timers wake lanes when a retry is due. They are River's jobs, in the service's own schema, and carry no
// truth: a lane that is woken looks at the delivery rows.
type timers struct {
	client *river.Client[pgx.Tx]
}

// timer is a moment at which a webhook has something due.
type timer struct {
	webhook uuid.UUID
	at      time.Time
}

// due is the job of one timer. Retries of one webhook at one second share it.
type due struct {
	Webhook uuid.UUID `json:"webhook"`
	At      int64     `json:"at"`
}

func (due) Kind() string { return "webhook_due" }

// sweep is the job that looks for what nobody was woken for.
type sweep struct{}

func (sweep) Kind() string { return "webhook_sweep" }

const sweepEvery = 15 * time.Second

func newTimers(ctx context.Context, k *app.Kit, e *engine) (*timers, error) {
	driver := riverpgxv5.New(k.DB.Pool)
	if err := migrateRiver(ctx, k.DB, driver); err != nil {
		return nil, err
	}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(_ context.Context, j *river.Job[due]) error {
		e.poke(j.Args.Webhook)
		return nil
	}))
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, _ *river.Job[sweep]) error { return e.sweep(ctx) }))
	cfg := &river.Config{
		Schema:  k.DB.Schema,
		Workers: workers,
		Logger:  slog.New(quiet{slog.Default().Handler()}),
		Queues:  map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 10}},
		// They say nothing that the deliveries do not.
		CompletedJobRetentionPeriod: time.Hour,
		PeriodicJobs: []*river.PeriodicJob{river.NewPeriodicJob(river.PeriodicInterval(sweepEvery),
			func() (river.JobArgs, *river.InsertOpts) { return sweep{}, nil }, &river.PeriodicJobOpts{ID: "sweep", RunOnStart: true})},
	}
	if k.Config.Now != nil {
		cfg.Test.Time = clock(k.Config.Now)
	}
	client, err := river.NewClient(driver, cfg)
	return &timers{client}, err
}

// migrateRiver brings River's tables up to date, on one replica at a time.
func migrateRiver(ctx context.Context, d *db.DB, driver *riverpgxv5.Driver) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: d.Schema, Logger: slog.New(quiet{slog.Default().Handler()})})
	if err != nil {
		return err
	}
	pooled, err := d.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	// The lock ends with the connection.
	conn := pooled.Hijack()
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, fmt.Sprintf(`set lock_timeout = 0; select pg_advisory_lock(%d)`, db.LockKey("webhooks.river", ""))); err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// run works the timers until ctx ends.
func (t *timers) run(ctx context.Context) {
	for {
		err := t.client.Start(context.WithoutCancel(ctx))
		if err == nil {
			break
		}
		slog.WarnContext(ctx, "timers start again", "error", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
	<-ctx.Done()
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 3*time.Second)
	defer cancel()
	if err := t.client.StopAndCancel(stop); err != nil {
		slog.WarnContext(ctx, "timers did not stop in time", "error", err)
	}
}

// set makes the timers in the transaction that makes the retries.
func (t *timers) set(ctx context.Context, tx *db.Tx, timers []timer) error {
	seen := map[due]bool{}
	var jobs []river.InsertManyParams
	for _, x := range timers {
		// Rounded up: a lane that is woken too early would find nothing.
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

// clock gives River the service's clock where a test has set one.
type clock func() time.Time

func (c clock) Now() time.Time       { return c() }
func (c clock) NowOrNil() *time.Time { now := c(); return &now }

// quiet keeps what River says to warnings, and leaves out that it was told to stop.
type quiet struct{ slog.Handler }

func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	stopped := false
	r.Attrs(func(a slog.Attr) bool {
		stopped = strings.Contains(a.Value.String(), context.Canceled.Error())
		return !stopped
	})
	if stopped {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}
