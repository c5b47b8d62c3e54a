package webhooks

import (
	"context"
	"embed"
	"time"

	"frontdesk/libs/app"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/engine"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/internal/receiver"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: "webhooks", Port: 8095, Migrations: migrations, Build: build}

// rooms are the service from the ground up.
type rooms struct {
	messages   *message.Room
	endpoints  *endpoint.Room
	receivers  *receiver.Room
	deliveries *delivery.Room
	engine     *engine.Room
}

func build(ctx context.Context, k *app.Kit) (*app.Parts, error) {
	var r rooms
	r.messages = message.New(k, delivery.Queue, delivery.Blank)
	r.endpoints = endpoint.New(k, receiver.Own(k), delivery.Drop)
	r.receivers = receiver.New(k, r.endpoints)
	r.deliveries = delivery.New(k, r.endpoints)
	r.engine = engine.New(ctx, k, r.endpoints, r.receivers, r.deliveries)
	return app.Join(
		app.Room{Name: "webhooks", Parts: app.Parts{Ops: r.operations(k), Jobs: []app.Job{{Name: "retention", Every: time.Minute, Run: r.expire}}}},
		app.Room{Name: "message", Parts: r.messages.Parts()},
		app.Room{Name: "endpoint", Parts: r.endpoints.Parts()},
		app.Room{Name: "receiver", Parts: r.receivers.Parts()},
		app.Room{Name: "delivery", Parts: r.deliveries.Parts()},
		app.Room{Name: "engine", Parts: r.engine.Parts()},
	)
}

// expire deletes what is older than it is kept: deliveries before their messages, without which the log does not show them.
func (r rooms) expire(ctx context.Context) error {
	old := r.messages.KeptSince()
	if err := r.receivers.Expire(ctx); err != nil {
		return err
	}
	if err := r.deliveries.Expire(ctx, old); err != nil {
		return err
	}
	if err := r.messages.Expire(ctx, old); err != nil {
		return err
	}
	return r.endpoints.Expire(ctx)
}
