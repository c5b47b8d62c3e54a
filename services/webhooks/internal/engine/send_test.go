package engine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAHostIsCountedOnceHoweverItsAddressIsWritten(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"https://example.com/hook":      "example.com",
		"https://Example.com:443/hook":  "example.com",
		"https://example.com:/hook":     "example.com",
		"https://example.com:8443/hook": "example.com:8443",
		"http://127.0.0.1:80/":          "127.0.0.1",
		"http://127.0.0.1:443/":         "127.0.0.1:443",
		"https://[2001:db8::443]/":      "[2001:db8::443]",
		"https://[2001:db8::1]:443/":    "[2001:db8::1]",
	} {
		require.Equal(t, want, host(address), address)
	}
}
