// Package secrets makes the tokens of sessions, links and connections, and compares them. Only their hashes are stored.
package secrets
