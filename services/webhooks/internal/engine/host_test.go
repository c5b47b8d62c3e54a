package engine

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
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
		require.Equal(t, want, hostOf(address), address)
	}
}

func TestWhoWaitsForAHostGetsItInTheOrderOfAsking(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var h hosts
		full, err := h.take(t.Context(), "https://one.example/a", laneMax)
		require.NoError(t, err)
		require.Equal(t, laneMax, full.held)
		rest, err := h.take(t.Context(), "https://ONE.example:443/b", hostMax)
		require.NoError(t, err)
		require.Equal(t, hostMax-laneMax, rest.held)
		other, err := h.take(t.Context(), "https://two.example/", 1)
		require.NoError(t, err)
		require.Equal(t, 1, other.held, "another host has room of its own")

		var order []int
		for n := range 3 {
			go func() {
				_, err := h.take(t.Context(), "https://one.example/c", 1)
				assert.NoError(t, err)
				order = append(order, n)
			}()
			synctest.Wait()
		}
		require.Empty(t, order)
		gives, gone := context.WithCancel(t.Context())
		gone()
		_, err = h.take(gives, "https://one.example/d", 1)
		require.ErrorIs(t, err, context.Canceled)

		for n := range 3 {
			full.end()
			synctest.Wait()
			require.Len(t, order, n+1)
		}
		require.Equal(t, []int{0, 1, 2}, order)
		rest.keep(1)
		last, err := h.take(t.Context(), "https://one.example/e", hostMax)
		require.NoError(t, err)
		require.Equal(t, hostMax-laneMax-1, last.held, "what was not kept is given back")
	})
}
