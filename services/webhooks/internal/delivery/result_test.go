package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/services/webhooks/internal/signature"
)

// What a delivery goes through, whatever receivers and people do.
func TestADeliveryHasSixAttemptsOfItsScheduleAndAnyNumberOfResends(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		next := now
		j := Job{Status: statusQueued, Next: &next}
		scheduledFailures := 0
		for range rapid.IntRange(1, 30).Draw(t, "attempts") {
			waiting := j.Status == statusQueued || j.Status == statusRetrying
			r := Result{Job: j, Ended: now}
			r.Resent = rapid.Bool().Draw(t, "resent") || !waiting
			if !rapid.Bool().Draw(t, "ok") {
				r.Reason, r.Unsigned = "no", rapid.IntRange(0, 5).Draw(t, "unsigned") == 0
			}
			row := r.settled()
			require.Equal(t, j.Status, row.Was)
			switch {
			case r.OK():
				require.Equal(t, statusDelivered, row.Status)
				require.Nil(t, row.Next)
				require.Equal(t, now, *row.Delivered)
			case r.Resent, r.Unsigned:
				require.Equal(t, j.Status, row.Status)
				require.Equal(t, j.Failed, row.Failed)
				require.Equal(t, j.Next, row.Next)
			default:
				scheduledFailures++
				require.Equal(t, scheduledFailures, row.Failed)
				require.Equal(t, row.Failed == signature.MaxAttempts, row.Status == statusFailed)
				require.Equal(t, row.Status == statusFailed, row.Next == nil)
				if row.Next != nil {
					require.True(t, row.Next.After(now))
				}
			}
			j.Status, j.Failed, j.Next = row.Status, row.Failed, row.Next
			now = now.Add(time.Duration(rapid.IntRange(0, 100_000).Draw(t, "seconds")) * time.Second)
		}
	})
}
