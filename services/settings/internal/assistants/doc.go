// Package assistants keeps what assistants may use, and the connections of those that were connected by OAuth: the programs, a
// person's consent, and the tokens that follow it, which are published on settings.identity. It serves what they connect to.
package assistants
