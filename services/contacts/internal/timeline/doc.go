// Package timeline keeps what happened to contacts and organizations: the table activity. Whoever changes a record writes the entry in the same
// transaction (Log, Defer, Copy); the pages of a timeline are read by the rooms that know who may see its record.
//
// An entry may be there before its contact is: a booking and the contact that it makes arrive by different topics.
//
// Reads: contact, former_address.
package timeline
