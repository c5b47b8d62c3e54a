package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAdminPortIsPublishedAsOtherHostsReachIt(t *testing.T) {
	t.Parallel()
	require.Equal(t, "127.0.0.1:9000", reachable("127.0.0.1:9000", "127.0.0.1:9092"))
	require.Equal(t, "booking-2:9000", reachable("booking-2:9000", "kafka:9092"))
	for _, all := range []string{"[::]:9000", "0.0.0.0:9000"} {
		require.Equal(t, "127.0.0.1:9000", reachable(all, "127.0.0.1:9092,127.0.0.2:9092"))
		require.Equal(t, all, reachable(all, "no.broker.invalid:9092"), "there is nothing better to say")
	}
}
