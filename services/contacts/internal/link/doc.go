// Package link keeps which people belong to which organizations: the table contact_organization and the operations on links.
//
// It uses timeline, contact, reversal and organization, which calls it by its list Moved where two organizations become one. Joining, imports, people and
// privacy call it where a contact changes or goes.
//
// Reads: contact, organization.
package link
