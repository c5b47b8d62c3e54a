package signature

import "time"

const (
	// MaxAttempts is how often an event is sent to one webhook before its delivery is failed.
	MaxAttempts = 6
	// PauseAfter is how many failed attempts in a row pause a webhook.
	PauseAfter = 20
	// AnswerWithin is how long a receiver may take to answer.
	AnswerWithin = 5 * time.Second
)

var waits = [MaxAttempts - 1]time.Duration{
	time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 12 * time.Hour,
}

// NextAttempt says when a delivery is tried again whose failed attempts so far, the last of them at
// failedAt, number failed (from 1 on). ok is false once the delivery has failed for good.
func NextAttempt(failed int, failedAt time.Time) (at time.Time, ok bool) {
	if failed < 1 || failed > len(waits) {
		return time.Time{}, false
	}
	return failedAt.Add(waits[failed-1]), true
}
