package support

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestACertificateForAnotherNameOrNearItsEndIsNamed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	leaf := func(name string, from, to time.Duration) *x509.Certificate {
		return &x509.Certificate{DNSNames: []string{name}, NotBefore: now.Add(from), NotAfter: now.Add(to)}
	}
	const day = 24 * time.Hour
	require.Empty(t, problemOf(leaf("desk.example.com", -day, 30*day), "desk.example.com", now))
	require.Empty(t, problemOf(leaf("*.example.com", -day, 30*day), "desk.example.com", now))
	require.Contains(t, problemOf(leaf("www.example.com", -day, 30*day), "desk.example.com", now), "another name")
	require.Contains(t, problemOf(leaf("desk.example.com", -9*day, -day), "desk.example.com", now), "2026-05-03")
	require.Contains(t, problemOf(leaf("desk.example.com", -9*day, day), "desk.example.com", now), "2026-05-05")
	require.Contains(t, problemOf(leaf("desk.example.com", day, 9*day), "desk.example.com", now), "before")
}
