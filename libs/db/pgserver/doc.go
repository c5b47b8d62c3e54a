// Package pgserver runs a real PostgreSQL for a developer's machine and for tests: it finds the programs, makes the
// cluster, starts and stops the server, and gives each service its role and schema.
package pgserver
