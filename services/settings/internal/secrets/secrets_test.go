package secrets

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestATokenHas256RandomBits(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		token, hash := New()
		raw, err := base64.RawURLEncoding.DecodeString(token)
		require.NoError(t, err)
		require.Len(t, raw, 32)
		require.Equal(t, Hash(token), hash)
		seen[token] = true
	}
	require.Len(t, seen, 1000)
}
