package contacts

import (
	"context"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/web"
	"frontdesk/proto"
	pages "frontdesk/services/contacts/internal/contacts/web"
	"frontdesk/services/contacts/internal/directory"
)

// appID is the name of the app; it is always on.
const appID = "contacts"

// Service is the process.
var Service = app.Service{Name: "contacts", Port: 8092, Migrations: migrations, Build: build}

// service is what operations need beside their transaction.
type service struct {
	*app.Kit
	hashKey  []byte             // of the hashes of addresses that unsubscribed
	contacts *directory.Replica // what contacts are searched and counted in
	counters chan struct{}      // holds those who count contacts without it

	// Rows on which workers and jobs failed.
	handing   handing
	news      news
	trash     *app.Aside[uuid.UUID]
	retagging *app.Aside[uuid.UUID]
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, hashKey: k.Keys.Lasting("unsubscribed addresses"), contacts: directory.NewReplica(k.DB),
		counters: make(chan struct{}, countersAtOnce), handing: newHanding(), news: newNews(), trash: app.NewAside[uuid.UUID]("trash"),
		retagging: app.NewAside[uuid.UUID]("changed tags")}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		PagePaths: pages.Paths,
		Pages: pages.Pages(web.Site{Read: k.Site.Read, On: k.Apps.On, PublicURL: k.Config.PublicURL, Zone: k.Config.Zone,
			API: ops.Handler()}),
		Follows:   s.follows(),
		Jobs:      s.jobs(),
		Run:       []func(context.Context){s.contacts.KeepUp},
		Workers:   s.workers(),
		Ready:     map[string]func() error{"the directory": s.contacts.Loaded},
		Personal:  s.personal(),
		Published: records(),
		Restored:  s.restored,
		App:       &proto.App{Id: appID, Name: "Contacts", AlwaysOn: true},
		Gauges: []app.Gauge{
			{Name: "import.files", Unit: "{import}", Doc: "imports that wait or run, by status", Label: "status",
				SQL: `select s, (select count(*) from import where status = s and status in ('queued', 'running')) from unnest(array['queued', 'running']) s`},
			{Name: "import.rows_left", Unit: "{row}", Doc: "rows of the imports that wait or run and are not done yet",
				SQL: `select coalesce(sum(greatest(rows - done_row + 1, 0)), 0) from import where status in ('queued', 'running')`},
		},
	}, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "merged away", Every: time.Hour, Run: s.endLingering},
		{Name: "trash", Every: time.Hour, Run: s.emptyTrash},
		{Name: "gone", Every: time.Hour, Run: s.contacts.DropGone},
		{Name: "imports", Every: time.Hour, Run: s.dropImports},
		{Name: "answers", Every: time.Hour, Run: s.dropAnswers},
	}
}

func (s *service) workers() []app.Worker {
	return []app.Worker{
		{Name: "imports", Pause: 300 * time.Millisecond, Slice: newImporter(s).batch},
		{Name: "people of organizations", Pause: time.Second, Slice: s.publishNext},
		{Name: "hand-over", Pause: 300 * time.Millisecond, Slice: s.handOverNext},
		{Name: "changed tags", Pause: 300 * time.Millisecond, Slice: s.changeTagsNext},
	}
}
