// Package booking is the service that owns bookable services, the hours and time off of the team,
// appointments and the public side of booking.
//
// Locks are taken in one order: the row of the catalog, the address of a client who books, rows of services and
// appointments by id ascending, then the calendars of staff members. A calendar is an advisory lock: whoever holds
// it may decide, with the predicate of package slots, that a time is free, and write the appointment
// that takes it. The exclusion constraint of the table stands behind that decision. Triggers count the catalog's
// revision up at the end of a transaction, so whoever changes the catalog while holding a calendar locks its row first.
package booking
