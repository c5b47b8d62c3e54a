package panel

import (
	"maps"
	"math"
	"slices"
)

// distribution counts measurements by the upper bound of their bucket, in seconds; the last bound is infinite.
type distribution map[float64]float64

// add adds counts of buckets with these bounds.
func (d distribution) add(bounds []float64, counts []uint32) {
	for i, n := range counts[:min(len(bounds), len(counts))] {
		if n > 0 {
			d[bounds[i]] += float64(n)
		}
	}
}

// count is the number of measurements.
func (d distribution) count() (n float64) {
	for _, c := range d {
		n += c
	}
	return n
}

// quantile estimates the value below which a share q of the measurements lies, as Prometheus' histogram_quantile does: evenly spread within
// a bucket, whose lower bound is that of the nearest bucket in bounds, and the highest finite bound for what lies above it. It is NaN
// without measurements. bounds are all buckets, sorted.
func (d distribution) quantile(q float64, bounds []float64) float64 {
	total := d.count()
	if total == 0 || len(bounds) == 0 {
		return math.NaN()
	}
	rank, below, lower := q*total, 0., 0.
	for _, upper := range bounds {
		n := d[upper]
		if below+n >= rank && n > 0 {
			if math.IsInf(upper, 1) {
				return lower
			}
			return lower + (upper-lower)*(rank-below)/n
		}
		below += n
		if !math.IsInf(upper, 1) {
			lower = upper
		}
	}
	return lower
}

// union returns all bounds of several histograms, sorted.
func union(all ...[]float64) []float64 {
	seen := map[float64]bool{}
	for _, bounds := range all {
		for _, b := range bounds {
			seen[b] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
