package forms

import (
	"context"
	"embed"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/web"
	"frontdesk/proto"
	pages "frontdesk/services/forms/internal/forms/web"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the forms service.
var Service = app.Service{Name: "forms", Port: 8094, Migrations: migrations, Build: build}

type service struct {
	*app.Kit
	token  auth.TimeToken
	fields *fieldTable
	pages  *pageTable
	forms  formCache
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, token: auth.NewTimeToken(k.Keys.For("form time token")), fields: newFieldTable(k.Bus), pages: newPageTable(k.Bus)}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		PagePaths: pages.Paths,
		Pages: pages.Pages(web.Site{Read: k.Site.Read, On: k.Apps.On, PublicURL: k.Config.PublicURL, Zone: k.Config.Zone,
			API: ops.Handler()}, s.shown),
		Follows:  s.follows(),
		Run:      []func(context.Context){s.fields.Run, s.pages.Run},
		Ready:    []func() bool{s.fields.Ready, s.pages.Ready},
		Jobs:     s.jobs(),
		Personal: s.personal(),
		App:      &proto.App{Id: appID, Name: "Forms"},
	}, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "retention", Every: time.Hour, Run: s.expireSpam},
		{Name: "people", Every: time.Hour, Run: s.readPeople},
	}
}
