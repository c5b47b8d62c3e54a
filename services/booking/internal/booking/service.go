package booking

import (
	"context"
	"embed"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/form"
	"frontdesk/proto"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: appID, Port: 8093, Migrations: migrations, Build: build}

// appID is the name under which booking is switched on and off.
const appID = "booking"

type service struct {
	*app.Kit
	readdressed func(ctx context.Context, tx *db.Tx, contact uuid.UUID, at time.Time) error
	timeToken   auth.TimeToken
	fields      *bus.Table[form.Field]
	hints       hints
	catalog     atomic.Pointer[catalog]
	// Appointments on which the jobs failed.
	unreminded, unexpired *app.Aside[uuid.UUID]
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, timeToken: auth.NewTimeToken(k.Keys.For("time token")), fields: newFieldTable(k.Bus), readdressed: endLinksTo,
		unreminded: app.NewAside[uuid.UUID]("reminders"), unexpired: app.NewAside[uuid.UUID]("requests")}
	set := s.ops()
	return app.Join(
		app.Room{Name: "booking", Parts: app.Parts{Ops: set, App: &proto.App{Id: appID, Name: "Booking"}}},
		app.Room{Name: "clients", Parts: s.clientsParts()},
		app.Room{Name: "staff", Parts: s.staffParts()},
		app.Room{Name: "services", Parts: s.servicesParts()},
		app.Room{Name: "appointments", Parts: s.appointmentsParts()},
		app.Room{Name: "life", Parts: s.lifeParts()},
		app.Room{Name: "calendar", Parts: s.calendarParts()},
		app.Room{Name: "times", Parts: s.timesParts()},
		app.Room{Name: "widget", Parts: s.widgetParts(set.Handler())},
	)
}
