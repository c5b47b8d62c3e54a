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
	return &app.Parts{
		Ops:      s.ops(),
		Follows:  s.follows(),
		Personal: s.personal(),
		Restored: s.restored,
		Sealed: []app.Sealed{{Table: "webhook", Column: "secret", Purpose: purposeOf},
			{Table: "webhook", Column: "old_secret", Purpose: purposeOf}},
		Run:  []func(context.Context){s.engine.run},
		Jobs: s.jobs(),
		Gauges: []app.Gauge{
			{Name: "webhook.waiting", Unit: "{delivery}", Doc: "deliveries that wait, by status", Label: "status",
				SQL: `select s, coalesce(sum(n), 0) from unnest(array['queued', 'retrying']) s
					left join tally t on t.status = s and t.webhook in (select id from webhook) group by s`},
			{Name: "webhook.age", Unit: "s", Doc: "age of the oldest delivery that waits for its first attempt, of webhooks that are not paused",
				SQL: `select coalesce(extract(epoch from clock_timestamp() - min(d.next_attempt_at)), 0) from webhook w cross join lateral
					(select next_attempt_at from delivery where webhook = w.id and status = 'queued' order by seq limit 1) d where w.active and w.paused is null`},
			{Name: "webhook.paused", Unit: "{webhook}", Doc: "webhooks that are paused", SQL: `select count(*) from webhook where paused is not null`},
		},
	}, s, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "retention", Every: tidyEvery, Run: s.expire},
		{Name: "tally", Every: tallyEvery, Run: s.addUp},
	}
}

func (s *service) fetchOptions() fetch.Options {
	return fetch.Options{Local: s.Config.WebhookLocal, Allow: s.Config.Receivers, Timeout: signature.AnswerWithin, Keep: answerKept}
}
