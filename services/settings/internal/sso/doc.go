// Package sso lets people in by their account at the organization's OpenID Connect provider: the browser is sent there and comes back, the
// answer is checked, and the person is found, made or refused. It ends their sessions when the provider says so.
//
// A browser that was sent is a row of provider_request, so any replica takes it back, and once. Only the keys and addresses of the provider are
// in memory, and read again by each replica.
package sso
