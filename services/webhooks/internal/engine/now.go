package engine

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
)

// test sends a test event at once and answers with its delivery after the attempt. A test is never retried.
func (r *Room) test(ctx context.Context, d *db.DB, in op.ByID) (delivery.Delivery, error) {
	var to endpoint.Target
	var j delivery.Job
	err := d.Do(ctx, func(tx *db.Tx) error {
		w, err := endpoint.Get(ctx, tx, in)
		if err != nil {
			return err
		}
		event, err := message.NewTest(tx, w.ID, w.Name)
		if err != nil {
			return err
		}
		if err := message.StoreTest(ctx, tx, event); err != nil {
			return err
		}
		if j, err = delivery.QueueTest(ctx, tx, w.ID, event); err != nil {
			return err
		}
		if to, err = r.endpoints.Target(ctx, tx, w.ID); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "test-webhook", "webhook", w.ID.String())
	})
	if err != nil {
		return delivery.Delivery{}, err
	}
	return r.sendLeased(ctx, d, to, j)
}

// resend sends a delivery once more at once, whatever its status, and answers with it after the attempt. It waits
// for an attempt under way, at most 6 s: two at a time would overwrite each other's result.
func (r *Room) resend(ctx context.Context, d *db.DB, in op.ByID) (delivery.Delivery, error) {
	to, j, err := r.leaseToResend(ctx, d, in.ID)
	for wait := 0; errors.Is(err, delivery.ErrLeased) && wait < 60; wait++ {
		select {
		case <-ctx.Done():
			return delivery.Delivery{}, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
		to, j, err = r.leaseToResend(ctx, d, in.ID)
	}
	if err != nil {
		return delivery.Delivery{}, err
	}
	return r.sendLeased(ctx, d, to, j)
}

// leaseToResend takes the lease of a delivery and audits the resend; ErrLeased if somebody else holds the lease.
func (r *Room) leaseToResend(ctx context.Context, d *db.DB, id uuid.UUID) (to endpoint.Target, j delivery.Job, err error) {
	err = d.Do(ctx, func(tx *db.Tx) (err error) {
		if to, j, err = r.deliveries.LeaseToResend(ctx, tx, id); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "resend-webhook-delivery", "webhook_delivery", id.String())
	})
	return to, j, err
}

// sendLeased makes an attempt whose lease is held, and answers with the delivery after it.
func (r *Room) sendLeased(ctx context.Context, d *db.DB, to endpoint.Target, j delivery.Job) (out delivery.Delivery, err error) {
	if err := r.sendNow(ctx, to, j); err != nil {
		return out, err
	}
	err = d.Read(ctx, func(tx *db.Tx) (err error) {
		out, err = r.deliveries.ByID(ctx, tx, j.ID)
		return err
	})
	return out, err
}
