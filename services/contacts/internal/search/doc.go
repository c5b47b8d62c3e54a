// Package search finds contacts: the list, its filters and totals, sources, and the file of contacts. It keeps no table. A copy of what is searched
// stands in memory (directory); the process is ready once that is loaded.
//
// It uses field, contact and tag.
//
// Reads: appointment, contact, contact_organization, field, organization, tag, tag_name.
package search
