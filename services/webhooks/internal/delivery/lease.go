package delivery

import (
	"context"
	"errors"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/services/webhooks/internal/endpoint"
)

// ErrLeased means that an attempt of the delivery is under way.
var ErrLeased = fault.Conflict("in_flight", "This delivery is being sent just now.")

// LeaseToResend takes the lease of a delivery for an attempt that a person asks for; ErrLeased if somebody else holds the lease. It locks
// the lease before the delivery, as results do. Because of the second lock a replay sees the lease, or the resend sees the status
// that a replay has set.
func (r *Room) LeaseToResend(ctx context.Context, tx *db.Tx, id uuid.UUID) (to endpoint.Target, j Job, err error) {
	if _, err := ByID(ctx, tx, id); err != nil {
		return to, j, err
	}
	lease := uuid.New()
	var webhook uuid.UUID
	err = tx.QueryRow(ctx, `
		insert into lease (delivery, webhook, token, until) select id, webhook, $2, now() + $3::interval from delivery where id = $1
		on conflict (delivery) do update set token = excluded.token, until = excluded.until where lease.until < now()
		returning webhook`, id, lease, LeaseFor).Scan(&webhook)
	if errors.Is(err, pgx.ErrNoRows) {
		return to, j, ErrLeased
	}
	if err != nil {
		return to, j, err
	}
	if _, err := tx.Exec(ctx, `select from delivery where id = $1 for no key update`, id); err != nil {
		return to, j, err
	}
	if to, err = r.endpoints.Target(ctx, tx, webhook); err != nil {
		return to, j, err
	}
	rows, err := tx.Query(ctx, `select d.id, $2::uuid as lease, m.event, d.message, m.payload, m.traceparent, d.status, d.failed_attempts, d.next_attempt_at, d.once
		from delivery d join message m on m.id = d.message where d.id = $1`, id, lease)
	if err != nil {
		return to, j, err
	}
	j, err = pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[Job])
	j.Resent = true
	return to, j, err
}
