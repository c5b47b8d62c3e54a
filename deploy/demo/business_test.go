package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// For any day of the run: visits of a colleague do not overlap and lie within the hours, a person waits days between two visits, and
// visits that have ended are over.
func TestThePlanCouldBeARealBusiness(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Brussels")
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(1.7e9, 2e9).Draw(t, "now"), 0).In(zone)
		people := plan(now, rapid.IntRange(1, 12).Draw(t, "months"), rapid.IntRange(1, 240).Draw(t, "people"))
		emails := map[string]bool{}
		busy := make([]map[time.Time]bool, len(staff))
		for i := range busy {
			busy[i] = map[time.Time]bool{}
		}
		for _, p := range people {
			require.Regexp(t, `^[a-z.-]+@example\.com$`, p.email)
			require.False(t, emails[p.email], p.email)
			emails[p.email] = true
			for i, v := range p.visits {
				require.True(t, i == 0 || v.start.Sub(p.visits[i-1].start) > apart)
				require.True(t, staff[p.staff].works(v.start))
				end := v.start.Add(time.Duration(services[v.service].minutes) * time.Minute)
				minutes := end.Hour()*60 + end.Minute()
				require.True(t, minutes <= 12*60 || v.start.Hour() >= 13 && minutes <= 17*60+30, end)
				for half := v.start; half.Before(end); half = half.Add(30 * time.Minute) {
					require.False(t, busy[p.staff][half], "two visits at %s", half)
					busy[p.staff][half] = true
				}
				if end.Before(now) {
					require.NotContains(t, []string{"confirmed", "pending"}, v.status)
				} else {
					require.NotContains(t, []string{"completed", "no_show"}, v.status)
				}
			}
		}
	})
}

func TestWhoFillsNothingThatRunsIsToldHowToNameItsFolder(t *testing.T) {
	require.ErrorContains(t, new(administrator).read(t.TempDir()), "make demo DATA=")
}
