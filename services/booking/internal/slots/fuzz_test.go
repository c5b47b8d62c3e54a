package slots

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzDay reads days and clocks as people may write them.
func FuzzDay(f *testing.F) {
	for _, s := range []string{"2026-12-31", "2024-02-29", "2023-02-29", "0000-00-00", "0001-01-01", "9999-12-31", "+2026-1-1", "2026-12-31T00:00", "24:00", "23:59", "9:5", "٠٩:٠٠"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if day, err := parseDay(text); err == nil {
			require.Equal(t, text, day.String())
			var again Day
			require.NoError(t, again.UnmarshalText([]byte(text)))
			require.Equal(t, day, again)
			require.Equal(t, day.Weekday()%7+1, (day + 1).Weekday())
		}
		if minutes, err := ParseClock(text); err == nil {
			require.Equal(t, text, formatClock(minutes))
		}
	})
}

// FuzzZone asks for the day of any moment in zones whose clocks change.
func FuzzZone(f *testing.F) {
	var zones []*time.Location
	for _, name := range []string{"Europe/Brussels", "America/St_Johns", "Pacific/Apia", "Africa/Casablanca", "Australia/Lord_Howe"} {
		zone, err := time.LoadLocation(name)
		require.NoError(f, err)
		zones = append(zones, zone)
	}
	f.Add(int64(1_774_742_400), 0)
	f.Add(int64(1_325_239_200), 2)
	f.Fuzz(func(t *testing.T, at int64, zone int) {
		at %= 8_000_000_000 // some centuries around 1970
		here := zones[uint(zone)%uint(len(zones))]
		moment := time.Unix(at, 0)
		day := DayOf(moment, here)
		require.Equal(t, moment.In(here).Format(time.DateOnly), day.String())
		parsed, err := parseDay(day.String())
		require.NoError(t, err)
		require.Equal(t, day, parsed)
	})
}
