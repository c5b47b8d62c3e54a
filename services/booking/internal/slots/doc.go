// Package slots is the arithmetic of bookable time. It reads no database and no clock:
// callers hand it hours, exceptions and appointments, and ask what is free.
//
// Local time is read off the wall: an instant lies in a block of hours when a clock in the business's
// zone shows a time inside that block at that instant. An hour that a zone skips is therefore never
// offered, and an hour that it repeats is offered twice, both times inside the hours as written.
//
// List, Free and Nearest share one predicate, so a slot that is listed is a slot that can be booked.
package slots
