package apptest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// Change is a call of an operation that honours If-Match, on a record that is there.
type Change struct {
	// Path of the record. GET of it answers with the record.
	Path string
	// Body differs from the record as it is.
	Body any
	// Tag answers with the record's ETag where GET of Path does not.
	Tag func() string
}

// CheckVersions requires that each operation of the service that is Versioned refuses a change of a record that somebody else has
// changed, and takes it from who has seen the newest version. changes has one change for each of them, by route; as makes them.
func (s *Service) CheckVersions(as *Client, changes map[string]Change) {
	s.t.Helper()
	var versioned []string
	for route, o := range s.Parts.Ops.Operations() {
		if o.Versioned {
			versioned = append(versioned, route)
		}
	}
	require.ElementsMatch(s.t, versioned, slices.Collect(maps.Keys(changes)))
	for _, route := range slices.SortedFunc(maps.Keys(changes), patchesFirst) {
		c, method := changes[route], strings.Fields(route)[0]
		tag := c.Tag
		if tag == nil {
			tag = func() string { return as.Get(c.Path).Is(200).Header.Get("ETag") }
		}
		seen := tag()
		require.Regexp(s.t, `^"\d+"$`, seen, "GET %s", c.Path)
		for _, stale := range []string{`"99"`, "W/" + seen, `"99", "-5", "x"`} {
			refused := as.With("If-Match", stale).Call(method+" "+c.Path, c.Body).Fails(412, "svc_version_mismatch")
			require.Equal(s.t, strings.Trim(seen, `"`), fmt.Sprint(refused.Field("data.version")), route)
			require.Equal(s.t, strings.HasPrefix(stale, "W/"), refused.Text("data.reason") == "weak", route)
		}
		require.Equal(s.t, seen, tag(), "%s has changed the record", route)
		as.With("If-Match", "7").Call(method+" "+c.Path, c.Body).Fails(400, "svc_invalid_param")
		done := as.With("If-Match", `"99", `+seen).Call(method+" "+c.Path, c.Body)
		require.Less(s.t, done.Status, 300, "%s: %s", route, done.Body)
		if method != http.MethodDelete {
			require.NotEqual(s.t, seen, done.Header.Get("ETag"), route)
			require.Equal(s.t, done.Header.Get("ETag"), tag(), route)
			as.With("If-Match", seen).Call(method+" "+c.Path, c.Body).Fails(412, "svc_version_mismatch")
			as.With("If-Match", "*").Call(method+" "+c.Path, c.Body).Is(done.Status)
		}
	}
}

func patchesFirst(a, b string) int { return strings.Compare(b, a) }
