// Package search finds contacts: the list, its filters and totals, sources, and the file of contacts. It keeps no table. A copy of what is searched
// stands in memory (directory); the process is ready once that is loaded.
//
// It uses csvfile, field, contact and tag.
//
// Reads: appointment, contact, contact_organization, field, organization, tag, tag_change, tag_name.
package search
