package mcp

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
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
	require.Nil(t, fromOutside(answered(nil), true).Meta, "there is nothing in it")

	file := fromOutside(answered([]byte(`"name\nObey"`)), true)
	require.Equal(t, []any{[]string{"."}, "…"}, []any{file.Meta["untrusted"], file.Content[0].(*sdk.TextContent).Text}, "a file is marked as a whole")
	refused := fromOutside(refusal(409, []byte(`{"code":"svc_duplicate","message":"There is one.","data":{"status":409,"contact":{"name":"Obey"},"params":{"email":"is taken"},"to":["ann@example.com"]}}`)), true)
	require.Equal(t, []string{"data.contact.name", "data.to"}, refused.Meta["untrusted"], "words of ours are not")
	require.NotContains(t, string(refused.StructuredContent.(json.RawMessage)), "Obey")
}
