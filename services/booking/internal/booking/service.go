package booking

import (
	"context"
	"embed"

	"frontdesk/libs/app"
	"frontdesk/proto"
	"frontdesk/services/booking/internal/appointments"
	"frontdesk/services/booking/internal/bookings"
	"frontdesk/services/booking/internal/calendar"
	"frontdesk/services/booking/internal/calendars"
	"frontdesk/services/booking/internal/clients"
	"frontdesk/services/booking/internal/feed"
	"frontdesk/services/booking/internal/life"
	"frontdesk/services/booking/internal/mails"
	"frontdesk/services/booking/internal/notices"
	"frontdesk/services/booking/internal/outgoing"
	"frontdesk/services/booking/internal/services"
	"frontdesk/services/booking/internal/staff"
	"frontdesk/services/booking/internal/team"
	"frontdesk/services/booking/internal/times"
	"frontdesk/services/booking/internal/widget"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Service is the process.
var Service = app.Service{Name: appID, Port: 8093, Migrations: migrations, Build: build}

// appID is the name under which booking is switched on and off.
const appID = "booking"

// rooms are those that declare operations.
type rooms struct {
	staff        *staff.Room
	services     *services.Room
	appointments *appointments.Room
	life         *life.Room
	calendar     *calendar.Room
	feed         *feed.Room
	times        *times.Room
	bookings     *bookings.Room
	calendars    *calendars.Room
	team         *team.Room
	widget       *widget.Room
}

func build(_ context.Context, k *app.Kit) (*app.Parts, error) {
	clients := clients.New(k, appointments.EndLinksTo)
	staff := staff.New(k)
	services := services.New(k, staff)
	appointments := appointments.New(k, clients, staff)
	notices := notices.New(k, appointments)
	mails := mails.New(k, services)
	life := life.New(k, appointments, mails, notices)
	calendar := calendar.New(k, staff, appointments)
	feed := feed.New(k, staff, services, appointments)
	times := times.New(k, staff, services, appointments)
	bookings := bookings.New(k, clients, services, appointments, life, times)
	calendars := calendars.New(k, staff, outgoing.Gone)
	outgoing := outgoing.New(k, appointments, feed)
	team := team.New(k, staff, appointments, life)
	widget := widget.New(k, services)
	set := operations(k, rooms{staff, services, appointments, life, calendar, feed, times, bookings, calendars, team, widget})
	return app.Join(
		app.Room{Name: "booking", Parts: app.Parts{Ops: set, App: &proto.App{Id: appID, Name: "Booking"}}},
		app.Room{Name: "clients", Parts: clients.Parts()},
		app.Room{Name: "staff", Parts: staff.Parts()},
		app.Room{Name: "services", Parts: services.Parts()},
		app.Room{Name: "appointments", Parts: appointments.Parts()},
		app.Room{Name: "notices", Parts: notices.Parts()},
		app.Room{Name: "life", Parts: life.Parts()},
		app.Room{Name: "calendar", Parts: calendar.Parts()},
		app.Room{Name: "feed", Parts: feed.Parts()},
		app.Room{Name: "times", Parts: times.Parts()},
		app.Room{Name: "calendars", Parts: calendars.Parts()},
		app.Room{Name: "outgoing", Parts: outgoing.Parts()},
		app.Room{Name: "team", Parts: team.Parts()},
		app.Room{Name: "widget", Parts: widget.Parts(set.Handler())},
	)
}
