package settings

import (
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"
)

func TestAPasswordIsHashedAtTheCostsThatOWASPGives(t *testing.T) {
	t.Parallel()
	require.Equal(t, argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}, costs)
	of, _, _, err := argon2id.DecodeHash(nobodys)
	require.NoError(t, err)
	require.Equal(t, costs, *of, "a login that does not exist takes as long")
	hash, err := argon2id.CreateHash(adminPassword, &costs)
	require.NoError(t, err)
	for password, right := range map[string]bool{adminPassword: true, adminPassword + "x": false} {
		matches, err := newHasher().matches(t.Context(), password, hash)
		require.NoError(t, err)
		require.Equal(t, right, matches)
	}
	cheap, err := newHasher().hash(t.Context(), adminPassword)
	require.NoError(t, err)
	of, _, _, err = argon2id.DecodeHash(cheap)
	require.NoError(t, err)
	require.Equal(t, argon, of)
}
