package db

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
)

// Request identifies a POST that carries an Idempotency-Key.
type Request struct {
	Caller string // who: the key is theirs
	Op     string
	Key    string
	// Prints are the fingerprints of the request under the service's keys, that of the key in use first. It is stored; any of them
	// recognises the request.
	Prints [][]byte
}

// made reports whether a stored fingerprint is of this request.
func (r Request) made(print []byte) bool {
	return slices.ContainsFunc(r.Prints, func(p []byte) bool { return hmac.Equal(p, print) })
}

// Answer is the stored answer of a request.
type Answer struct {
	Status int
	Body   []byte
	// About are records that the answer is about and does not name.
	About []uuid.UUID
}

// ErrIdempotency says that an Idempotency-Key was used with another request: 409 svc_idempotency_conflict.
var ErrIdempotency = fault.New(409, "svc_idempotency_conflict", "This Idempotency-Key was used with another request.", "reason", "idempotency_key")

// Claim takes the key in the transaction of the change. It returns the stored answer of the first call, or nil when this is
// the first. While the first call runs, the transaction runs again after pauses (see Later), so of a flood of one key one call
// holds a connection. Another request under the same key is 409 svc_idempotency_conflict.
func (tx *Tx) Claim(ctx context.Context, r Request) (*Answer, error) {
	return tx.claim(ctx, r, nil, 0)
}

// claim is Claim for a holder who keeps the key for a time after the transaction; holder is nil for none.
func (tx *Tx) claim(ctx context.Context, r Request, holder *uuid.UUID, held time.Duration) (*Answer, error) {
	// The lock is only tried, because the insert would wait for a first call that has not committed.
	tag, err := tx.Exec(ctx, `
		insert into idempotency (caller, op, key, request, holder, held_until)
			select $1, $2, $3, $4, $5::uuid, clock_timestamp() + $6::interval where pg_try_advisory_xact_lock($7)
		on conflict (caller, op, key) do update set request = excluded.request, status = null, answer = null, about = '{}', people = '{}',
				holder = excluded.holder, held_until = excluded.held_until, created_at = now()
			where idempotency.created_at < now() - interval '24 hours'
				or idempotency.status is null and not held(idempotency.held_until, '1 minute')`,
		r.Caller, r.Op, r.Key, r.Prints[0], holder, held, LockKey("idempotency", r.Caller+"\x1f"+r.Op+"\x1f"+r.Key))
	if err != nil {
		return nil, fmt.Errorf("claim the key of %s: %w", r.Op, err)
	}
	if tag.RowsAffected() == 1 {
		return nil, nil
	}
	var hash []byte
	var a Answer
	var complete bool
	err = tx.QueryRow(ctx, `select request, status is not null, coalesce(status, 0), answer from idempotency where (caller, op, key) = ($1, $2, $3)`,
		r.Caller, r.Op, r.Key).Scan(&hash, &complete, &a.Status, &a.Body)
	switch none := errors.Is(err, pgx.ErrNoRows); {
	case err != nil && !none:
		return nil, fmt.Errorf("read the answer of %s: %w", r.Op, err)
	case !none && !r.made(hash):
		return nil, ErrIdempotency
	case !complete:
		return nil, tx.Later(fault.Unavailable(), firstCallRuns)
	}
	return &a, nil
}

var errLost = fault.Conflict("lost", "Nobody knows whether this was done: it ended in the middle.")

// Answered returns the stored answer of the first call with a key, whatever its request was; nil without such a call. Of a call of Exclusive it is
// svc_unavailable while that runs, and 409 svc_conflict lost if its process died over it.
func (d *DB) Answered(ctx context.Context, r Request) (*Answer, error) {
	var a Answer
	var complete, runs bool
	err := d.Pool.QueryRow(ctx, `select status is not null, coalesce(held(held_until, '1 minute'), false), coalesce(status, 0), answer from idempotency where (caller, op, key) = ($1, $2, $3)`,
		r.Caller, r.Op, r.Key).Scan(&complete, &runs, &a.Status, &a.Body)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the answer of %s: %w", r.Op, err)
	case !complete && runs:
		return nil, fault.Unavailable()
	case !complete:
		return nil, errLost
	}
	return &a, nil
}

// firstCallRuns is how long a call waits for the first call with its key; a context mostly ends before.
const firstCallRuns = 30 * time.Second

// Keep stores the answer of a claimed request, with the records and people that it names: it is deleted when one of them is
// erased.
func (tx *Tx) Keep(ctx context.Context, r Request, a Answer) error { return tx.keep(ctx, r, nil, a) }

// keep is Keep for a holder, whose claim may have ended: svc_unavailable then.
func (tx *Tx) keep(ctx context.Context, r Request, holder *uuid.UUID, a Answer) error {
	about := slices.Clone(a.About)
	var people [][]byte
	if tx.hash != nil {
		var ids []uuid.UUID
		ids, people = erasure.Mentions(tx.hash, []byte(r.Key), a.Body)
		about = append(about, ids...)
	}
	tag, err := tx.Exec(ctx, `update idempotency set status = @status, answer = @answer, about = coalesce(@about::uuid[], '{}'), people = coalesce(@people::bytea[], '{}')
		where (caller, op, key) = (@caller, @op, @key) and holder is not distinct from @holder`,
		Args{"caller": r.Caller, "op": r.Op, "key": r.Key, "holder": holder, "status": a.Status, "answer": a.Body, "about": about, "people": people})
	if err != nil {
		return fmt.Errorf("store the answer of %s: %w", r.Op, err)
	}
	if tag.RowsAffected() == 0 {
		return fmt.Errorf("store the answer of %s, whose claim has ended: %w", r.Op, fault.Unavailable())
	}
	return nil
}

// afterwards is how much longer than its context a claim of Exclusive holds.
const afterwards = 2 * time.Second

// Exclusive runs f outside a transaction, for operations that use the network, and stores its answer. It returns nil then.
// Of several calls with one request, across replicas, one runs; the others wait without a connection and return the stored
// answer. An error of f stores nothing and frees the key. The key of a process that died is free two seconds after the end
// of ctx.
func (d *DB) Exclusive(ctx context.Context, r Request, f func() (Answer, error)) (*Answer, error) {
	held := firstCallRuns
	if end, ok := ctx.Deadline(); ok {
		held = time.Until(end) + afterwards
	}
	holder := NewID()
	var before *Answer
	err := d.Do(ctx, func(tx *Tx) (err error) {
		before, err = tx.claim(ctx, r, &holder, held)
		return err
	})
	if err != nil || before != nil {
		return before, err
	}
	kept := false
	defer func() {
		if !kept {
			d.free(ctx, r, holder)
		}
	}()
	a, err := f()
	if err == nil {
		err = d.Do(ctx, func(tx *Tx) error { return tx.keep(ctx, r, &holder, a) })
	}
	kept = err == nil
	return nil, err
}

// free ends a claim before its time. If it cannot, the claim ends at its time.
func (d *DB) free(ctx context.Context, r Request, holder uuid.UUID) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterwards)
	defer cancel()
	err := d.Do(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, `delete from idempotency where (caller, op, key) = ($1, $2, $3) and holder = $4 and status is null`, r.Caller, r.Op, r.Key, holder)
		return err
	})
	if err != nil {
		slog.WarnContext(ctx, "an Idempotency-Key stays claimed for some seconds", "op", r.Op, "error", err)
	}
}
