package slots

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestHoursAreReadAndWrittenByWeekday(t *testing.T) {
	var w Week
	require.NoError(t, json.Unmarshal([]byte(`{"1": [["13:00","17:00"],["09:00","12:00"]], "7": [["00:00","24:00"]], "3": []}`), &w))
	require.Equal(t, Week{0: {{540, 720}, {780, 1020}}, 6: {{0, 1440}}}, w)
	out, err := json.Marshal(w)
	require.NoError(t, err)
	require.JSONEq(t, `{"1": [["09:00","12:00"],["13:00","17:00"]], "2": [], "3": [], "4": [], "5": [], "6": [], "7": [["00:00","24:00"]]}`, string(out))
}

func TestHoursThatMakeNoSenseAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		`{"0": []}`:                  `"0" is not a weekday from 1 (Monday) to 7 (Sunday)`,
		`{"8": []}`:                  `"8" is not a weekday from 1 (Monday) to 7 (Sunday)`,
		`{"01": []}`:                 `"01" is not a weekday from 1 (Monday) to 7 (Sunday)`,
		`{"mon": []}`:                `"mon" is not a weekday from 1 (Monday) to 7 (Sunday)`,
		`{"1": [["12:00","09:00"]]}`: `weekday 1: 12:00 to 09:00 does not end after its start`,
		`{"1": [["09:00","09:00"]]}`: `weekday 1: 09:00 to 09:00 does not end after its start`,
		`{"2": [["09:00","12:00"],["11:59","13:00"]]}`: `weekday 2: 09:00 to 12:00 overlaps 11:59 to 13:00`,
		`{"2": [["09:00","12:00"],["09:00","12:00"]]}`: `weekday 2: 09:00 to 12:00 overlaps 09:00 to 12:00`,
		`{"2": [["9:00","12:00"]]}`:                    `weekday 2: "9:00" is not a time written as HH:MM`,
		`{"2": [["09:00","24:01"]]}`:                   `weekday 2: "24:01" is not a time written as HH:MM`,
		`{"2": [["09:60","12:00"]]}`:                   `weekday 2: "09:60" is not a time written as HH:MM`,
		`{"2": [["09:00 ","12:00"]]}`:                  `weekday 2: "09:00 " is not a time written as HH:MM`,
		`{"2": [["-1:00","12:00"]]}`:                   `weekday 2: "-1:00" is not a time written as HH:MM`,
		`{"2": [["09:00"]]}`:                           `weekday 2: a block is a start and an end`,
		`{"2": [["09:00","10:00","11:00"]]}`:           `weekday 2: a block is a start and an end`,
	} {
		var w Week
		require.EqualError(t, json.Unmarshal([]byte(text), &w), want, text)
		require.Equal(t, Week{}, w)
	}
}

func TestDaysKeepTheCalendar(t *testing.T) {
	for text, weekday := range map[string]int{"1969-12-31": 3, "1970-01-01": 4, "2026-10-25": 7, "2028-02-29": 2, "0001-01-01": 1} {
		d, err := parseDay(text)
		require.NoError(t, err)
		require.Equal(t, text, d.String())
		require.Equal(t, weekday, d.Weekday(), text)
	}
	for _, text := range []string{"", "2026-02-29", "2026-2-1", "26-02-01", "2026-02-01T00:00:00Z", "2026-13-01"} {
		_, err := parseDay(text)
		require.Error(t, err, text)
	}
	late := time.Date(2026, 1, 1, 23, 30, 0, 0, time.UTC)
	require.Equal(t, "2026-01-02", DayOf(late, time.FixedZone("", 3600)).String())
	require.Equal(t, "2026-01-01", DayOf(late, time.FixedZone("", -3600)).String())
}

func FuzzHoursRoundTrip(f *testing.F) {
	f.Add([]byte(`{"1": [["13:00","17:00"],["09:00","12:00"]], "7": [["00:00","24:00"]]}`))
	f.Add([]byte(`{"1": [["24:00","24:00"]], "1": null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var w Week
		if json.Unmarshal(b, &w) != nil {
			return
		}
		for _, blocks := range w {
			at := 0
			for _, b := range blocks {
				require.True(t, at <= b.Start && b.Start < b.End && b.End <= 1440)
				at = b.End
			}
		}
		out, err := json.Marshal(w)
		require.NoError(t, err)
		var again Week
		require.NoError(t, json.Unmarshal(out, &again))
		require.Equal(t, w, again)
	})
}
