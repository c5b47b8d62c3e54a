package ics

import (
	"bytes"
	"unicode/utf8"

	ical "github.com/arran4/golang-ical"
)

// Publish is the method of a file of several events, which are added, changed or taken out as each of them says.
const Publish Method = "PUBLISH"

// PublishFile is Event.File for several events, each with its own method. They have no attendee: a request holds one event only, and what is
// published has none (RFC 5546).
func PublishFile(events []Event) ([]byte, error) {
	cal := calendar(ical.MethodPublish)
	for _, e := range events {
		v, err := e.organized()
		if err != nil {
			return nil, err
		}
		cal.AddVEvent(v)
	}
	return write(cal)
}

// Unfold joins the lines of a file that were folded, so that a text in it can be found.
func Unfold(file []byte) []byte { return bytes.ReplaceAll(file, []byte("\r\n "), nil) }

// mostOctets is how long a line is at most (RFC 5545, 3.1).
const mostOctets = 75

// Fold folds the long lines of a file, between characters.
func Fold(file []byte) []byte {
	var out bytes.Buffer
	length := 0
	for _, r := range string(file) {
		if size := utf8.RuneLen(r); r != '\r' && r != '\n' && length+size > mostOctets {
			out.WriteString("\r\n ")
			length = 1
		}
		out.WriteRune(r)
		if length += utf8.RuneLen(r); r == '\n' {
			length = 0
		}
	}
	return out.Bytes()
}
