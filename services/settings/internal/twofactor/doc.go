// Package twofactor turns a user's second factor on and off and checks its codes. It keeps the recovery codes; the secret stands with
// the user.
package twofactor
