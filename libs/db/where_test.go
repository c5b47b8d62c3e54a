package db

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestConditionsTakeTheirArgumentsInOrder(t *testing.T) {
	var w Where
	require.Equal(t, "true", w.String())
	w.And("a = ?", 1)
	w.And("b is null")
	more := w.Bind("c = ? or d = ?", "x", "y")
	w.And("e = ?", 2)
	require.Equal(t, "a = $1 and b is null and e = $4", w.String())
	require.Equal(t, "c = $2 or d = $3", more)
	require.Equal(t, []any{1, "x", "y", 2}, w.Args)
	require.Panics(t, func() { w.And("f = ?") })
	require.Equal(t, `%50\%\_off\\%`, LikeWord(`50%_off\`))
}
