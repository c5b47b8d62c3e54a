// Package field keeps the site's custom fields and their groups: the tables field and field_group, the topic contacts.field and the operations
// on them. It also has the rules by which values of contacts and organizations come into their stored form (Cleaner), and writes custom fields
// as columns of files.
//
// It follows contacts.command: forms asks for the fields that its templates need.
package field
