// Package privacy erases people and gives out what is kept about them. It keeps no table: each room deletes its own part of a contact, the upper ones
// first. It erases contacts that were in the trash for long, and again those who were erased since a backup.
//
// It uses timeline, contact, copies, organization, task, marketing, joining and imports.
//
// Reads: activity, appointment, contact, contact_organization, organization, submission.
package privacy
