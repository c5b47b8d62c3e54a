// Package services keeps what can be booked, on which terms, and the settings of online booking. It copies the published forms and, in
// memory, the custom fields: these say what the details step asks.
//
// Reads: skill.
package services
