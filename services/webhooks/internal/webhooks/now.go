package webhooks

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// testWebhook sends a test event at once and answers with its delivery after the attempt. A test is never retried.
func (e *engine) testWebhook(ctx context.Context, d *db.DB, in op.ByID) (Delivery, error) {
	var to Target
	var j Job
	err := d.Do(ctx, func(tx *db.Tx) error {
		w, err := Get(ctx, tx, in)
		if err != nil {
			return err
		}
		b, err := Test(tx, w.ID, w.Name)
		if err != nil {
			return err
		}
		text, err := b.Text()
		if err != nil {
			return err
		}
		if err := StoreTest(ctx, tx, b, text); err != nil {
			return err
		}
		if j, err = QueueTest(ctx, tx, w.ID, b, text); err != nil {
			return err
		}
		if to, err = e.s.Target(ctx, tx, w.ID); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "test-webhook", "webhook", w.ID.String())
	})
	if err != nil {
		return Delivery{}, err
	}
	return e.sendLeased(ctx, d, to, j)
}

// resendDelivery sends a delivery once more at once, whatever its status, and answers with it after the attempt. It waits
// for an attempt under way, at most 6 s: two at a time would overwrite each other's result.
func (e *engine) resendDelivery(ctx context.Context, d *db.DB, in op.ByID) (Delivery, error) {
	to, j, err := e.leaseToResend(ctx, d, in.ID)
	for wait := 0; errors.Is(err, ErrLeased) && wait < 60; wait++ {
		select {
		case <-ctx.Done():
			return Delivery{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		to, j, err = e.leaseToResend(ctx, d, in.ID)
	}
	if err != nil {
		return Delivery{}, err
	}
	return e.sendLeased(ctx, d, to, j)
}

// leaseToResend takes the lease of a delivery and audits the resend; ErrLeased if somebody else holds the lease.
func (e *engine) leaseToResend(ctx context.Context, d *db.DB, id uuid.UUID) (to Target, j Job, err error) {
	err = d.Do(ctx, func(tx *db.Tx) (err error) {
		if to, j, err = e.s.LeaseToResend(ctx, tx, id); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "resend-webhook-delivery", "webhook_delivery", id.String())
	})
	return to, j, err
}

// sendLeased makes an attempt whose lease is held, and answers with the delivery after it.
func (e *engine) sendLeased(ctx context.Context, d *db.DB, to Target, j Job) (out Delivery, err error) {
	if err := e.sendNow(ctx, to, j); err != nil {
		return out, err
	}
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		out, err = ByID(ctx, tx, j.ID)
		return err
	})
	return out, err
}
