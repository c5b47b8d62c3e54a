// Package times decides which times are free, for lists and for bookings alike, and gives one to whom wants it: it holds the calendar of
// the staff member while it asks package slots again. What decides beside the appointments rarely changes, and a replica remembers it by
// the revision in the table catalog.
//
// Reads: appointment, external_calendar.
package times
