// Package sessions keeps the browsers that are signed in, published on settings.identity. A session knows when it has last seen the
// password.
package sessions
