// Package calendars keeps the calendars of other programs that people of the team have connected: where they are, and from when until when
// they take time. Nothing else of an event is stored.
//
// A replica claims a calendar for as long as it reads it. It replaces the times of a calendar in one transaction while it holds the
// person's calendar (package times), so that a booking is decided either before or after.
//
// It uses staff and times. Package appointments reads external_time and external_month, with the other time that is taken.
//
// Reads: appointment, outgoing.
package calendars
