package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
)

// TestAViewKeepsEachParameterOfItsList holds what settings lets a view keep against what the lists of the other services take.
func TestAViewKeepsEachParameterOfItsList(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	d := sys.SetUp(t)
	type parameter struct {
		Ref  string `json:"$ref"`
		Name string
	}
	var doc struct {
		Paths map[string]map[string]struct{ Parameters []parameter }
	}
	require.NoError(t, json.Unmarshal([]byte(visitor.Get(t, "/openapi.json").Is(200).Body), &doc))
	for _, entity := range []string{"contacts", "organizations", "appointments", "submissions"} {
		query := map[string]any{}
		for _, p := range doc.Paths["/"+entity]["get"].Parameters {
			if p.Name != "" && p.Name != "per_page" && p.Name != "cursor" {
				query[p.Name] = "x"
			}
		}
		require.Greater(t, len(query), 3, entity)
		made := d.Admin.Post(t, "/views", map[string]any{"entity": entity, "name": system.Address(entity)[:20], "query": query}).Is(201)
		d.Admin.Call(t, "DELETE", "/views/"+made.Text("id"), nil).Is(204)
		query["nothing"] = "x"
		d.Admin.Post(t, "/views", map[string]any{"entity": entity, "name": "None", "query": query}).Fails(400, "svc_invalid_param")
	}
}
