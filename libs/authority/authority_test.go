package authority_test

import (
	"crypto/tls"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/authority"
)

func TestAnAuthoritySignsForItsHostsAndKeepsWhatItSigned(t *testing.T) {
	dir := t.TempDir()
	a, err := authority.Open(dir)
	require.NoError(t, err)
	path := filepath.Join(dir, "server.pem")
	require.NoError(t, a.Issue(path, "server", "kafka", "127.0.0.1"))
	pair, err := tls.LoadX509KeyPair(path, path)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(a.PEM))
	for host, fits := range map[string]bool{"kafka": true, "127.0.0.1": true, "elsewhere": false} {
		_, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
		require.Equal(t, fits, err == nil, host)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	first, err := os.ReadFile(path)
	require.NoError(t, err)

	again, err := authority.Open(dir)
	require.NoError(t, err)
	require.Equal(t, a.PEM, again.PEM)
	require.NoError(t, again.Issue(path, "server", "kafka"))
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, first, kept)
	require.NoError(t, again.Issue(path, "server", "kafka", "another"))
	renewed, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotEqual(t, first, renewed)

	other, err := authority.Open(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, other.Issue(path, "server", "kafka", "another"))
	theirs, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotEqual(t, renewed, theirs, "another authority's certificate does not stay")
}
