package db

import (
	"context"
	"math/rand/v2"
	"time"

	"frontdesk/libs/fault"
)

const (
	firstPause   = 15 * time.Millisecond
	longestPause = 200 * time.Millisecond
)

// arrives is how long the copy of a record that another service made just now may take to get here.
const arrives = 2 * time.Second

// Arriving is svc_not_found for a record of another service that may still be on its way: the unit of work runs again until the
// record is here or two seconds are over.
func (tx *Tx) Arriving(what string) error { return tx.Later(fault.NotFound(what), arrives) }

// Later is the error of a unit of work that may end otherwise in a moment, because of another process: a record is still on
// its way, or another call is at the same work. The unit runs again after a pause without a connection, see RunAgainAfter.
// Later returns err itself once within has passed since the unit began.
func (tx *Tx) Later(err error, within time.Duration) error {
	waited := time.Since(tx.Began)
	if waited >= within {
		return err
	}
	pause := min(firstPause+waited/4, longestPause)
	// Units that wait for one thing spread.
	pause = min(pause/2+rand.N(pause), within-waited)
	return RunAgainAfter(func(ctx context.Context) error {
		Sleep(ctx, pause)
		return ctx.Err()
	})
}
