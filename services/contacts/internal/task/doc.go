// Package task keeps what the team has to do: the table task, the topic contacts.task and the operations on tasks. A task may be about a contact, an
// organization and an appointment.
//
// It uses timeline, contact and organization. Joining, organization (by its list Moved), privacy and handover call it where a contact or an
// organization goes, or a person.
//
// Reads: appointment, contact, organization.
package task
