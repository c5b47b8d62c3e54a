package change

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyWhatDiffersIsAChange(t *testing.T) {
	t.Parallel()
	type object = map[string]any
	for name, c := range map[string]struct {
		old, new any
		want     Set
	}{
		"nothing":           {object{"a": 1, "b": []int{1}}, object{"a": 1, "b": []int{1}}, Set{}},
		"a value":           {object{"a": 1}, object{"a": "x"}, Set{"a": {float64(1), "x"}}},
		"a list":            {object{"a": []int{1}}, object{"a": []int{}}, Set{"a": {[]any{float64(1)}, []any{}}}},
		"a value inside":    {object{"a": object{"b": 1, "c": 2}}, object{"a": object{"b": 3, "c": 2}}, Set{"a.b": {float64(1), float64(3)}}},
		"an object for nil": {object{"a": nil}, object{"a": object{"b": true}}, Set{"a.b": {nil, true}}},
		"an object for 1":   {object{"a": 1}, object{"a": object{"b": true}}, Set{"a": {float64(1), object{"b": true}}}},
		"the time":          {object{"updated_at": 1}, object{"updated_at": 2}, Set{}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Between(c.old, c.new)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestALongValueIsNotInTheAuditLog(t *testing.T) {
	t.Parallel()
	raw, err := Set{"terms": {Old: "short", New: strings.Repeat("x", longest)}}.Brief()
	require.NoError(t, err)
	require.JSONEq(t, `{"terms": {"old": "short", "new": "…"}}`, string(raw))
	raw, err = Set{}.Brief()
	require.NoError(t, err)
	require.Nil(t, raw)
}
