package webhooks

import (
	"context"
	"embed"

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
	if err := s.watch(); err != nil {
		return nil, nil, err
	}
	return &app.Parts{
		Ops:      s.ops(),
		Follows:  s.follows(),
		Personal: s.personal(),
		Run:      []func(context.Context){s.engine.run},
		Jobs:     s.jobs(),
	}, s, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "retention", Every: tidyEvery, Run: s.expire},
		{Name: "tally", Every: tallyEvery, Run: s.addUp},
	}
}

func (s *service) fetchOptions() fetch.Options {
	return fetch.Options{Local: s.Config.WebhookLocal, Timeout: signature.AnswerWithin, Keep: answerKept}
}
