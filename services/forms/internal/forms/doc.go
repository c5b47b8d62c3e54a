// Package forms owns the forms of a site and the submissions that visitors send with them.
//
// A submission is stored together with the command that asks contacts for the visitor's contact. The answer is the event
// contact.ensured, which completes the submission; only then is form.submitted published, so that a consumer of it finds
// the contact. Spam is stored and goes no further.
//
// Locks: a form's row before its columns; one submission at a time, several by id ascending; copies before
// the submissions that name them.
//
// Reads: form, submission.
//
// # Floors
//
// From the ground up. A package uses only those that stand before it.
//
//   - definition: what a form can consist of, the templates, the signs of spam
//   - forms/web: the pages that show a form, and the widget's script
//   - form: forms, their trash, and what visitors are asked
//   - submission: what visitors sent, and what became of it
//   - digest: a mail about new spam, once a day
package forms
