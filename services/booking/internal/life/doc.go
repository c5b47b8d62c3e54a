// Package life changes appointments where they stand: their status, note and place, by the team and, with reminders and requests that
// nobody answers, as time goes by.
//
// Reads: appointment, settings.
package life
