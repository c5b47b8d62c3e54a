package booking

import (
	"context"
	"embed"
	"sync/atomic"
	"time"

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
	// waiting bounds how many calls wait for a copy at once: each holds a connection.
	waiting chan struct{}
	hints   hints
	catalog atomic.Pointer[catalog]
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	s := &service{Kit: k, timeToken: auth.NewTimeToken(k.Keys.For("time token")), fields: newFieldTable(k.Bus), waiting: make(chan struct{}, 4)}
	ops := s.ops()
	return &app.Parts{
		Ops:       ops,
		Pages:     s.website(ops),
		PagePaths: web.Paths,
		Run:       []func(context.Context){s.fields.Run},
		Ready:     []func() bool{s.fields.Ready},
		App:       &proto.App{Id: appID, Name: "Booking"},
		Follows:   s.follows(),
		Personal:  s.personal(),
		Jobs:      s.jobs(),
	}, nil
}

func (s *service) jobs() []app.Job {
	return []app.Job{
		{Name: "reminders", Every: 20 * time.Second, Run: s.remind},
		{Name: "requests", Every: time.Minute, Run: s.expireRequests},
	}
}
