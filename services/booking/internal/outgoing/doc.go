// Package outgoing writes appointments into the calendars that people have chosen for them on servers of others.
//
// The queue says of which appointment in which calendar something may have changed, not what: whoever takes an entry compares the appointment, as it is then,
// with what was written. Triggers add to it, in the transaction that changes an appointment or a calendar, whichever code that is. One replica at a time
// claims an account. An event has one address, which the calendar and its UID make, and is written only over the version that is known, so a writer
// that was stopped at any step, or that others took for dead, leaves neither two events nor an old one over a new one.
//
// A future event is removed where it is not to be any more, also with the account of a calendar that its person has removed, for seven days.
//
// Reads: appointment.
package outgoing
