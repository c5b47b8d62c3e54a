// Package history reads the timelines of contacts and organizations, and writes their notes, and mails to contacts. It keeps no table.
//
// It uses timeline, contact and organization.
//
// Reads: activity, appointment, contact, contact_organization.
package history
