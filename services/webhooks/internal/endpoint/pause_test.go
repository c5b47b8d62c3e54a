package endpoint

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/services/webhooks/internal/signature"
)

func TestAPauseBeginsWithTheTwentiethFailureInARow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := Streak{}
		row := 0
		for range rapid.IntRange(1, 80).Draw(t, "attempts") {
			ok := rapid.IntRange(0, 15).Draw(t, "luck") == 0
			s.Count(map[bool]Outcome{true: Succeeded, false: Failed}[ok])
			if row++; ok {
				row = 0
			}
			if row == signature.PauseAfter {
				require.Equal(t, pausedFailures, *s.paused)
				require.Equal(t, pausedFailures, s.begun)
				require.Equal(t, signature.PauseAfter, s.failures)
				return
			}
			require.Nil(t, s.paused)
			require.Equal(t, row, s.failures)
		}
	})
}
