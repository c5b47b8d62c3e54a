package panel

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFiguresAreShownInThreeDigitsWithTheirUnit(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]struct {
		unit  unit
		value float64
	}{
		"–":         {seconds, math.NaN()},
		"0 s":       {seconds, 0},
		"1.25 ms":   {seconds, .00125},
		"999 ms":    {seconds, .999},
		"1.00 s":    {seconds, .9999},
		"90 s":      {seconds, 90},
		"5 min":     {seconds, 300},
		"3 h":       {seconds, 3 * 3600},
		"12 days":   {seconds, 12 * 86400},
		"52.6 MB":   {size, 52_612_345},
		"1.50 GB":   {size, 1.5e9},
		"12.5 %":    {share, .125},
		"0.03/s":    {perSecond, 1. / 30},
		"1,234,567": {plain, 1234567},
	} {
		require.Equal(t, want, v.unit.show(v.value))
	}
}

func TestAPlotHasAScaleThatFitsAndGapsWhereNothingWasMeasured(t *testing.T) {
	t.Parallel()
	none := math.NaN()
	require.Nil(t, draw("Nothing", plain, curve{"a", []float64{none, none}}))
	p := draw("Requests per second", perSecond, curve{"done", []float64{0, 13, none, 6.5, 3}}, curve{"failed", []float64{none, none, none, none, none}})
	require.Equal(t, "20/s", p.Top)
	require.Len(t, p.Lines, 1, "a curve without a value is left out")
	require.Equal(t, "M0 100.0h1L0 100.0L1 35.0M3 67.5h1L3 67.5L4 85.0", p.Lines[0].Path)
	require.Equal(t, "Requests per second, last hour: done now 3/s, at most 13/s", p.Label)
	old := draw("Requests per second", perSecond, curve{"done", []float64{1, none, none, none}})
	require.Equal(t, "–", old.Lines[0].Now, "what is older than half a minute is not now")
}
