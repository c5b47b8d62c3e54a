package db

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"
)

// LockKey is the number of a named advisory lock, for SQL that takes the lock itself. A name is the service and the locked
// thing, "booking.calendar"; key tells one calendar from another, "" where there is one only. Two locks that hash to one
// number only wait for each other.
func LockKey(name string, key any) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x1f%v", name, key)
	return int64(h.Sum64())
}

// Lock takes a named advisory lock until the transaction ends, and waits until it is free, at most the pool's lock_timeout.
func (tx *Tx) Lock(ctx context.Context, name string, key any) error {
	_, err := tx.Exec(ctx, lockSQL, LockKey(name, key))
	return err
}

const (
	lockSQL       = `select pg_advisory_xact_lock($1)`
	lockSharedSQL = `select pg_advisory_xact_lock_shared($1)`
)

// QueueLock is Lock as a part of a batch.
func QueueLock(b *pgx.Batch, name string, key any) { b.Queue(lockSQL, LockKey(name, key)) }

// QueueLockShared is QueueLock for transactions that may hold the lock at the same time; Lock waits for all of them.
func QueueLockShared(b *pgx.Batch, name string, key any) { b.Queue(lockSharedSQL, LockKey(name, key)) }
