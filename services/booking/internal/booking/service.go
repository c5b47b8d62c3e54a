package booking

import (
	"context"
	"embed"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/booking/web"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: "booking", Port: 8093, Migrations: migrations, Build: build}

// appID is the name under which booking is switched on and off.
const appID = "booking"

type service struct {
	*app.Kit
	timeToken auth.TimeToken
	fields    fieldTable
	hints     hints
	catalog   atomic.Pointer[catalog]
	// Appointments on which the jobs failed.
	unreminded, unexpired *app.Aside[uuid.UUID]
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, timeToken: auth.NewTimeToken(k.Keys.For("time token")), fields: newFieldTable(k.Bus),
		unreminded: app.NewAside[uuid.UUID]("reminders"), unexpired: app.NewAside[uuid.UUID]("requests")}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		Pages:     s.website(ops),
		PagePaths: web.Paths,
		Tables:    []app.Table{s.fields},
		App:       &proto.App{Id: appID, Name: "Booking"},
		Follows:   s.follows(),
		Personal:  s.personal(),
		Published: s.records(),
		Restored:  s.restored,
		Jobs:      s.jobs(),
		Gauges: []app.Gauge{
			{Name: "booking.reminders_overdue", Unit: "{reminder}", Doc: "reminders that should have gone out two minutes ago",
				SQL: strings.ReplaceAll(`select count(*) `+dueReminders, "$1", "(now() - interval '2 minutes')")},
			{Name: "booking.unanswered", Unit: "{contact}", Doc: "clients whom contacts has not confirmed yet", SQL: `select count(*) from contact where version = 0`},
		},
	}, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "reminders", Every: 20 * time.Second, Run: s.remind},
		{Name: "requests", Every: time.Minute, Run: s.expireRequests},
		{Name: "unanswered", Every: time.Hour, Run: s.askAgain},
	}
}
