package app

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"

	"frontdesk/libs/version"
)

// telemetry sets OpenTelemetry up: metrics for Prometheus, with exemplars of sampled traces for scrapers that take OpenMetrics, and traces to
// the OTLP endpoint. Without an endpoint no span is recorded, but each request still has the trace id that log lines name.
func telemetry(ctx context.Context, name string, cfg Config) (stop func(), metrics http.Handler, err error) {
	res := resource.NewSchemaless(attribute.String("service.name", "frontdesk-"+name), attribute.String("service.version", version.String()))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return nil, nil, err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(res))
	otel.SetMeterProvider(meters)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	sampling := trace.WithSampler(trace.NeverSample())
	if cfg.OTLP != "" {
		spans, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, nil, err
		}
		sampling = trace.WithBatcher(spans) // OTEL_TRACES_SAMPLER says which
	}
	tracers := trace.NewTracerProvider(sampling, trace.WithResource(res))
	otel.SetTracerProvider(tracers)
	stop = func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		_ = tracers.Shutdown(ctx)
	}
	// A compressor holds 1.4 MB for good, and the answer has 40 kB.
	return stop, promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true, DisableCompression: true}), nil
}
