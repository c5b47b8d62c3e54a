package webhooks

import (
	"context"
	"embed"

	"frontdesk/libs/app"
	"frontdesk/libs/bus"
	"frontdesk/libs/fetch"
	"frontdesk/proto"
	"frontdesk/services/webhooks/internal/signature"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the webhooks service.
var Service = app.Service{Name: "webhooks", Port: 8095, Migrations: migrations, Build: build}

type service struct {
	*app.Kit
	engine *engine
}

func build(ctx context.Context, k *app.Kit) (*app.Parts, error) {
	parts, _, err := assemble(ctx, k)
	return parts, err
}

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
	parts := &app.Parts{
		Ops: s.ops(),
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: s.take},
			{Topic: proto.OrganizationTopic, Handle: s.take},
			{Topic: proto.AppointmentTopic, Handle: s.take},
			{Topic: proto.SubmissionTopic, Handle: s.take},
		},
		Personal: personal,
		Run:      []func(context.Context){s.engine.run},
		Jobs: []app.Job{
			{Name: "retention", Every: tidyEvery, Run: s.expire},
			{Name: "tally", Every: tallyEvery, Run: s.addUp},
		},
	}
	return parts, s, nil
}

func (s *service) fetchOptions() fetch.Options {
	return fetch.Options{Local: s.Config.WebhookLocal, Timeout: signature.AnswerWithin, Keep: answerKept}
}
