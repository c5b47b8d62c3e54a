// Package passwords hashes and checks the passwords of users, and lets people choose a new one by the link of a mail.
package passwords
