package panel

import (
	"math"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// The panel keeps an hour in memory, at most 48 MB of it: maxTracks instances with maxOperations operations each.
const (
	// Every is the length of a slot, which has one sample of an instance, and the longest time between two measurements. Those of one
	// slot are added up, so that figures and plots mean the same however often the panel measures.
	Every = 10 * time.Second
	// slots is how many samples are kept, minutes for how many minutes operations are kept apart.
	slots   = int(time.Hour / Every)
	minutes = 60
	// maxTracks instances are kept: the newest, also of processes that have ended. maxOperations are kept apart; others count as one.
	maxTracks     = 40
	maxOperations = 160
	// maxBuckets of a histogram are kept; what lies above counts in the last one.
	maxBuckets = 14
)

// other is the operation that stands for those beyond maxOperations.
const other = "(others)"

// histogram holds what was measured between two samples.
type histogram [maxBuckets]uint32

// sample is what an instance measured in one slot.
type sample struct {
	slot     int64   // since 1970, of Every each; 0 for none
	seconds  float64 // over which its rates and counts were measured
	values   [figures]float32
	outcomes [outcomes]uint32
	calls    histogram
	events   histogram
	waits    histogram
}

// minute is what happened to an operation in one minute.
type minute struct {
	minute   int64 // since 1970
	outcomes [outcomes]uint32
	calls    histogram
}

// track holds the last hour of an instance.
type track struct {
	Instance
	started time.Time
	ring    [slots]sample
	perOp   map[string]*[minutes]minute
	// callBounds, eventBounds and waitBounds are the upper bounds of the buckets.
	callBounds, eventBounds, waitBounds []float64
	before                              *totals // of the last scrape
	// newest are the metrics of the last scrape that single figures are shown of, without histograms.
	newest map[string]*dto.MetricFamily
	// answered is when the metrics were last read; problem is why they could not be read since.
	answered time.Time
	problem  string
	waiting  []Waiting
	ready    bool
}

// totals are the counters of a process at a time, which never fall while it lives.
type totals struct {
	at       time.Time
	counters [figures]float64
	calls    map[call]*cumulative
	events   cumulative
	waits    cumulative
}

// call is an operation with its outcome. Other labels are added up.
type call struct {
	operation string
	outcome   outcome
}

// record adds the metrics of an instance at a time. counted is when the panel began: a process that was started later has its first
// sample compared with nothing.
func (t *track) record(at, counted time.Time, families map[string]*dto.MetricFamily) {
	if v := (measure{family: "process_start_time_seconds"}).read(families); v > 0 {
		t.started = time.UnixMilli(int64(v * 1000))
	}
	if t.before == nil && t.started.After(counted) {
		t.before = &totals{at: t.started}
	}
	now, s, before := t.read(at, families), &t.ring[slotOf(at)%int64(slots)], t.before
	if s.slot != slotOf(at) {
		*s = sample{slot: slotOf(at)}
	}
	var passed float64
	if before != nil {
		passed = max(1, at.Sub(before.at).Seconds())
	}
	for f, m := range measures {
		switch {
		case !m.rate:
			s.values[f] = float32(m.read(families))
		case before == nil || math.IsNaN(m.read(families)):
			s.values[f] = float32(math.NaN())
		default:
			s.values[f] = float32((s.total(f) + growth(before.counters[f], now.counters[f])) / (s.seconds + passed))
		}
	}
	if before != nil {
		for key, total := range now.calls {
			h := total.since(before.calls[key])
			n := h.count()
			if n == 0 {
				continue
			}
			o := t.operation(key.operation, at.Unix()/60)
			s.outcomes[key.outcome] += n
			s.calls.add(h)
			o.outcomes[key.outcome] += n
			o.calls.add(h)
		}
		events, waits := now.events.since(&before.events), now.waits.since(&before.waits)
		s.events.add(events)
		s.waits.add(waits)
	}
	s.seconds += passed
	t.before, t.answered, t.problem = now, at, ""
	t.newest = map[string]*dto.MetricFamily{}
	for name, f := range families {
		if f.GetType() != dto.MetricType_HISTOGRAM && strings.HasPrefix(name, "frontdesk_") && len(f.GetMetric()) <= 200 {
			t.newest[name] = f
		}
	}
}

// total is by how much the counter of a rate has grown in the slot so far.
func (s *sample) total(f int) float64 {
	if s.seconds == 0 || math.IsNaN(float64(s.values[f])) {
		return 0
	}
	return float64(s.values[f]) * s.seconds
}

// read returns the counters of an instance.
func (t *track) read(at time.Time, families map[string]*dto.MetricFamily) *totals {
	now := &totals{at: at, calls: map[call]*cumulative{}}
	for f, m := range measures {
		if v := m.read(families); m.rate && !math.IsNaN(v) {
			now.counters[f] = v
		}
	}
	c := callsOf(t.Service)
	for _, m := range families[c.family].GetMetric() {
		key := call{labelOf(m, c.operation), c.outcome(m)}
		if now.calls[key] == nil && len(now.calls) >= maxOperations*int(outcomes) {
			key.operation = other
		}
		if now.calls[key] == nil {
			now.calls[key] = &cumulative{}
		}
		t.callBounds = now.calls[key].plus(m.GetHistogram())
	}
	for _, m := range families[eventFamily].GetMetric() {
		t.eventBounds = now.events.plus(m.GetHistogram())
	}
	for _, m := range families[waitFamily].GetMetric() {
		t.waitBounds = now.waits.plus(m.GetHistogram())
	}
	return now
}

// operation returns the present minute of an operation.
func (t *track) operation(name string, now int64) *minute {
	if t.perOp[name] == nil && len(t.perOp) >= maxOperations-1 {
		name = other
	}
	if t.perOp[name] == nil {
		t.perOp[name] = &[minutes]minute{}
	}
	m := &t.perOp[name][now%minutes]
	if m.minute != now {
		*m = minute{minute: now}
	}
	return m
}

// cumulative is a histogram as a process shows it: each bucket counts what lies below its bound since the process was started.
type cumulative [maxBuckets]uint64

// plus adds the buckets of h, and returns their upper bounds, of which the last is infinite.
func (c *cumulative) plus(h *dto.Histogram) (bounds []float64) {
	for i, b := range h.GetBucket() {
		if i == maxBuckets-1 || math.IsInf(b.GetUpperBound(), 1) {
			break
		}
		c[i] += b.GetCumulativeCount()
		bounds = append(bounds, b.GetUpperBound())
	}
	for i := len(bounds); i < maxBuckets; i++ {
		c[i] += h.GetSampleCount()
	}
	return append(bounds, math.Inf(1))
}

// since is what was measured since before, which may be nil, in each bucket alone. If before counts more it is of a process that has
// ended meanwhile.
func (c *cumulative) since(before *cumulative) (h histogram) {
	if before == nil || before[maxBuckets-1] > c[maxBuckets-1] {
		before = &cumulative{}
	}
	for i, last := 0, uint64(0); i < maxBuckets; i++ {
		n := max(last, c[i]-min(c[i], before[i]))
		h[i], last = uint32(n-last), n
	}
	return h
}

func (h *histogram) count() (n uint32) {
	for _, c := range h {
		n += c
	}
	return n
}

func (h *histogram) add(other histogram) {
	for i, n := range other {
		h[i] += n
	}
}

// growth is by how much a counter has grown. One that has fallen is of a process that was started anew.
func growth(before, now float64) float64 {
	if now < before {
		return now
	}
	return now - before
}

func slotOf(at time.Time) int64 { return at.Unix() / int64(Every/time.Second) }
