// Package handover gives what a person owned who left the team to the one who takes over, in slices: the table hand_over, from booking.staff.
//
// It uses contact, organization and task.
//
// Reads: contact, organization, task.
package handover
