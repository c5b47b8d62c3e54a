// Package organization keeps organizations: the tables organization, organization_distinct and organization_news, the topic contacts.organization, and the
// operations on organizations, their duplicates and files. A worker publishes the people who show an organization that changed.
//
// It uses field, timeline and contact.
//
// Reads: contact, contact_organization, field.
package organization
