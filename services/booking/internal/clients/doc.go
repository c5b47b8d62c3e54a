// Package clients keeps who books: copies of contacts, among them clients whom contacts does not have yet, and of who owns organizations and open tasks.
// It asks contacts again about those that are unanswered for a day.
//
// Reads: appointment.
package clients
