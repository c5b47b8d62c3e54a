// Package history reads the timelines of contacts and organizations, and writes their notes. It keeps no table.
//
// It uses timeline, contact and organization.
//
// Reads: activity, contact, contact_organization.
package history
