// Package contacts owns people and organizations, what links them, their timelines, custom fields, consents
// and marketing, imports and exports.
//
// Locks are taken in one order: contacts by id, then organizations by id, then what hangs on them. A tag's
// row comes last, tags sorted by slug.
package contacts

import "embed"

//go:embed migrations/*.sql
var migrations embed.FS
