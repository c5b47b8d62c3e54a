package search

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEachParameterThatNarrowsAListIsInTheTableOfFilters(t *testing.T) {
	var declared, known []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[contactQuery]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		// The trash is another list, not a part of this one.
		if f.Anonymous || slices.Contains([]string{"cursor", "per_page", "include_deleted", "deleted", "sort"}, name) {
			continue
		}
		declared = append(declared, name)
	}
	for _, f := range filters {
		known = append(known, f.names...)
	}
	require.ElementsMatch(t, declared, known)
	require.False(t, slices.ContainsFunc(filters, func(f filter) bool { return f.given(&contactQuery{}) }), "nothing asked narrows nothing down")
}
