package apps

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestSchemasThatClashAreToldApart(t *testing.T) {
	of := func(service, schemas string) *Manifest {
		m := &Manifest{Manifest: &proto.Manifest{Service: service}}
		require.NoError(t, json.Unmarshal([]byte(`{"paths":{},"components":{"schemas":`+schemas+`}}`), &m.part))
		return m
	}
	a := of("a", `{"Same":{"type":"string"},"Leaf":{"type":"string"},"Tree":{"$ref":"#/components/schemas/Leaf"}}`)
	b := of("b", `{"Same":{"type":"string"},"Leaf":{"type":"integer"},"Tree":{"$ref":"#/components/schemas/Leaf"}}`)
	docs, err := merge("http://localhost/v1", []*Manifest{a, b}, nil, func(string) bool { return true })
	require.NoError(t, err)
	for _, name := range []string{"Same", "ALeaf", "BLeaf", "ATree", "BTree"} {
		require.Contains(t, string(docs.open), `"`+name+`":`)
	}
	require.False(t, strings.Contains(string(docs.open), `"Leaf":`))
	loaded, err := openapi3.NewLoader().LoadFromData(docs.open)
	require.NoError(t, err)
	require.NoError(t, loaded.Validate(t.Context()))
}
