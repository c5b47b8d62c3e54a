// Package submission keeps what visitors send with forms, spam included, until contacts has answered and after: the table submission, the
// topic forms.submission, the operations on submissions, their export and statistics. Its copies are contact, contact_alias and organization.
// It follows contacts.contact, contacts.organization and forms.command (the details of a booking).
//
// It uses form: what a form asks now or asked when it was sent, and the columns of the export.
//
// Reads: form.
package submission
