package forms

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"

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
	widget *pages.Widget
	forms  formCache
	unread *app.Aside[uuid.UUID] // submissions that readPeople failed on
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, token: auth.NewTimeToken(k.Keys.For("form time token")), fields: newFieldTable(k.Bus), pages: newPageTable(k.Bus),
		widget: pages.NewWidget(web.Site{Read: k.Site.Read, On: k.Apps.On, PublicURL: k.Config.PublicURL, Zone: k.Config.Zone}),
		unread: app.NewAside[uuid.UUID]("people")}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		PagePaths: pages.Paths,
		Pages:     s.widget.Pages(ops.Handler(), s.shown),
		Follows:   s.follows(),
		Tables:    []app.Table{s.fields, s.pages},
		Jobs:      s.jobs(),
		Personal:  s.personal(),
		Published: records(),
		App:       &proto.App{Id: appID, Name: "Forms"},
		Gauges: []app.Gauge{
			{Name: "forms.pending", Unit: "{submission}", Doc: "submissions whose contact is not there yet",
				SQL: `select count(*) from submission where status = 'received' and result = 'pending'`},
			{Name: "forms.pending_age", Unit: "s", Doc: "age of the oldest submission whose contact is not there yet",
				SQL: `select coalesce(extract(epoch from clock_timestamp() - min(created_at)), 0) from submission where status = 'received' and result = 'pending'`},
		},
	}, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "retention", Every: time.Hour, Run: s.expireSpam},
		{Name: "people", Every: time.Hour, Run: s.readPeople},
		{Name: "unanswered", Every: time.Hour, Run: s.askAgain},
	}
}

// records declares what other services keep copies of. Spam, and submissions that wait for contacts, have not
// been published yet.
func records() []app.Published {
	return []app.Published{
		app.Records(app.Rows[int64]{Topic: proto.FormTopic, Table: "form", Emit: publishForms}),
		app.Records(app.Rows[uuid.UUID]{Topic: proto.SubmissionTopic, Table: "submission", Where: "status = 'received' and result <> 'pending'",
			Emit: publishSubmissions}),
	}
}
