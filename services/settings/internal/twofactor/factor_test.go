package twofactor

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestARecoveryCodeHas120RandomBits(t *testing.T) {
	seen := map[string]bool{}
	for range 1000 {
		code := recoveryCode()
		require.Regexp(t, `^([a-z2-7]{4}-){5}[a-z2-7]{4}$`, code, "24 characters of five bits each")
		seen[code] = true
	}
	require.Len(t, seen, 1000)
}
