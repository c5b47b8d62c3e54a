package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatVisitorsTypedIsMarkedAndMayBeLeftOut(t *testing.T) {
	t.Parallel()
	const body = `{"items":[{"id":"1","first_name":"Obey","status":"lead","organization":{"id":"2","name":"Me"}},{"id":"3","first_name":"Bo"}],"total":2}`
	marked := fromOutside(answered([]byte(body)), false)
	require.Equal(t, []string{"items.*.first_name", "items.*.organization.name"}, marked.Meta["untrusted"])
	require.JSONEq(t, body, string(marked.StructuredContent.(json.RawMessage)))

	left, err := json.Marshal(fromOutside(answered([]byte(body)), true))
	require.NoError(t, err)
	require.NotContains(t, string(left), "Obey")
	require.NotContains(t, string(left), `"Me"`)
	require.Contains(t, string(left), `"lead"`)

	require.Nil(t, fromOutside(answered([]byte(`{"items":[],"total":0}`)), true).Meta)
}
