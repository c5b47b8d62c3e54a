// Package imports keeps files of contacts and what became of their rows: the tables import, import_error and import_contact, the operations on
// imports, and the workers that run and undo them.
//
// It uses field, timeline, contact, draft, reversal, organization, tag and marketing. Privacy holds imports while it erases somebody, and strikes the person out of them.
//
// Reads: activity, contact, contact_organization.
package imports
