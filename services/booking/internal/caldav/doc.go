// Package caldav talks to calendar servers (RFC 4791, 6578 and 6764): it finds somebody's calendars, reads what changed in one, and writes events. It
// needs no database and no clock.
//
// The library for this, emersion/go-webdav, has neither If-Match, privileges, colours nor change tokens, keeps only the path of addresses though servers
// name other hosts, and fails as a whole for one event that it cannot read. Its part for requests is internal, so this is on net/http.
package caldav
