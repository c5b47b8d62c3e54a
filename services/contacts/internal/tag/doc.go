// Package tag keeps tags: the tables tag, tag_name and tag_change, and the operations on them. Contacts have the names of their tags; a worker
// brings contacts up to date with a tag that was renamed, merged or deleted. Rooms that tag contacts get the names from Names and ByName.
//
// It uses field and contact.
//
// Reads: contact, contact_organization, organization.
package tag
