// Package people keeps the users of the site, each with password and second factor, and publishes them on settings.identity. It mails
// a user what happens to their account. Their roles, sessions and keys are kept above.
//
// Reads: notification.
package people
