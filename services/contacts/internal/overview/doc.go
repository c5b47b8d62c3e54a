// Package overview sums up what concerns somebody today, and counts new contacts by week. It keeps no table.
//
// It uses timeline and contact.
//
// Reads: activity, appointment, contact, submission.
package overview
