package app

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace"
)

func TestTelemetry(t *testing.T) {
	meters, tracers := otel.GetMeterProvider(), otel.GetTracerProvider()
	t.Cleanup(func() { otel.SetMeterProvider(meters); otel.SetTracerProvider(tracers) })
	// measured is what a scraper gets of a histogram whose only measurement belongs to the trace that is returned.
	measured := func(t *testing.T, cfg Config, accept string) (trace.SpanContext, string) {
		stop, metrics, err := telemetry(t.Context(), "desk", cfg)
		require.NoError(t, err)
		t.Cleanup(stop)
		ctx, span := otel.Tracer("frontdesk").Start(context.Background(), "work")
		defer span.End()
		seconds, err := otel.Meter("frontdesk").Float64Histogram("frontdesk.op.seconds")
		require.NoError(t, err)
		seconds.Record(ctx, .003)
		return span.SpanContext(), scraped(metrics, accept)
	}
	t.Run("without an endpoint work has a trace id for the log, and nothing is recorded", func(t *testing.T) {
		work, text := measured(t, Config{}, "application/openmetrics-text")
		require.True(t, work.HasTraceID())
		require.False(t, work.IsSampled())
		require.NotContains(t, text, "trace_id")
	})
	t.Run("with an endpoint a histogram names the trace of a measurement to a scraper that takes OpenMetrics", func(t *testing.T) {
		collector := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(collector.Close)
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
		work, text := measured(t, Config{OTLP: collector.URL}, "application/openmetrics-text")
		require.Contains(t, text, `trace_id="`+work.TraceID().String()+`"`)
		_, text = measured(t, Config{OTLP: collector.URL}, "text/plain")
		require.NotContains(t, text, "trace_id")
	})
}

// scraped is what metrics answer to a scraper that accepts a format.
func scraped(metrics http.Handler, accept string) string {
	req := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	req.Header.Set("Accept", accept)
	w := httptest.NewRecorder()
	metrics.ServeHTTP(w, req)
	return w.Body.String()
}
