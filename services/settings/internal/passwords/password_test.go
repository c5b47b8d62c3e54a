package passwords

import (
	"testing"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"
)

func TestAPasswordIsHashedAtTheCostsThatOWASPGives(t *testing.T) {
	t.Parallel()
	const adminPassword = "correct horse battery"
	require.Equal(t, argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}, *Argon)
	of, _, _, err := argon2id.DecodeHash(nobodys)
	require.NoError(t, err)
	require.Equal(t, Argon, of, "a login that does not exist takes as long")
	hash, err := argon2id.CreateHash(adminPassword, Argon)
	require.NoError(t, err)
	for password, right := range map[string]bool{adminPassword: true, adminPassword + "x": false} {
		matches, err := newHasher().matches(t.Context(), password, hash)
		require.NoError(t, err)
		require.Equal(t, right, matches)
	}
}
