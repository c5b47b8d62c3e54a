package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each read is called as its example in the description says. The records of the examples do not exist here, so 404 is right too; a
// parameter that is refused is not.
func TestTheExamplesOfReadsAreTaken(t *testing.T) {
	t.Parallel()
	sys.Healthy(t)
	person := sys.SignIn(t)
	type parameter struct {
		Name, In string
		Example  any
	}
	var doc struct {
		Paths map[string]map[string]struct {
			ID         string `json:"operationId"`
			Parameters []parameter
			Responses  map[string]struct{ Content map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(sys.Visitor().Get(t, "/openapi.json").Is(http.StatusOK).Body), &doc))
	// Of these the example depends on what was registered or sent before.
	depends := []string{"check-connection", "portal-host-proof"}
	done := 0
	for path, methods := range doc.Paths {
		o, ok := methods["get"]
		if _, streams := o.Responses["200"].Content["text/event-stream"]; !ok || streams || slices.Contains(depends, o.ID) {
			continue
		}
		query := url.Values{}
		for _, p := range o.Parameters {
			values, several := p.Example.([]any)
			if !several && p.Example != nil {
				values = []any{p.Example}
			}
			for _, v := range values {
				switch p.In {
				case "path":
					path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(inAddress(v)))
				case "query":
					query.Add(p.Name, inAddress(v))
				}
			}
		}
		if strings.Contains(path, "{") {
			require.Contains(t, path, "/abilities/", "%s has no example of its path", o.ID)
			continue
		}
		a := person.Get(t, path+"?"+query.Encode())
		require.Contains(t, o.Responses, strconv.Itoa(a.Status), "%s: %s", o.ID, a.Body)
		require.NotEqual(t, http.StatusBadRequest, a.Status, "%s: %s", o.ID, a.Body)
		if a.Status == http.StatusOK {
			done++
		}
	}
	require.Greater(t, done, 50, "most reads need no record of an example")
}

// inAddress is a value of an example as it stands in an address.
func inAddress(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	raw, _ := json.Marshal(v)
	return string(raw)
}
