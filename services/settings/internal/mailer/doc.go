// Package mailer keeps the queue of the mails of all services, which come on settings.mail, and sends them. It keeps the links in
// the mails of this service too, by the hash of their token.
//
// Reads: person.
package mailer
