// Package mails writes what the client of an appointment is mailed when it changes.
package mails
