// Package sessions keeps the browsers that are signed in, published on settings.identity, and those that are recognised when they sign
// in again. A session knows when it has last seen the password.
package sessions
