package keys

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnApplicationPasswordHas139RandomBits(t *testing.T) {
	letters, seen := map[rune]bool{}, map[string]bool{}
	for range 1000 {
		key := newKey()
		require.Regexp(t, `^(\w{4} ){5}\w{4}$`, key)
		for _, r := range strings.ReplaceAll(key, " ", "") {
			letters[r] = true
		}
		seen[key] = true
	}
	require.Len(t, seen, 1000)
	require.Greater(t, 24*math.Log2(float64(len(letters))), 139.0)
}
