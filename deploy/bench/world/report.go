package world

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
)

// Figure is one line of a report.
type Figure struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
	// Limit is the Bound of the value. A figure without a bound has no limit.
	Limit Value  `json:"limit"`
	Bound string `json:"bound,omitempty"`
}

// Bounds of a figure.
const (
	AtMost  = "at most"
	AtLeast = "at least"
)

// Missed reports whether the value lies beyond the limit.
func (f Figure) Missed() bool {
	return f.Bound == AtMost && f.Value.Number > f.Limit.Number || f.Bound == AtLeast && f.Value.Number < f.Limit.Number
}

// Value is a number and its unit: "ms", "s", "/s", "MiB", "" for a ratio or a count.
type Value struct {
	Number float64 `json:"number"`
	Unit   string  `json:"unit,omitempty"`
}

func (v Value) String() string {
	digits := 2
	switch n := v.Number; {
	case n == float64(int64(n)) || n >= 1000:
		digits = 0
	case n >= 10:
		digits = 1
	}
	text := fmt.Sprintf("%.*f", digits, v.Number)
	if v.Unit != "" {
		text += " " + v.Unit
	}
	return text
}

// Ms is a duration in milliseconds.
func Ms(d time.Duration) Value { return Value{float64(d.Microseconds()) / 1000, "ms"} }

// Seconds is a duration in seconds.
func Seconds(d time.Duration) Value { return Value{d.Seconds(), "s"} }

// PerSecond is a rate.
func PerSecond(n float64) Value { return Value{n, "/s"} }

// MiB is an amount of memory that is given in KiB.
func MiB(kib int) Value { return Value{float64(kib) / 1024, "MiB"} }

// Plain is a ratio or a count.
func Plain[N int | float64](n N) Value { return Value{Number: float64(n)} }

// Ratio is a divided by b.
func Ratio[N float64 | time.Duration](a, b N) Value { return Plain(float64(a) / float64(b)) }

// Report prints one line per figure: its name, its value, and for a bound its limit and value ÷ limit.
type Report struct{ file io.Writer }

// AtMost reports a value that must not exceed limit.
func (r *Report) AtMost(name string, value, limit Value) {
	r.add(Figure{name, value, limit, AtMost})
}

// AtLeast reports a value that must reach limit.
func (r *Report) AtLeast(name string, value, limit Value) {
	r.add(Figure{name, value, limit, AtLeast})
}

// Note reports a value without a limit: a part of a ratio, or something to know.
func (r *Report) Note(name string, value Value) { r.add(Figure{Name: name, Value: value}) }

func (r *Report) add(f Figure) {
	line := fmt.Sprintf("%-64s %12s", f.Name, f.Value)
	if f.Bound != "" {
		verdict := "ok"
		if f.Missed() {
			verdict = "MISSED"
		}
		share := "-"
		if f.Limit.Number != 0 {
			share = Ratio(f.Value.Number, f.Limit.Number).String()
		}
		line += fmt.Sprintf("   %-8s %-10s %6s  %s", f.Bound, f.Limit, share, verdict)
	}
	fmt.Println(line)
	if r.file != nil {
		_ = json.NewEncoder(r.file).Encode(f)
	}
}

// Quantile is the value below which the share q of all lies; zero if there are none.
func Quantile[N float64 | time.Duration](q float64, all []N) (v N) {
	if len(all) == 0 {
		return v
	}
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, int(q*float64(len(all))))]
}

// Median is the middle value.
func Median[N float64 | time.Duration](all []N) N { return Quantile(.5, all) }

// Ratios divides each a by the b of the same turn.
func Ratios(a, b []float64) (all []float64) {
	for i := range a {
		all = append(all, a[i]/b[i])
	}
	return all
}
