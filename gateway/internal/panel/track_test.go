package panel

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

// noon is a time at the beginning of a slot and of a minute.
var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func parse(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	require.NoError(t, err)
	return families
}

// requests are the metrics of a service that was started at noon and has answered n requests for contacts within 10 ms and slow ones
// within a second, refused as many as it says, and failed others.
func requests(n, slow, refused, failed int) string {
	series := func(op, code string, fast, all int) string {
		labels := fmt.Sprintf(`op=%q,code=%q,channel="api"`, op, code)
		return fmt.Sprintf("frontdesk_op_seconds_bucket{%[1]s,le=\"0.01\"} %[2]d\nfrontdesk_op_seconds_bucket{%[1]s,le=\"1\"} %[3]d\nfrontdesk_op_seconds_bucket{%[1]s,le=\"+Inf\"} %[3]d\nfrontdesk_op_seconds_sum{%[1]s} 1\nfrontdesk_op_seconds_count{%[1]s} %[3]d\n",
			labels, fast, all)
	}
	return "# TYPE frontdesk_op_seconds histogram\n" + series("find-contacts", "ok", n, n+slow) + series("find-contacts", "svc_not_found", refused, refused) + series("create-contact", "svc_internal", failed, failed) +
		fmt.Sprintf("# TYPE process_start_time_seconds gauge\nprocess_start_time_seconds %d\n", noon.Unix())
}

func started(service string) *track {
	return &track{Instance: Instance{Name: service + "-1", Service: service}, perOp: map[string]*[minutes]minute{}}
}

func TestRequestsAreCountedByOutcomeBetweenTwoSamples(t *testing.T) {
	t.Parallel()
	tr := started("contacts")
	tr.record(noon.Add(10*time.Second), noon, parse(t, requests(1000, 0, 0, 0)))
	tr.record(noon.Add(20*time.Second), noon, parse(t, requests(1060, 20, 15, 5)))
	h := history{noon.Add(20 * time.Second), []*track{tr}}
	last := func(values []float64) float64 { now, _ := extremes(values); return now }
	require.InDelta(t, 8, last(h.rates(done)), 1e-9)
	require.InDelta(t, 1.5, last(h.rates(refused)), 1e-9)
	require.InDelta(t, 0.5, last(h.rates(failed)), 1e-9)
	require.Equal(t, [outcomes]uint32{80, 15, 5}, h.outcomes(10*time.Second))

	ops := h.operations(5 * time.Minute)
	require.Len(t, ops, 2)
	require.Equal(t, []string{"find-contacts", "95", "16 %", "0"}, []string{ops[0].Name, ops[0].Count, strings.ReplaceAll(ops[0].Refused, "15.8", "16"), ops[0].Failed})
	require.Equal(t, []string{"create-contact", "5", "5"}, []string{ops[1].Name, ops[1].Count, ops[1].Failed})
}

func TestAProcessThatBeginsUnderThePanelIsCountedFromItsStart(t *testing.T) {
	t.Parallel()
	tr := started("contacts")
	tr.record(noon.Add(10*time.Second), noon.Add(-time.Hour), parse(t, requests(50, 0, 0, 0)))
	require.Equal(t, uint32(50), tr.at(slotOf(noon.Add(10 * time.Second))).outcomes[done])

	before := started("contacts")
	before.record(noon.Add(10*time.Second), noon.Add(time.Second), parse(t, requests(50, 0, 0, 0)))
	require.Zero(t, before.at(slotOf(noon.Add(10 * time.Second))).outcomes[done], "the panel cannot say when these were")
}

func TestWebhookAttemptsAreCountedByOutcomeAndWaitsForTheirTime(t *testing.T) {
	t.Parallel()
	text := func(delivered, failed, waits int) string {
		return fmt.Sprintf("# TYPE frontdesk_webhook_attempt_seconds histogram\nfrontdesk_webhook_attempt_seconds_bucket{outcome=\"delivered\",le=\"+Inf\"} %[1]d\nfrontdesk_webhook_attempt_seconds_count{outcome=\"delivered\"} %[1]d\n"+
			"frontdesk_webhook_attempt_seconds_bucket{outcome=\"failed\",le=\"+Inf\"} %[2]d\nfrontdesk_webhook_attempt_seconds_count{outcome=\"failed\"} %[2]d\n"+
			"# TYPE db_client_connection_wait_time_seconds histogram\ndb_client_connection_wait_time_seconds_bucket{le=\"0.1\"} 0\ndb_client_connection_wait_time_seconds_bucket{le=\"0.5\"} %[3]d\n"+
			"db_client_connection_wait_time_seconds_bucket{le=\"+Inf\"} %[3]d\ndb_client_connection_wait_time_seconds_count %[3]d\n", delivered, failed, waits)
	}
	tr := started("webhooks")
	tr.record(noon.Add(10*time.Second), noon, parse(t, text(100, 7, 0)))
	tr.record(noon.Add(20*time.Second), noon, parse(t, text(150, 12, 10)))
	h := history{noon.Add(20 * time.Second), []*track{tr}}
	last := func(values []float64) float64 { now, _ := extremes(values); return now }
	require.InDelta(t, 5, last(h.values(attemptsDelivered)), 1e-6)
	require.InDelta(t, .5, last(h.values(attemptsFailed)), 1e-6)
	require.InDelta(t, .3, last(h.quantiles(waitsIn, .5)[0]), 1e-6)
	var drawn []string
	for _, g := range h.groups() {
		for _, p := range g.Plots {
			drawn = append(drawn, p.Title)
		}
	}
	require.Subset(t, drawn, []string{"Webhook attempts per second", "Wait for a connection"})
}

func TestThePageSaysThatEachOfSeveralControllersKeepsItsOwnHour(t *testing.T) {
	t.Parallel()
	for n, says := range map[int]bool{1: false, 2: true} {
		p := New(Source{Gateway: func() Gateway { return Gateway{} }, Instances: func() (all []Instance) {
			all = append(all, Instance{Name: "gateway@here", Service: Controller, Gather: func() ([]*dto.MetricFamily, error) { return nil, nil }, Ready: func() []Waiting { return nil }})
			for range n - 1 {
				all = append(all, Instance{Name: "gateway@there", Service: Controller, Seen: noon, Elsewhere: "its own page has its figures"})
			}
			return all
		}})
		p.now = func() time.Time { return noon }
		p.scrape(t.Context())
		answer := httptest.NewRecorder()
		p.overview(answer, httptest.NewRequest(http.MethodGet, "/", nil))
		require.Equal(t, http.StatusOK, answer.Code)
		body := answer.Body.String()
		require.Contains(t, body, fmt.Sprintf("%d controllers run, and each keeps its own hour.", n))
		require.Contains(t, body, "This is the hour of <code>gateway@here</code>")
		require.Equal(t, !says, strings.Contains(body, `id="kept" data-live hidden`))
		require.Contains(t, body, fmt.Sprintf("%[1]d of %[1]d", n), "both are ready")
	}
}

func TestACounterThatFellBelongsToANewProcess(t *testing.T) {
	t.Parallel()
	tr := started("contacts")
	tr.record(noon.Add(10*time.Second), noon, parse(t, requests(1000, 0, 0, 0)+"# TYPE frontdesk_relay_errors_total counter\nfrontdesk_relay_errors_total 100\n"))
	tr.record(noon.Add(20*time.Second), noon, parse(t, requests(30, 0, 0, 0)+"# TYPE frontdesk_relay_errors_total counter\nfrontdesk_relay_errors_total 20\n"))
	s := tr.at(slotOf(noon.Add(20 * time.Second)))
	require.Equal(t, uint32(30), s.outcomes[done])
	require.InDelta(t, 2, s.values[relayErrors], 1e-6)
}

func TestFiguresMeanTheSameHoweverOftenThePanelMeasures(t *testing.T) {
	t.Parallel()
	measured := func(every time.Duration) history {
		tr := started("contacts")
		for at := time.Duration(0); at <= 30*time.Second; at += every {
			n := int(at / time.Second)
			tr.record(noon.Add(at), noon, parse(t, requests(6*n, 2*n, n, 0)+fmt.Sprintf("# TYPE frontdesk_relay_errors_total counter\nfrontdesk_relay_errors_total %d\n# TYPE go_goroutines gauge\ngo_goroutines %d\n", 3*n, n)))
		}
		return history{noon.Add(30 * time.Second), []*track{tr}}
	}
	often, seldom := measured(time.Second), measured(Every)
	tail := func(values []float64) []float64 { return values[len(values)-3:] }
	require.Equal(t, uint32(80+8), often.outcomes(20 * time.Second)[done], "the last slot has begun")
	require.Equal(t, uint32(80+80), seldom.outcomes(20 * time.Second)[done])
	require.InDeltaSlice(t, tail(seldom.rates(done)), tail(often.rates(done)), 1e-9)
	require.InDeltaSlice(t, []float64{8, 8, 8}, tail(often.rates(done)), 1e-9)
	require.InDeltaSlice(t, []float64{3, 3, 3}, tail(often.values(relayErrors)), 1e-4)
	require.InDeltaSlice(t, []float64{19, 29, 30}, tail(often.values(goroutines)), 0, "a gauge is its newest value")
	require.InDelta(t, seldom.callQuantile(.5, time.Minute), often.callQuantile(.5, time.Minute), 1e-9)
}

func TestTheRingHoldsTheLastHour(t *testing.T) {
	t.Parallel()
	tr := started("contacts")
	for i := range 2 * slots {
		tr.record(noon.Add(time.Duration(i)*Every), noon, parse(t, fmt.Sprintf("# TYPE go_goroutines gauge\ngo_goroutines %d\n", i)))
	}
	values := history{noon.Add(time.Duration(2*slots-1) * Every), []*track{tr}}.values(goroutines)
	require.Len(t, values, slots)
	require.InDelta(t, slots, values[0], 0, "an hour ago")
	require.InDelta(t, 2*slots-1, values[slots-1], 0, "now")

	later := history{noon.Add(time.Duration(2*slots+9) * Every), []*track{tr}}.values(goroutines)
	require.InDelta(t, 2*slots-1, later[slots-11], 0)
	require.True(t, math.IsNaN(later[slots-1]), "there is no sample of the last 100 s")
}

func TestReplicasAddUpButForFiguresOfTheDatabase(t *testing.T) {
	t.Parallel()
	text := "# TYPE frontdesk_parked gauge\nfrontdesk_parked{topic=\"a\"} 2\nfrontdesk_parked{topic=\"b\"} 1\n# TYPE go_goroutines gauge\ngo_goroutines 10\n" +
		"# TYPE frontdesk_consumer_lag_seconds gauge\nfrontdesk_consumer_lag_seconds{topic=\"a\",partition=\"0\"} %d\nfrontdesk_consumer_lag_seconds{topic=\"a\",partition=\"1\"} 1\n"
	one, two := started("booking"), started("booking")
	one.record(noon, noon, parse(t, fmt.Sprintf(text, 3)))
	two.record(noon, noon, parse(t, fmt.Sprintf(text, 5)))
	h := history{noon, []*track{one, two}}
	for f, want := range map[figure]float64{parked: 3, goroutines: 20, lagSeconds: 5} {
		now, _ := extremes(h.values(f))
		require.InDelta(t, want, now, 0, measures[f].family)
	}
	now, _ := extremes(h.values(mailsWaiting))
	require.True(t, math.IsNaN(now), "booking has no mails")
}

func TestEachFigureIsInTheTableOfMetrics(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("../../../deploy/README.md")
	require.NoError(t, err)
	families := []string{eventFamily, callsOfServices.family}
	for _, m := range measures {
		families = append(families, m.family)
	}
	for _, f := range families {
		if !strings.HasPrefix(f, "go_") && !strings.HasPrefix(f, "process_") {
			require.Contains(t, string(table), "| `"+f+"` |")
		}
	}
}

func TestManyOperationsAndInstancesStayWithinTheirMemory(t *testing.T) {
	before := heapInUse()
	p := New(Source{})
	at := noon
	p.now = func() time.Time { return at }
	var text strings.Builder
	text.WriteString("# TYPE frontdesk_op_seconds histogram\n")
	for op := range 2 * maxOperations {
		fmt.Fprintf(&text, "frontdesk_op_seconds_bucket{op=\"operation-%[1]d\",code=\"ok\",le=\"0.01\"} %[2]s\nfrontdesk_op_seconds_bucket{op=\"operation-%[1]d\",code=\"ok\",le=\"+Inf\"} %[2]s\nfrontdesk_op_seconds_count{op=\"operation-%[1]d\",code=\"ok\"} %[2]s\n", op, "N")
	}
	first, second := parse(t, strings.ReplaceAll(text.String(), "N", "1")), parse(t, strings.ReplaceAll(text.String(), "N", "2"))
	for i := range 2 * maxTracks {
		instance := Instance{Name: fmt.Sprintf("booking-%d", i), Service: "booking", Seen: noon.Add(time.Duration(i) * time.Second)}
		at = at.Add(Every)
		p.keep(instance, first, nil, nil)
		at = at.Add(Every)
		p.keep(instance, second, nil, nil)
	}
	require.Len(t, p.tracks, maxTracks)
	require.NotContains(t, p.tracks, "booking-0", "the oldest goes")
	for _, tr := range p.tracks {
		require.Len(t, tr.perOp, maxOperations)
		var together uint32
		for _, m := range tr.perOp[other] {
			together += m.outcomes[done]
		}
		require.EqualValues(t, maxOperations+1, together, "none is lost")
	}
	require.True(t, p.room(at.Add(time.Minute)))
	require.False(t, New(Source{}).with(maxTracks, at).room(at), "who lives stays")
	used := heapInUse() - before
	t.Logf("%d instances with %d operations: %d kB", maxTracks, maxOperations, used/1000)
	require.Less(t, used, int64(48<<20))
	runtime.KeepAlive(p)
}

// with adds tracks of instances that have just answered.
func (p *Panel) with(n int, now time.Time) *Panel {
	for i := range n {
		p.tracks[strconv.Itoa(i)] = &track{answered: now}
	}
	return p
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestAQuantileIsThatOfPrometheus(t *testing.T) {
	t.Parallel()
	inf := math.Inf(1)
	bounds := []float64{0.1, 0.2, 0.4, inf}
	for name, c := range map[string]struct {
		counts []uint32
		q      float64
		want   float64
	}{
		"in the middle of the first bucket, from 0 on": {[]uint32{10, 0, 0, 0}, .5, .05},
		"between two bounds":                           {[]uint32{5, 5, 0, 0}, .75, .15},
		"at a bound":                                   {[]uint32{5, 5, 0, 0}, .5, .1},
		"over an empty bucket":                         {[]uint32{1, 0, 1, 0}, .75, .3},
		"above all bounds: the highest of them":        {[]uint32{0, 0, 0, 7}, .99, .4},
		"all":                                          {[]uint32{1, 1, 2, 0}, 1, .4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := distribution{}
			d.add(bounds, c.counts)
			require.InDelta(t, c.want, d.quantile(c.q, bounds), 1e-9)
		})
	}
	require.True(t, math.IsNaN(distribution{}.quantile(.5, bounds)), "nothing was measured")
	old, new := distribution{}, []float64{0.05, 0.1, inf}
	old.add(bounds, []uint32{4, 0, 0, 0})
	old.add(new, []uint32{4, 0, 0})
	require.InDelta(t, 0.05, old.quantile(.5, union(bounds, new)), 1e-9, "replicas of two versions with other buckets")
}

func TestAHistogramWithMoreBucketsLosesTheUpperOnesAndNoMeasurement(t *testing.T) {
	t.Parallel()
	h := &dto.Histogram{SampleCount: ptr(uint64(100))}
	for i := range uint64(30) {
		h.Bucket = append(h.Bucket, &dto.Bucket{UpperBound: ptr(float64(i + 1)), CumulativeCount: ptr(2 * (i + 1))})
	}
	var c cumulative
	bounds := c.plus(h)
	require.Len(t, bounds, maxBuckets)
	require.True(t, math.IsInf(bounds[maxBuckets-1], 1))
	since := c.since(nil)
	require.Equal(t, uint32(100), since.count())
	require.Equal(t, uint32(2), since[0])
}

func ptr[T any](v T) *T { return &v }
