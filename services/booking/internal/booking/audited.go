package booking

import (
	"time"

	"frontdesk/libs/change"
)

// audited are the changes of an appointment that the audit log shows. Values that may say something about the client are
// "…" there: notes, reasons and places.
func audited(was, now record) change.Set {
	s := change.Set{}
	s.Note("status", was.Status, now.Status)
	s.Note("starts_at", was.StartsAt.Format(time.RFC3339), now.StartsAt.Format(time.RFC3339))
	s.Note("ends_at", was.EndsAt.Format(time.RFC3339), now.EndsAt.Format(time.RFC3339))
	s.Note("staff", was.Staff.UserID, now.Staff.UserID)
	s.Note("location_type", was.place.kind, now.place.kind)
	veil(s, "location", was.place.location, now.place.location)
	veil(s, "meeting_url", was.place.meetingURL, now.place.meetingURL)
	veil(s, "notes", was.Notes, now.Notes)
	veil(s, "cancel_reason", was.CancelReason, now.CancelReason)
	return s
}

// veil notes that a text changed, and whether there was one before and is one now.
func veil(s change.Set, field, old, new string) {
	if old != new {
		s[field] = change.Change{Old: veiled(old), New: veiled(new)}
	}
}

func veiled(text string) string {
	if text == "" {
		return ""
	}
	return "…"
}
