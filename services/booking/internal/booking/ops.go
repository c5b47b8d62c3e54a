package booking

import (
	_ "embed"

	"frontdesk/libs/op"
)

// examples are calls that the tests have recorded, see apptest.CheckExamples.
//
//go:embed examples.json
var examples []byte

// ops declares every operation, in the order of the interface.
func (s *service) ops() *op.Set {
	set := s.NewSet()
	set.Examples(examples)

	set.Under("Booking by visitors", "What the booking widget calls: services, free times, booking, and the link of a mail that moves or cancels. No credential is needed.")
	s.publicTimesOps(set)
	s.publicBookingsOps(set)

	set.Under("Appointments", "Times that are requested or booked, and all that can happen to them.")
	s.appointmentsOps(set)
	s.bookingsOps(set)
	s.lifeOps(set)
	s.calendarOps(set)
	s.timesOps(set)

	set.Under("Services", "What can be booked: length, buffers, price, place, and who does it.")
	s.servicesOps(set)

	set.Under("Closures", "Days on which the business is closed or open in addition.")
	s.closuresOps(set)

	set.Under("Team", "People of the team: their hours, time off, roles and access.")
	s.teamOps(set)
	s.exceptionsOps(set)
	s.hoursOps(set)

	set.Under("Booking widget and settings", "How visitors reach the booking widget, and the rules that it follows.")
	s.widgetOps(set)
	s.settingsOps(set)
	return set
}
