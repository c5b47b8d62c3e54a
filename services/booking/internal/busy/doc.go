// Package busy turns a calendar of somebody else's program (RFC 5545) into the times that it takes. It needs no database, network or clock.
package busy
