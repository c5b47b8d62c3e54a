// Package feed gives the members of the team an address at which their own calendar reads their appointments.
package feed
