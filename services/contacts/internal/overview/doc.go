// Package overview sums up what concerns somebody today, counts what is new to them and new contacts by week: the table news_seen, when each
// person last looked.
//
// It uses timeline, contact and task.
//
// Reads: activity, appointment, contact, submission.
package overview
