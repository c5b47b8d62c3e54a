package db

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	Hash   []byte // SHA-256 of the request
}

// Answer is the stored answer of a request.
type Answer struct {
	Status int
	Body   []byte
	// About are records that the answer is about and does not name.
	About []uuid.UUID
}

// Claim takes the key in the transaction of the change. It returns the stored answer of the first call, or nil when this is
// the first; while the first call runs it waits. Another request under the same key is 409 svc_idempotency_conflict, and a
// key that changes hands again and again is svc_unavailable.
func (tx *Tx) Claim(ctx context.Context, r Request) (*Answer, error) {
	for range 3 {
		tag, err := tx.Exec(ctx, `
			insert into idempotency (caller, op, key, request) values ($1, $2, $3, $4)
			on conflict (caller, op, key) do update set request = excluded.request, status = null, answer = null, created_at = now()
				where idempotency.created_at < now() - interval '24 hours'`,
			r.Caller, r.Op, r.Key, r.Hash)
		if err != nil {
			return nil, err
		}
		if tag.RowsAffected() == 1 {
			return nil, nil
		}
		a, err := tx.stored(ctx, r)
		if !errors.Is(err, pgx.ErrNoRows) {
			return a, err
		}
	}
	return nil, fault.Unavailable()
}

func (tx *Tx) stored(ctx context.Context, r Request) (*Answer, error) {
	var hash []byte
	var a Answer
	err := tx.QueryRow(ctx, `select request, coalesce(status, 0), answer from idempotency where (caller, op, key) = ($1, $2, $3)`,
		r.Caller, r.Op, r.Key).Scan(&hash, &a.Status, &a.Body)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(hash, r.Hash) {
		return nil, fault.New(409, "svc_idempotency_conflict", "This Idempotency-Key was used with another request.", "reason", "idempotency_key")
	}
	return &a, nil
}

// Keep stores the answer of a claimed request, with the records and people that it names: it is deleted when one of them is
// erased.
func (tx *Tx) Keep(ctx context.Context, r Request, a Answer) error {
	about := slices.Clone(a.About)
	var people [][]byte
	if tx.hash != nil {
		var ids []uuid.UUID
		ids, people = erasure.Mentions(tx.hash, append([]byte(r.Key+"\n"), a.Body...))
		about = append(about, ids...)
	}
	_, err := tx.Exec(ctx, `update idempotency set status = $4, answer = $5, about = coalesce($6::uuid[], '{}'), people = coalesce($7::bytea[], '{}') where (caller, op, key) = ($1, $2, $3)`,
		r.Caller, r.Op, r.Key, a.Status, a.Body, about, people)
	if err != nil {
		return fmt.Errorf("store the answer of %s: %w", r.Op, err)
	}
	return nil
}

// Exclusive runs f outside a transaction, for operations that use the network, and stores its answer. It returns nil then.
// Of several calls with one request, across replicas, one runs; the others wait and return the stored answer. An error of
// f stores nothing.
func (d *DB) Exclusive(ctx context.Context, r Request, f func() (Answer, error)) (*Answer, error) {
	conn, err := d.Pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()
	key := LockKey(d.Schema+".idempotency", r.Caller+"\x1f"+r.Op+"\x1f"+r.Key)
	if _, err := conn.Exec(ctx, `select pg_advisory_lock($1)`, key); err != nil {
		return nil, err
	}
	defer func() {
		// The lock belongs to the connection: one that cannot give it back must not return to the pool.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if _, err := conn.Exec(ctx, `select pg_advisory_unlock($1)`, key); err != nil {
			_ = conn.Conn().Close(ctx)
		}
	}()
	var before *Answer
	err = d.Do(ctx, func(tx *Tx) error {
		a, err := tx.stored(ctx, r)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		before = a
		return err
	})
	if err != nil || before != nil {
		return before, err
	}
	a, err := f()
	if err != nil {
		return nil, err
	}
	return nil, d.Do(ctx, func(tx *Tx) error {
		if _, err := tx.Claim(ctx, r); err != nil {
			return err
		}
		return tx.Keep(ctx, r, a)
	})
}
