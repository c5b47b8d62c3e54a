package controller

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

type metrics struct {
	registry *prometheus.Registry
	apply    prometheus.Histogram
	answers  *prometheus.CounterVec
}

func newMetrics(r *prometheus.Registry) *metrics {
	m := &metrics{
		registry: r,
		apply: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "frontdesk_gateway_apply_seconds", Help: "From a change of the tables until Traefik serves it.",
			Buckets: []float64{.005, .01, .02, .05, .1, .25, .5, 1, 5, 30},
		}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "frontdesk_gateway_answers_total", Help: "Requests that no service answered, by the code they got.",
		}, []string{"code"}),
	}
	r.MustRegister(m.apply, m.answers, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) applied(d time.Duration) { m.apply.Observe(d.Seconds()) }
func (m *metrics) answered(code string)    { m.answers.WithLabelValues(code).Inc() }
func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}
