// Package directory is a compact copy, in memory, of what contacts are listed and counted by: it answers any search
// and count exactly by looking at all of it, a million contacts in some milliseconds and 120 megabytes.
//
// Reads: contact, contact_gone.
package directory
