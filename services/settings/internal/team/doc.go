// Package team keeps who is on the team: it invites people, changes their roles, ends their access, and removes those whom booking has
// taken out of the team.
//
// Reads: link, person.
package team
