package contacts

import (
	"context"
	"time"

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
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, hashKey: k.Keys.For("unsubscribed addresses"), contacts: directory.NewReplica(k.DB)}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		PagePaths: pages.Paths,
		Pages: pages.Pages(web.Site{Read: k.Site.Read, On: k.Apps.On, PublicURL: k.Config.PublicURL, Zone: k.Config.Zone,
			API: ops.Handler()}),
		Follows:  s.follows(),
		Jobs:     s.jobs(),
		Run:      []func(context.Context){s.contacts.KeepUp},
		Workers:  s.workers(),
		Ready:    []func() bool{s.contacts.Ready},
		Personal: s.personal(),
		App:      &proto.App{Id: appID, Name: "Contacts", AlwaysOn: true},
	}, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "tombstones", Every: time.Hour, Run: s.endLingering},
		{Name: "trash", Every: time.Hour, Run: s.emptyTrash},
		{Name: "gone", Every: time.Hour, Run: s.contacts.DropGone},
		{Name: "imports", Every: time.Hour, Run: s.dropImports},
	}
}

func (s *service) workers() []app.Worker {
	return []app.Worker{
		{Name: "imports", Pause: 300 * time.Millisecond, Slice: (&importer{service: s}).batch},
		{Name: "people of organizations", Pause: time.Second, Slice: s.publishNext},
		{Name: "hand-over", Pause: 300 * time.Millisecond, Slice: s.handOverNext},
	}
}

// country is that of the business: numbers without one are read as its own.
func (s *service) country() string {
	var general struct {
		Country string `json:"country"`
	}
	s.Site.Read("general", &general)
	return general.Country
}
