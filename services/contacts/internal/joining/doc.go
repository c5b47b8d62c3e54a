// Package joining makes one contact of what means one person: the commands of booking and forms, which find a contact by address or make one, and two
// contacts that the team merges. It keeps the table answered: how each command was answered.
//
// It follows contacts.command and uses all rooms below it but search.
//
// Reads: contact, contact_alias, contact_organization, organization.
package joining
