// Package digest mails the team once a day what was taken for spam since: the table spam_digest, how far the last mail went.
//
// It uses form.
//
// Reads: form, submission.
package digest
