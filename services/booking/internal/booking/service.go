package booking

import (
	"context"
	"embed"
	"sync/atomic"
	"time"

	"frontdesk/libs/app"
	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/booking/web"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: "booking", Port: 8093, Migrations: migrations, Build: build}

// App is the name under which booking is switched on and off.
const App = "booking"

// desk is what operations need beside their transaction.
type desk struct {
	*app.Kit
	timeToken auth.TimeToken
	// waiting bounds how many calls wait for a copy at once: each holds a connection.
	waiting chan struct{}
	hints   hints
	catalog atomic.Pointer[catalog]
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	d := &desk{Kit: k, timeToken: auth.NewTimeToken(k.Keys.For("time token")), waiting: make(chan struct{}, 4)}
	ops, fields := d.ops(), newFieldTable(k.Bus)
	return &app.Parts{
		Ops:       ops,
		Pages:     d.website(ops, fields),
		PagePaths: web.Paths,
		Run:       []func(context.Context){fields.Run},
		App:       &proto.App{Id: App, Name: "Booking"},
		Follows: []bus.Follow{
			{Topic: proto.ContactTopic, Handle: d.followContacts},
			{Topic: proto.OrganizationTopic, Handle: followOrganizations},
			{Topic: proto.FormTopic, Handle: followForms},
			{Topic: proto.PageTopic, Handle: followPages},
		},
		Personal: d.personal(),
		Jobs:     []app.Job{{Name: "reminders", Every: 20 * time.Second, Run: d.remind}},
	}, nil
}
