package app

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/propagation"
)

func TestALogLineOfTracedWorkHasItsTrace(t *testing.T) {
	var out bytes.Buffer
	log := newLogger(&out, "desk").With("more", 1)
	log.InfoContext(propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{
		"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}), "said")
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "desk", line["service"])
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", line["trace_id"])
	require.Equal(t, "b7ad6b7169203331", line["span_id"])
	out.Reset()
	log.Info("said")
	require.NotContains(t, out.String(), "trace_id")
}
