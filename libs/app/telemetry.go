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
)

// telemetry sets OpenTelemetry up: metrics for Prometheus, traces to the OTLP endpoint if there is one.
func telemetry(ctx context.Context, name string, cfg Config) (stop func(), metrics http.Handler, err error) {
	res := resource.NewSchemaless(attribute.String("service.name", "frontdesk-"+name))
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reader, err := exporter.New(exporter.WithRegisterer(registry))
	if err != nil {
		return nil, nil, err
	}
	meters := metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(res))
	otel.SetMeterProvider(meters)
	otel.SetTextMapPropagator(propagation.TraceContext{})
	stop = func() {}
	if cfg.OTLP != "" {
		spans, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, nil, err
		}
		tracers := trace.NewTracerProvider(trace.WithBatcher(spans), trace.WithResource(res))
		otel.SetTracerProvider(tracers)
		stop = func() {
			ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
			defer cancel()
			_ = tracers.Shutdown(ctx)
		}
	}
	return stop, promhttp.HandlerFor(registry, promhttp.HandlerOpts{}), nil
}
