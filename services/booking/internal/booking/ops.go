package booking

import (
	_ "embed"

	"frontdesk/libs/app"
	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// operations declares every operation, in the order of the interface.
func operations(k *app.Kit, r rooms) *op.Set {
	set := k.NewSet()
	set.Examples(examples)

	set.Under("Booking by visitors", "What the booking widget calls: services, free times, booking, and the link of a mail that moves or cancels. No credential is needed.")
	r.times.ForVisitors(set)
	r.bookings.ByVisitors(set)

	set.Under("Appointments", "Times that are requested or booked, and all that can happen to them.")
	r.appointments.List(set)
	r.bookings.Book(set)
	r.appointments.Show(set)
	r.life.Changes(set)
	r.bookings.Move(set)
	r.calendar.Shown(set)
	r.times.Free(set)
	r.appointments.Statistics(set)

	set.Under("Services", "What can be booked: length, buffers, price, place, and who does it.")
	r.services.Services(set)

	set.Under("Closures", "Days on which the business is closed or open in addition.")
	r.calendar.Closures(set)

	set.Under("Team", "People of the team: their hours, time off, roles and access.")
	r.team.Members(set)
	r.calendar.TimeOff(set)
	r.staff.WeeklyHours(set)

	set.Under("Calendars", "What is booked stands in people's own calendars, and what stands there takes their time.")
	r.feed.Addresses(set)
	r.feed.Reading(set)
	r.calendars.Connected(set)

	set.Under("Booking widget and settings", "How visitors reach the booking widget, and the rules that it follows.")
	r.widget.Embedding(set)
	r.services.Rules(set)

	set.Under("Exports and imports", "CSV files out and in. An import is uploaded, looked at, started, and runs in the background.")
	takeout(set)
	op.AddUndo(set)
	return set
}
