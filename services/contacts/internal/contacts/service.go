package contacts

import (
	"context"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/proto"
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
	replica  *directory.Replica // what contacts are searched and counted in
	counters chan struct{}      // holds those who count contacts without it

	// Rows on which workers and jobs failed.
	handing   handing
	news      news
	trash     *app.Aside[uuid.UUID]
	retagging *app.Aside[uuid.UUID]
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, hashKey: k.Keys.Lasting("unsubscribed addresses"), replica: directory.NewReplica(k.DB),
		counters: make(chan struct{}, countersAtOnce), handing: newHanding(), news: newNews(), trash: app.NewAside[uuid.UUID]("trash"),
		retagging: app.NewAside[uuid.UUID]("changed tags")}
	set := s.ops()
	return app.Join(
		app.Room{Name: "contacts", Parts: app.Parts{Ops: set, App: &proto.App{Id: appID, Name: "Contacts", AlwaysOn: true}}},
		app.Room{Name: "field", Parts: s.fieldParts()},
		app.Room{Name: "timeline", Parts: s.timelineParts()},
		app.Room{Name: "contact", Parts: s.contactParts()},
		app.Room{Name: "copies", Parts: s.copiesParts()},
		app.Room{Name: "organization", Parts: s.organizationParts()},
		app.Room{Name: "tag", Parts: s.tagParts()},
		app.Room{Name: "marketing", Parts: s.marketingParts(set.Handler())},
		app.Room{Name: "search", Parts: s.searchParts()},
		app.Room{Name: "joining", Parts: s.joiningParts()},
		app.Room{Name: "handover", Parts: s.handoverParts()},
		app.Room{Name: "imports", Parts: s.importsParts()},
		app.Room{Name: "privacy", Parts: s.privacyParts()},
	)
}
