package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"frontdesk/deploy/bench/world"
	"frontdesk/libs/db/pgserver/tether"
)

// fan is how many receivers get each event.
const fan = 10

// hook is a webhook that River delivers.
type hook struct {
	URL   string          `json:"url"`
	Event string          `json:"event"`
	Body  json.RawMessage `json:"body"`
}

// Kind names the job.
func (hook) Kind() string { return "hook" }

// webhooks compares deliveries of events by the service webhooks with jobs of River that sign and post the same.
func (b *bench) webhooks(ctx context.Context) error {
	w, err := world.NewWebhooks(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	var to []*world.Receiver
	for range fan {
		r := world.NewReceiver(false)
		defer r.Close()
		if _, err := w.Subscribe(r.URL); err != nil {
			return err
		}
		to = append(to, r)
	}
	db, err := database(ctx, b.postgres, "river")
	if err != nil {
		return err
	}
	pool, err := pgxpool.New(ctx, db.ConnString())
	if err != nil {
		return err
	}
	defer pool.Close()
	stop, err := startRiver(pool)
	if err != nil {
		return err
	}
	defer stop()
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"event": w.Created.Kind, "id": "evt_x", "data": map[string]any{"contact": w.Created.About("x")}})
	if err != nil {
		return err
	}
	events := max(1, *jobs/fan)
	deliver := func(send func() error) func() (float64, error) {
		return func() (float64, error) {
			for _, r := range to {
				r.Forget()
			}
			start := time.Now()
			if err := send(); err != nil {
				return 0, err
			}
			if err := world.AllHave(events, to); err != nil {
				return 0, err
			}
			rate := float64(events*fan) / time.Since(start).Seconds()
			time.Sleep(300 * time.Millisecond) // what follows deliveries, such as rows that say so, is not in the next turn
			return rate, nil
		}
	}
	alone := func() error {
		var all []river.InsertManyParams
		for range events {
			event := "evt_" + uuid.NewString()
			for _, r := range to {
				all = append(all, river.InsertManyParams{Args: hook{r.URL, event, body}})
			}
		}
		_, err := queue.InsertManyFast(ctx, all)
		return err
	}
	service := func() error {
		for n := 0; n < events; n += 100 {
			if _, _, err := w.Commit(ctx, min(100, events-n)); err != nil {
				return err
			}
		}
		return nil
	}
	if _, err := world.Turns(1, deliver(alone), deliver(service)); err != nil { // connections are made
		return err
	}
	rates, err := world.Turns(*turns, deliver(alone), deliver(service))
	if err != nil {
		return err
	}
	b.table.limits = append(b.table.limits,
		&limited{name: "jobs of River that sign and post, to 10 receivers", rates: rates[0]},
		&limited{name: "deliveries of webhooks alone, each event to 10 receivers", rates: rates[1]})
	return nil
}

// startRiver migrates the database and starts a process that works on its jobs.
func startRiver(pool *pgxpool.Pool) (stop func(), err error) {
	ctx := context.Background()
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	trust, err := world.TrustReceivers()
	if err != nil {
		return nil, err
	}
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "river", pool.Config().ConnString())
	cmd.Env = with("SSL_CERT_FILE=" + trust)
	cmd.Stderr = os.Stderr
	if err := tether.Start(cmd, syscall.SIGTERM); err != nil {
		return nil, err
	}
	return func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		_ = os.Remove(trust)
	}, nil
}

// work works on the jobs in a database until it is interrupted.
func work(database string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	pool, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	post := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 32}}
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(ctx context.Context, j *river.Job[hook]) error {
		t := strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte("whsec_bench"))
		_, _ = io.WriteString(mac, t+".")
		_, _ = mac.Write(j.Args.Body)
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, j.Args.URL, bytes.NewReader(j.Args.Body))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("webhook-id", j.Args.Event)
		req.Header.Set("X-Svc-Signature", "t="+t+",v1="+hex.EncodeToString(mac.Sum(nil)))
		res, err := post.Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if res.StatusCode >= 300 {
			return errors.New(res.Status)
		}
		return nil
	}))
	// With River's own pause of 100 ms between fetches its rate would be the number of workers times ten.
	queue, err := river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: workers, Logger: slog.New(slog.DiscardHandler), FetchCooldown: 5 * time.Millisecond,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 100}},
	})
	if err != nil {
		return err
	}
	if err := queue.Start(ctx); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	<-ctx.Done()
	ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return queue.StopAndCancel(ended)
}
