package appointments

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/services/booking/internal/services"
)

// Statuses of an appointment.
const (
	StatusPending   = "pending"
	StatusConfirmed = "confirmed"
	StatusDeclined  = "declined"
	StatusCancelled = "cancelled"
	StatusCompleted = "completed"
	StatusNoShow    = "no_show"
)

// Must returns nil when the status is one of allowed, else svc_invalid_status with the current status.
func (a Record) Must(allowed ...string) error {
	if slices.Contains(allowed, a.Status) {
		return nil
	}
	return fault.InvalidStatus(a.Status, fmt.Sprintf("The appointment is %s, and this needs it to be %s.", a.Status, strings.Join(allowed, " or ")))
}

// Manageable are the statuses in which a client can still change something.
var Manageable = []string{StatusPending, StatusConfirmed}

// RefuseChange is nil while the client may change the appointment: svc_invalid_status, or svc_conflict with the reason
// changes_off or too_late, in this order.
func (a Record) RefuseChange(s services.Settings, now time.Time) error {
	switch {
	case a.Must(Manageable...) != nil:
		return a.Must(Manageable...)
	case !s.ClientChanges:
		return fault.Conflict("changes_off", "Appointments cannot be changed online. Please contact us.")
	case now.After(a.StartsAt.Add(-time.Duration(s.CancelNoticeHours) * time.Hour)):
		return fault.Conflict("too_late", lateText(s))
	}
	return nil
}

// lateText is what a client reads when it is too late to change anything.
func lateText(s services.Settings) string {
	if s.LateCancelText != "" {
		return s.LateCancelText
	}
	if s.CancelNoticeHours == 0 {
		return "The appointment has begun and can no longer be changed online. Please contact us."
	}
	return fmt.Sprintf("Appointments can be changed online until %d hours before they start. Please contact us.", s.CancelNoticeHours)
}
