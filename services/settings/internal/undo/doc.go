// Package undo shows what somebody did within an hour, and takes it back by calls of the services.
//
// It keeps nothing: who did what stands in the audit log, and how each call is taken back in the service that it was made to.
//
// Reads: audit, connection, application_password.
package undo
