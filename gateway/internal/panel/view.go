package panel

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// level is how something is.
type level string

// The levels, from the best to the worst.
const (
	good    level = "good"
	unknown level = "unknown" // not asked yet, or ended and replaced
	poor    level = "poor"    // it works, and somebody should look
	bad     level = "bad"
)

// state is a level and what it means, in a word or two.
type state struct {
	Level level
	Text  string
}

const (
	// silentAfter is how old the last presence of an instance may be: three times as old as it should be.
	silentAfter = 6 * time.Second
	// recent is the time over which the overview counts errors and estimates p95.
	recent = 5 * time.Minute
	// tooOld is the age in seconds from which an outbox or a partition is said to be behind, mailsTooOld that of mails.
	tooOld, mailsTooOld = 30, 300
)

// instanceView is an instance as the page shows it.
type instanceView struct {
	Instance
	State         state
	Reasons       []string
	Sign, Started string
	Memory, CPU   string
	Routines      string
	ended         bool
}

// serviceView is a service on the overview.
type serviceView struct {
	Name, Path                  string
	State                       state
	Up, Ready, Replicas         int
	Rate, Failed, P95           string
	Lag, LagAge, Outbox, Parked string
	Attention                   []string
	Instances                   []instanceView
}

// instances shows the instances, those of one service one after the other.
func (p *Panel) instances(now time.Time) []instanceView {
	all := p.source.Instances()
	var views []instanceView
	for _, i := range all {
		views = append(views, p.instance(now, i, all))
	}
	slices.SortFunc(views, func(a, b instanceView) int {
		return cmp.Or(strings.Compare(a.Service, b.Service), b.Seen.Compare(a.Seen), strings.Compare(a.Name, b.Name))
	})
	return views
}

// instance shows one of all instances.
func (p *Panel) instance(now time.Time, i Instance, all []Instance) instanceView {
	v := instanceView{Instance: i, Sign: "–", Started: "–", Memory: "–", CPU: "–", Routines: "–"}
	silent := !i.Seen.IsZero() && now.Sub(i.Seen) > silentAfter
	if !i.Seen.IsZero() {
		v.Sign = ago(now, i.Seen)
	}
	t := p.tracks[i.Name]
	if t != nil {
		if !t.started.IsZero() {
			v.Started = clock(t.started)
		}
		last := func(f figure, u unit) string { x, _ := extremes(t.values(now, f)); return u.show(x) }
		v.Memory, v.CPU, v.Routines = last(memory, size), last(processor, share), last(goroutines, plain)
	}
	successor := slices.IndexFunc(all, func(o Instance) bool {
		return o.AdminURL == i.AdminURL && i.AdminURL != "" && o.Seen.After(i.Seen) && o.Service == i.Service
	})
	switch {
	case silent && successor >= 0:
		v.State, v.ended = state{unknown, "ended"}, true
		v.Reasons = []string{all[successor].Name + " has taken its place"}
	case silent:
		v.State = state{bad, "down"}
		v.Reasons = []string{"no sign of life since " + clock(i.Seen)}
		if t != nil && t.problem != "" {
			v.Reasons = append(v.Reasons, t.problem)
		}
	case i.Elsewhere != "":
		v.State = state{good, "ready"}
	case i.AdminURL == "" && i.Gather == nil:
		v.State, v.Reasons = state{poor, "not asked"}, []string{i.Problem}
	case t == nil:
		v.State = state{unknown, "not asked yet"}
	case t.problem != "":
		v.State, v.Reasons = state{bad, "does not answer"}, []string{t.problem}
	case !t.ready:
		v.State = state{poor, "not ready"}
		for _, w := range t.waiting {
			v.Reasons = append(v.Reasons, w.For+": "+w.Why)
		}
	default:
		v.State = state{good, "ready"}
	}
	return v
}

// services shows all services, with the gateway and Traefik at the end.
func (p *Panel) services(now time.Time) []serviceView {
	byService := map[string][]instanceView{}
	for _, i := range p.instances(now) {
		byService[i.Service] = append(byService[i.Service], i)
	}
	names := slices.Clone(p.source.Services)
	for _, name := range slices.Sorted(maps.Keys(byService)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var views []serviceView
	for _, name := range names {
		views = append(views, p.service(now, name, byService[name]))
	}
	return views
}

// service shows one service.
func (p *Panel) service(now time.Time, name string, instances []instanceView) serviceView {
	v := serviceView{Name: name, Path: "/services/" + name, Instances: instances}
	for _, i := range instances {
		if i.ended {
			continue
		}
		v.Replicas++
		if i.State.Level != bad {
			v.Up++
		}
		if i.State.Level == good {
			v.Ready++
		}
		for _, r := range i.Reasons {
			v.Attention = append(v.Attention, fmt.Sprintf("%s is %s: %s", i.Name, i.State.Text, r))
		}
	}
	h := p.history(now, name)
	total, lastMinute := h.outcomes(recent), h.outcomes(time.Minute)
	rate := math.NaN()
	if h.measuresCalls() {
		rate = float64(lastMinute[done]+lastMinute[refused]+lastMinute[failed]) / 60
	}
	v.Rate, v.Failed, v.P95 = perSecond.show(rate), "–", seconds.show(h.callQuantile(0.95, recent))
	if h.measuresCalls() {
		v.Failed = plain.show(float64(total[failed]))
	}
	last := func(f figure) float64 { x, _ := extremes(h.values(f)); return x }
	v.Lag, v.LagAge = plain.show(last(lag)), seconds.show(last(lagSeconds))
	v.Outbox, v.Parked = seconds.show(last(outboxAge)), plain.show(last(parked))
	attend := func(yes bool, format string, args ...any) {
		if yes {
			v.Attention = append(v.Attention, fmt.Sprintf(format, args...))
		}
	}
	attend(v.Replicas == 0, "no instance has said that it is there")
	attend(total[failed] > 0, "requests failed in the last five minutes: %d", total[failed])
	attend(last(parked) > 0, "messages are parked: %s", plain.show(last(parked)))
	attend(last(outboxAge) > tooOld, "the oldest message in the outbox waits for %s", seconds.show(last(outboxAge)))
	attend(last(lagSeconds) > tooOld, "the message that is being handled is %s old", seconds.show(last(lagSeconds)))
	attend(last(relayErrors) > 0, "the relay fails")
	attend(last(jobErrors) > 0, "jobs fail")
	attend(last(mailsAge) > mailsTooOld, "the oldest mail waits for %s", seconds.show(last(mailsAge)))
	attend(last(webhooksPaused) > 0, "webhooks are paused: %s", plain.show(last(webhooksPaused)))
	attend(last(remindersOverdue) > 0, "reminders are overdue: %s", plain.show(last(remindersOverdue)))
	switch {
	case v.Ready == 0 && slices.ContainsFunc(instances, func(i instanceView) bool { return i.State.Level == unknown && !i.ended }):
		v.State = state{unknown, "not asked yet"}
	case v.Ready == 0:
		v.State = state{bad, "down"}
	case v.Up < v.Replicas:
		v.State = state{bad, "replica down"}
	case len(v.Attention) > 0:
		v.State = state{poor, "needs attention"}
	default:
		v.State = state{good, "well"}
	}
	return v
}

// history is the last hour of all instances of a service.
type history struct {
	now    time.Time
	tracks []*track
}

func (p *Panel) history(now time.Time, service string) history {
	h := history{now: now}
	for _, name := range slices.Sorted(maps.Keys(p.tracks)) {
		if t := p.tracks[name]; t.Service == service && !t.answered.IsZero() {
			h.tracks = append(h.tracks, t)
		}
	}
	return h
}

// measuresCalls reports whether the service measures its requests and has been asked.
func (h history) measuresCalls() bool {
	return slices.ContainsFunc(h.tracks, func(t *track) bool { return callsOf(t.Service).family != "" })
}

// at returns the sample of a slot; nil if the instance was not measured in it.
func (t *track) at(slot int64) *sample {
	if s := &t.ring[slot%int64(slots)]; s.slot == slot {
		return s
	}
	return nil
}

// oldest is the first slot of the last hour.
func oldest(now time.Time) int64 { return slotOf(now) - int64(slots) + 1 }

// values are those of a figure over the last hour.
func (t *track) values(now time.Time, f figure) []float64 {
	return history{now, []*track{t}}.values(f)
}

// values are those of a figure over the last hour, of all replicas together.
func (h history) values(f figure) []float64 {
	return h.each(func(x float64, s *sample) float64 { return measures[f].replicas.merge(x, float64(s.values[f])) })
}

// rates are the requests per second with one of some outcomes.
func (h history) rates(counted ...outcome) []float64 {
	if !h.measuresCalls() {
		return nil
	}
	return h.each(func(x float64, s *sample) float64 {
		for _, o := range counted {
			x = sum.merge(x, float64(s.outcomes[o])/max(1, s.seconds))
		}
		return x
	})
}

// each folds the samples of all replicas, slot by slot, from NaN on.
func (h history) each(add func(x float64, s *sample) float64) []float64 {
	all := make([]float64, slots)
	for i := range all {
		all[i] = math.NaN()
		for _, t := range h.tracks {
			if s := t.at(oldest(h.now) + int64(i)); s != nil {
				all[i] = add(all[i], s)
			}
		}
	}
	return all
}

// outcomes counts the requests since some time ago.
func (h history) outcomes(since time.Duration) (n [outcomes]uint32) {
	h.samples(since, func(_ *track, s *sample) {
		for o, c := range s.outcomes {
			n[o] += c
		}
	})
	return n
}

// samples calls f for each sample since some time ago.
func (h history) samples(since time.Duration, f func(*track, *sample)) {
	for slot := slotOf(h.now.Add(-since)) + 1; slot <= slotOf(h.now); slot++ {
		for _, t := range h.tracks {
			if s := t.at(slot); s != nil {
				f(t, s)
			}
		}
	}
}

// callBounds are the bounds of all replicas' buckets.
func (h history) callBounds() []float64 {
	var all [][]float64
	for _, t := range h.tracks {
		all = append(all, t.callBounds)
	}
	return union(all...)
}

// callQuantile estimates a quantile of the times of all requests since some time ago, in seconds.
func (h history) callQuantile(q float64, since time.Duration) float64 {
	d := distribution{}
	h.samples(since, func(t *track, s *sample) { d.add(t.callBounds, s.calls[:]) })
	return d.quantile(q, h.callBounds())
}

// smooth is for how many slots a quantile of a curve counts: those of few measurements jump.
const smooth = 6

// quantiles are some quantiles over the last hour, in seconds: at each slot those of the minute before it.
func (h history) quantiles(of func(*track, *sample) ([]float64, *histogram), qs ...float64) [][]float64 {
	all := make([][]float64, len(qs))
	for slot := oldest(h.now); slot <= slotOf(h.now); slot++ {
		d, bounds := distribution{}, [][]float64{}
		for _, t := range h.tracks {
			for back := range int64(smooth) {
				if s := t.at(slot - back); s != nil {
					b, counts := of(t, s)
					d.add(b, counts[:])
					bounds = append(bounds, b)
				}
			}
		}
		whole := union(bounds...)
		for i, q := range qs {
			all[i] = append(all[i], d.quantile(q, whole))
		}
	}
	return all
}

func callsIn(t *track, s *sample) ([]float64, *histogram)  { return t.callBounds, &s.calls }
func eventsIn(t *track, s *sample) ([]float64, *histogram) { return t.eventBounds, &s.events }
func waitsIn(t *track, s *sample) ([]float64, *histogram)  { return t.waitBounds, &s.waits }

// operationView is an operation in a table.
type operationView struct {
	Name                         string
	Count, Rate, Refused, Failed string
	P50, P95, P99                string
	count                        float64
}

// operations are what was asked of a service in the minutes since some time ago, the most frequent first.
func (h history) operations(since time.Duration) []operationView {
	type totals struct {
		outcomes [outcomes]float64
		times    distribution
	}
	byName := map[string]*totals{}
	first := h.now.Add(-since).Unix()/60 + 1
	for _, t := range h.tracks {
		for name, ring := range t.perOp {
			for _, m := range ring {
				if m.minute < first || m.minute > h.now.Unix()/60 {
					continue
				}
				if byName[name] == nil {
					byName[name] = &totals{times: distribution{}}
				}
				for o, n := range m.outcomes {
					byName[name].outcomes[o] += float64(n)
				}
				byName[name].times.add(t.callBounds, m.calls[:])
			}
		}
	}
	bounds := h.callBounds()
	var views []operationView
	for name, o := range byName {
		n := o.times.count()
		quantile := func(q float64) string { return seconds.show(o.times.quantile(q, bounds)) }
		views = append(views, operationView{Name: name, count: n, Count: plain.show(n), Rate: perSecond.show(n / since.Seconds()), Refused: share.show(o.outcomes[refused] / n),
			Failed: plain.show(o.outcomes[failed]), P50: quantile(.5), P95: quantile(.95), P99: quantile(.99)})
	}
	slices.SortFunc(views, func(a, b operationView) int {
		return cmp.Or(cmp.Compare(b.count, a.count), strings.Compare(a.Name, b.Name))
	})
	return views
}

// topicView is a topic that a service consumes.
type topicView struct{ Name, Lag, Age, Partitions string }

// topics are what a service consumes, by the last answers of its replicas.
func (h history) topics() []topicView {
	type totals struct{ lag, age, partitions float64 }
	byName := map[string]*totals{}
	add := func(family string, into func(*totals) *float64, a across) {
		for _, t := range h.fresh() {
			for _, m := range t.newest[family].GetMetric() {
				name := labelOf(m, "topic")
				if byName[name] == nil {
					byName[name] = &totals{math.NaN(), math.NaN(), math.NaN()}
				}
				v := into(byName[name])
				*v = a.merge(*v, number(m))
			}
		}
	}
	add(measures[lag].family, func(t *totals) *float64 { return &t.lag }, sum)
	add(measures[lagSeconds].family, func(t *totals) *float64 { return &t.age }, largest)
	add(measures[partitions].family, func(t *totals) *float64 { return &t.partitions }, sum)
	var views []topicView
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		t := byName[name]
		views = append(views, topicView{name, plain.show(t.lag), seconds.show(t.age), plain.show(t.partitions)})
	}
	return views
}

// fresh are the tracks of instances that answered lately.
func (h history) fresh() (tracks []*track) {
	for _, t := range h.tracks {
		if h.now.Sub(t.answered) < 3*Every {
			tracks = append(tracks, t)
		}
	}
	return tracks
}

// figureView is a metric with its labels at each instance.
type figureView struct{ Name, Labels, Value string }

// all are the metrics of the last answers, without histograms: of replicas the largest.
func (h history) all() []figureView {
	values := map[[2]string]float64{}
	for _, t := range h.fresh() {
		for name, f := range t.newest {
			for _, m := range f.GetMetric() {
				key := [2]string{name, labels(m)}
				if v, ok := values[key]; !ok || number(m) > v {
					values[key] = number(m)
				}
			}
		}
	}
	var views []figureView
	for key, v := range values {
		views = append(views, figureView{key[0], key[1], digits(v)})
	}
	slices.SortFunc(views, func(a, b figureView) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Labels, b.Labels))
	})
	return views
}

// labels renders the labels of a metric, without those that name its OpenTelemetry scope.
func labels(m *dto.Metric) string {
	var all []string
	for _, l := range m.GetLabel() {
		if !strings.HasPrefix(l.GetName(), "otel_scope") {
			all = append(all, l.GetName()+"="+l.GetValue())
		}
	}
	return strings.Join(all, ", ")
}
