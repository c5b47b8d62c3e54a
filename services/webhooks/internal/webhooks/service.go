package webhooks

import (
	"context"
	"embed"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/fetch"
	"frontdesk/services/webhooks/internal/signature"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: "webhooks", Port: 8095, Migrations: migrations, Build: build}

type service struct {
	*app.Kit
	engine *engine
}

func build(ctx context.Context, k *app.Kit) (*app.Parts, error) {
	parts, _, err := assemble(ctx, k)
	return parts, err
}

// assemble is build; tests reach the service behind the parts.
func assemble(ctx context.Context, k *app.Kit) (*app.Parts, *service, error) {
	s := &service{Kit: k}
	s.engine = newEngine(s)
	timers, err := newTimers(ctx, k, s.engine)
	if err != nil {
		return nil, nil, err
	}
	s.engine.timers = timers
	parts, err := app.Join(
		app.Room{Name: "webhooks", Parts: app.Parts{Ops: s.ops(), Jobs: []app.Job{{Name: "retention", Every: time.Minute, Run: s.expire}}}},
		app.Room{Name: "message", Parts: s.messageParts()},
		app.Room{Name: "endpoint", Parts: s.endpointParts()},
		app.Room{Name: "receiver", Parts: s.receiverParts()},
		app.Room{Name: "delivery", Parts: s.deliveryParts()},
		app.Room{Name: "engine", Parts: s.engine.engineParts()},
	)
	return parts, s, err
}

// expire deletes what is older than it is kept: deliveries before their messages, without which the log does not show them.
func (s *service) expire(ctx context.Context) error {
	old := s.KeptSince()
	for _, expire := range []func() error{
		func() error { return s.closeOldReceivers(ctx) },
		func() error { return s.expireDeliveries(ctx, old) },
		func() error { return s.expireMessages(ctx, old) },
		func() error { return s.endOldSecrets(ctx) },
	} {
		if err := expire(); err != nil {
			return err
		}
	}
	return nil
}

// answerKept is how much of an answer's body is read and logged, in bytes.
const answerKept = 64 << 10

// Fetch is how receivers are asked.
func (s *service) Fetch() fetch.Options {
	return fetch.Options{Local: s.Config.WebhookLocal, Timeout: signature.AnswerWithin, Keep: answerKept}
}
