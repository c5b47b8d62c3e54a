package endpoint

import (
	"context"
	"net/url"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/webhook"
	"frontdesk/proto"
)

// publish publishes webhooks as other services know them, by which a rehearsal names who would be called. A pause is not among it: a
// paused webhook gets the event when it is switched on again.
func publish(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	rows, err := tx.Query(ctx, `select id, name, url, events, only_keys, active, version from webhook where id = any($1) order by id`, ids)
	if err != nil {
		return err
	}
	var all []db.Event
	var to webhook.Endpoint
	var address string
	var version int64
	_, err = pgx.ForEachRow(rows, []any{&to.ID, &to.Name, &address, &to.Events, &to.Only, &to.Active, &version}, func() error {
		// A password or a key in an address is nobody else's business.
		if u, err := url.Parse(address); err == nil {
			to.Host = u.Host
		}
		all = append(all, db.Event{Topic: proto.EndpointTopic, Kind: proto.KindEndpointUpdated, Key: to.ID.String(), Version: version, Data: to})
		to = webhook.Endpoint{}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.EmitAll(ctx, all)
}
