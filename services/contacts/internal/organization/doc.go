// Package organization keeps organizations and the links of people with them: the tables organization, contact_organization, organization_distinct
// and organization_news, the topic contacts.organization, and the operations on organizations, their links, duplicates and files. A worker
// publishes the people who show an organization that changed.
//
// It uses field, timeline and contact.
//
// Reads: contact, field.
package organization
