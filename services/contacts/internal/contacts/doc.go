// Package contacts owns people and organizations, what links them, their timelines, custom fields, consents
// and marketing, imports and exports.
//
// Locks are taken in one order: imports; the meaning of an id (aliasLock); what is left to publish of an organization; contacts
// by id; organizations by id; then what is linked with them. A tag's row comes last, tags sorted by slug; the worker
// that changes tags waits for no contact.
package contacts
