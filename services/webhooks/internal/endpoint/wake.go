package endpoint

import (
	"context"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
)

// WakeChannel is where notifications name webhooks that have something to send.
const WakeChannel = "webhooks_due"

// Notify begins a statement that names webhooks in one notification, sorted: Postgres then sends equal notifications of a transaction
// once. A payload has room for some 200 ids; an empty one asks for a sweep of all webhooks. Its argument @channel is WakeChannel.
const Notify = `select pg_notify(@channel, case when count(*) <= 200 then string_agg(webhook::text, ',' order by webhook) else '' end) `

// Wake wakes the webhook's lane in every process, once the transaction commits.
func Wake(ctx context.Context, tx *db.Tx, webhook uuid.UUID) error {
	_, err := tx.Exec(ctx, Notify+`from (select @webhook::uuid as webhook) as w`, pgx.NamedArgs{"channel": WakeChannel, "webhook": webhook})
	return err
}
