package controller

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func shapeOf(t require.TestingT, pattern string) shape {
	s, err := parseShape(pattern)
	require.NoError(t, err, pattern)
	return s
}

func TestAShapeHoldsThePathsOfItsPattern(t *testing.T) {
	for _, c := range []struct {
		pattern   string
		in, outOf []string
	}{
		{"/v1/contacts", []string{"/v1/contacts"}, []string{"/v1/contacts/", "/v1/contacts/1", "/v1/contactsx", "/x/v1/contacts"}},
		{"/v1/contacts/{id}/notes", []string{"/v1/contacts/7/notes", "/v1/contacts/a%2Fb/notes"}, []string{"/v1/contacts//notes", "/v1/contacts/7/8/notes"}},
		{"/v1/exports/contacts.csv", []string{"/v1/exports/contacts.csv"}, []string{"/v1/exports/contactsxcsv"}},
		{"/f/", []string{"/f", "/f/", "/f/1/x"}, []string{"/fx"}},
		{"/files/{path...}", []string{"/files/", "/files/a/b"}, []string{"/file"}},
		{"/{$}", []string{"/"}, []string{"/x", ""}},
		{"/", []string{"/", "/x/y"}, nil},
	} {
		re := regexp.MustCompile("^" + shapeOf(t, c.pattern).regexp() + "$")
		for _, path := range c.in {
			require.True(t, re.MatchString(path), "%s holds %s", c.pattern, path)
		}
		for _, path := range c.outOf {
			require.False(t, re.MatchString(path), "%s does not hold %s", c.pattern, path)
		}
	}
}

func TestAPathThatCouldBreakTheConfigurationIsRefused(t *testing.T) {
	for _, path := range []string{"", "contacts", "/a`b", "/a b", "/{{.}}", "/a/{id", "/a//b", "/{x...}/b", "/a\nb"} {
		_, err := parseShape(path)
		require.Error(t, err, path)
	}
}

var patterns = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "{x}"}), 1, 4).Draw(t, "parts")
	tail := rapid.SampledFrom([]string{"", "", "/"}).Draw(t, "tail")
	return "/" + strings.Join(parts, "/") + tail
})

// ServeMux refuses patterns of which neither is more specific, so where it takes both its choice is the
// one to agree with.
func TestTheMoreSpecificShapeComesLaterAsInServeMux(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := number(patterns.Draw(t, "a"), "p"), number(patterns.Draw(t, "b"), "q")
		sa, sb := shapeOf(t, a), shapeOf(t, b)
		if sa.key() == sb.key() {
			require.Zero(t, sa.compare(sb))
			require.True(t, sa.overlaps(sb))
			return
		}
		require.Equal(t, sign(sa.compare(sb)), -sign(sb.compare(sa)))
		require.Equal(t, sa.overlaps(sb), sb.overlaps(sa))

		mux := http.NewServeMux()
		if conflict(func() {
			mux.Handle(a, http.NotFoundHandler())
			mux.Handle(b, http.NotFoundHandler())
		}) {
			require.True(t, sa.overlaps(sb), "only overlapping patterns conflict")
			return
		}
		path := "/" + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 5).Draw(t, "path"), "/")
		ra, rb := regexp.MustCompile("^"+sa.regexp()+"$"), regexp.MustCompile("^"+sb.regexp()+"$")
		// ServeMux takes "/a/" for /a only to redirect there.
		redirects := func(s shape) bool { return s.rest && strings.Count(path, "/") == len(s.segments) }
		if ra.MatchString(path) && rb.MatchString(path) && !redirects(sa) && !redirects(sb) {
			require.True(t, sa.overlaps(sb))
			_, chosen := mux.Handler(httptest.NewRequest("GET", path, nil))
			want := a
			if sb.compare(sa) > 0 {
				want = b
			}
			require.Equal(t, want, chosen, path)
		}
	})
}

// number makes the wildcards of a pattern distinct, as ServeMux wants them.
func number(pattern, name string) string {
	for strings.Contains(pattern, "{x}") {
		name += "x"
		pattern = strings.Replace(pattern, "{x}", "{"+name+"}", 1)
	}
	return pattern
}

func conflict(register func()) (failed bool) {
	defer func() { failed = recover() != nil }()
	register()
	return false
}

func sign(n int) int {
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}
