package op

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnOperationHasOneExample(t *testing.T) {
	s := NewSet("desk", nil, nil)
	s.Examples([]byte(`{"get-stamp": {"path": "/stamps/7"}}`))
	s.Examples([]byte(`{"list-stamps": {"path": "/stamps"}}`))
	require.Len(t, s.Recorded(), 2)
	require.PanicsWithValue(t, "op: two examples of get-stamp", func() { s.Examples([]byte(`{"get-stamp": {}}`)) })
}
