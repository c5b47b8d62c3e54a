package db

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// listenAgain is the pause before a lost connection of Listen is replaced.
const listenAgain = 300 * time.Millisecond

// Notify sends a payload on a channel to the Listen of all replicas, once the transaction commits. Equal ones of a transaction are sent once.
func (tx *Tx) Notify(ctx context.Context, channel, payload string) error {
	if _, err := tx.Exec(ctx, `select pg_notify($1, $2)`, channel, payload); err != nil {
		return fmt.Errorf("notify on %s: %w", channel, err)
	}
	return nil
}

// Listen calls heard with the payload of each notification on a channel until ctx ends, on a connection of its own. What is sent while there is
// no connection is lost, so begin is called behind each new one. After an error of begin or heard there is a new connection, too.
func (d *DB) Listen(ctx context.Context, channel string, begin func(context.Context) error, heard func(ctx context.Context, payload string) error) {
	for ctx.Err() == nil {
		if err := d.listen(ctx, channel, begin, heard); err != nil && ctx.Err() == nil {
			slog.WarnContext(ctx, "listening for notifications is retried", "channel", channel, "error", err)
			Sleep(ctx, listenAgain)
		}
	}
}

// listen is Listen on one connection, until it fails.
func (d *DB) listen(ctx context.Context, channel string, begin func(context.Context) error, heard func(context.Context, string) error) error {
	pooled, err := d.Pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(ctx)
	}()
	if _, err := conn.Exec(ctx, `listen `+channel); err != nil {
		return err
	}
	if err := begin(ctx); err != nil {
		return err
	}
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if err := heard(ctx, n.Payload); err != nil {
			return err
		}
	}
}
