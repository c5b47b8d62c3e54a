// Package contact keeps contacts: what one is, its row, the addresses that it had, and whom an id means that is no contact's any more. These are the
// tables contact, contact_gone, contact_alias and former_address, and the topic contacts.contact. It has no operations: search, people, joining
// and privacy have those, and call it.
//
// It uses field and timeline. Triggers write contact_gone, which directory reads.
//
// Reads: activity, contact_organization, field, organization.
package contact
