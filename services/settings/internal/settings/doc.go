// Package settings is the service that owns people and their access, the settings of the site, its apps and pages, the audit
// log of all services and the mail that leaves the system.
//
// It publishes who may call (settings.identity), the site's documents (settings.site), which apps are on (settings.apps) and
// the site's pages (settings.page), each in the transaction of the change.
//
// Locks are taken in one order: roles, then documents (the portal's before api-access), then users and pages by id, then
// their sessions, keys, connections and links.
package settings
