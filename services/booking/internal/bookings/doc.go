// Package bookings books and moves appointments, for the team and for visitors, and lets clients change what they booked behind their link.
//
// Reads: appointment, contact.
package bookings
