// Package appointments keeps the appointments, and the links of mails that open them. All are inserted and saved here, under the calendar
// of their staff member, which the caller holds (package times). They follow their contact when it turns out to be another one.
//
// Reads: contact, staff, external_time, external_month.
package appointments
