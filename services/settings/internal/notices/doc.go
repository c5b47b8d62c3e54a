// Package notices tells people of the team what others did, by mail: the tables notice, what waits to be mailed, and notification, what each
// person has chosen. Services send notices with settings.mail.
//
// One queue makes single mails, mails about many changes at once, and digests. What waits for one recipient becomes one mail: when nothing
// was added for some seconds, or, for kinds that the person reads as a digest, at the time of day that they chose. So an import or a hand-over
// is one mail, and what happened in turn stands in turn.
//
// Reads: person.
//
// It uses site, people and roles: who is on the team, and where the portal is. It asks booking for the agenda of a day by booking.command.
package notices
