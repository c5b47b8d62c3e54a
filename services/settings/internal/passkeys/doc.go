// Package passkeys keeps the passkeys of users, and checks what a device answers to a challenge.
package passkeys
