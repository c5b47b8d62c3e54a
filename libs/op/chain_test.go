package op

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

func TestARequestWhoseCallerHasHungUpIsNoFailureOfOurs(t *testing.T) {
	reader := sdk.NewManualReader()
	before := otel.GetMeterProvider()
	otel.SetMeterProvider(sdk.NewMeterProvider(sdk.WithReader(reader)))
	t.Cleanup(func() { otel.SetMeterProvider(before) })
	e := &Entry{Op: Op{ID: "wait"}}
	call := func(ctx context.Context, err error) {
		_, _ = e.observe()(func(context.Context, any) (any, error) { return nil, err })(ctx, &request{http: httptest.NewRequestWithContext(ctx, http.MethodGet, "/v1/wait", nil)})
	}
	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	call(gone, context.Canceled)
	call(gone, errors.New("a broken connection"))
	call(t.Context(), errors.New("a bug"))

	var all metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &all))
	counted := map[string]uint64{}
	for _, p := range all.ScopeMetrics[0].Metrics[0].Data.(metricdata.Histogram[float64]).DataPoints {
		code, _ := p.Attributes.Value("code")
		counted[code.AsString()] += p.Count
	}
	require.Equal(t, map[string]uint64{"abandoned": 2, "svc_internal": 1}, counted)
}
