package panel

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// unit says how a figure is shown.
type unit int

const (
	plain unit = iota
	perSecond
	seconds
	size
	share
)

// show returns v with its unit, in three digits; a dash for NaN.
func (u unit) show(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	switch u {
	case perSecond:
		return digits(v) + "/s"
	case seconds:
		return duration(v)
	case size:
		for _, name := range []string{"B", "kB", "MB"} {
			if v < 999.5 {
				return digits(v) + " " + name
			}
			v /= 1000
		}
		return digits(v) + " GB"
	case share:
		return digits(100*v) + " %"
	}
	return digits(v)
}

// duration shows seconds.
func duration(v float64) string {
	switch {
	case v == 0:
		return "0 s"
	case v < 0.9995:
		return digits(v*1000) + " ms"
	case v < 120:
		return digits(v) + " s"
	case v < 2*3600:
		return digits(v/60) + " min"
	case v < 48*3600:
		return digits(v/3600) + " h"
	}
	return digits(v/86400) + " days"
}

// digits shows three digits, whole numbers in full.
func digits(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100 || v == math.Trunc(v):
		return grouped(int64(math.Round(v)))
	case a >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'g', 1, 64)
}

// grouped shows a whole number with commas between thousands.
func grouped(n int64) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10)
	}
	return grouped(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// ago shows for how long something has been so.
func ago(now, at time.Time) string {
	return duration(math.Round(max(0, now.Sub(at).Seconds()))) + " ago"
}

func clock(at time.Time) string { return at.UTC().Format(time.DateTime) + " UTC" }
