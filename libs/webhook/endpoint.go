// Package webhook decides which receivers get an event: by the events that they subscribed, and by the values that narrow these down. The
// service webhooks decides so when it sends, and every service when it rehearses a call.
package webhook

import (
	"slices"

	"github.com/google/uuid"
)

// Endpoint is a receiver of events as webhooks publishes it: without its address, which may hold a key, and without its secret.
type Endpoint struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Host   string    `json:"host"`
	Events []string  `json:"events"`
	// Only are the values that narrow its events down, by key, as KeysOf spells them.
	Only   map[string][]string `json:"only"`
	Active bool                `json:"active"`
}

// Gets reports whether the endpoint gets an event whose record has these keys. A key that the record lacks narrows nothing down.
func (e Endpoint) Gets(event string, keys map[string][]string) bool {
	if !e.Active || !slices.Contains(e.Events, event) {
		return false
	}
	for key, wanted := range e.Only {
		have, ok := keys[key]
		if ok && !slices.ContainsFunc(have, func(value string) bool { return slices.Contains(wanted, value) }) {
			return false
		}
	}
	return true
}
