// Package mails publishes the change of an appointment together with the mail that its client gets for it.
package mails
