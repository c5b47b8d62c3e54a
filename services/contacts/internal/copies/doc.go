// Package copies keeps what filters, the overview and the export of personal data need of booking and forms: the tables appointment and submission,
// from booking.appointment and forms.submission. Each event goes into the timeline of its contact, once.
//
// It uses contact and timeline.
package copies
