package support

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/lang"
)

func TestACertificateForAnotherNameOrNearItsEndIsNamed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	leaf := func(name string, from, to time.Duration) *x509.Certificate {
		return &x509.Certificate{DNSNames: []string{name}, NotBefore: now.Add(from), NotAfter: now.Add(to)}
	}
	const day = 24 * time.Hour
	for _, c := range []struct {
		what  string
		leaf  *x509.Certificate
		found flaw
	}{
		{"valid", leaf("desk.example.com", -day, 30*day), flaw{}},
		{"a name with a star", leaf("*.example.com", -day, 30*day), flaw{}},
		{"another name", leaf("www.example.com", -day, 30*day), flaw{"certificate_name", "www.example.com"}},
		{"a name nobody wrote", &x509.Certificate{}, flaw{"certificate_name", "?"}},
		{"ended", leaf("desk.example.com", -9*day, -day), flaw{"certificate_ended", "2026-05-03"}},
		{"ends soon", leaf("desk.example.com", -9*day, day), flaw{"certificate_ends", "2026-05-05"}},
		{"begins later", leaf("desk.example.com", day, 9*day), flaw{"certificate_early", "2026-05-05"}},
	} {
		require.Equal(t, c.found, flawOf(c.leaf, "desk.example.com", now), c.what)
		if c.found == (flaw{}) {
			continue
		}
		for _, l := range lang.Languages {
			require.Contains(t, readers(l, "", time.UTC).T(c.found.key, "found", c.found.found), " "+c.found.found, "%s in %s", c.what, l)
		}
	}
}
