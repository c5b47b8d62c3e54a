// Package calendar keeps closures, time off and extra hours, and shows the time of the team with its appointments.
//
// Reads: appointment, external_time.
package calendar
