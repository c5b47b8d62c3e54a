package panel

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// plot is a picture of the last hour. Its lines share a scale, from 0 to Top.
type plot struct {
	Title string
	Lines []line
	Top   string
	// Label says in words what the picture shows.
	Label string
}

// line is a figure over the last hour.
type line struct {
	Name      string
	Path      string // of SVG, in a field of slots by plotHeight
	Style     int    // how it is drawn, from 1
	Now, Most string
}

// curve is the values of a line, the oldest first; NaN for a slot without a measurement.
type curve struct {
	name   string
	values []float64
}

// plotHeight is the height of the field in which lines are drawn. The page stretches it.
const plotHeight = 100

// draw makes a plot of curves. A curve without any value is left out, and so is a plot without curves.
func draw(title string, u unit, curves ...curve) *plot {
	p := &plot{Title: title}
	top := 0.
	var shown []curve
	for _, c := range curves {
		if _, most := extremes(c.values); !math.IsNaN(most) {
			top, shown = max(top, most), append(shown, c)
		}
	}
	if len(shown) == 0 {
		return nil
	}
	scale := roundUp(top)
	if u == size {
		scale = top * 1.1
	}
	p.Top = u.show(scale)
	var said []string
	for i, c := range shown {
		now, most := extremes(c.values)
		p.Lines = append(p.Lines, line{Name: c.name, Path: path(c.values, scale), Style: i + 1, Now: u.show(now), Most: u.show(most)})
		said = append(said, fmt.Sprintf("%s now %s, at most %s", c.name, u.show(now), u.show(most)))
	}
	p.Label = title + ", last hour: " + strings.Join(said, "; ")
	return p
}

// extremes returns the newest value of the last half minute and the largest; NaN without any.
func extremes(values []float64) (now, most float64) {
	now, most = math.NaN(), math.NaN()
	for i, v := range values {
		most = largest.merge(most, v)
		if !math.IsNaN(v) && i >= len(values)-3 {
			now = v
		}
	}
	return now, most
}

// roundUp returns the next number that is 1, 2 or 5 times a power of ten.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5, 10} {
		if v <= n*power {
			return n * power
		}
	}
	return 10 * power
}

// path draws values. A missing value (NaN) is a gap in the line, and a value between two gaps is a dash.
func path(values []float64, scale float64) string {
	var b strings.Builder
	drawing := false
	for x, v := range values {
		if math.IsNaN(v) {
			drawing = false
			continue
		}
		y := strconv.FormatFloat(plotHeight*(1-min(1, v/scale)), 'f', 1, 64)
		if !drawing {
			fmt.Fprintf(&b, "M%d %sh1", x, y)
		}
		fmt.Fprintf(&b, "L%d %s", x, y)
		drawing = true
	}
	return b.String()
}
