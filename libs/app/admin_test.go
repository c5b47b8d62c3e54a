package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnAdminPortIsPublishedAsOtherHostsReachIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listen, brokers, want string
		known                 bool
	}{
		{"127.0.0.1:9000", "127.0.0.1:9092", "127.0.0.1:9000", true},
		{"booking-2:9000", "kafka:9092", "booking-2:9000", true},
		{"[::]:9000", "127.0.0.1:9092,127.0.0.2:9092", "127.0.0.1:9000", true},
		{"0.0.0.0:9000", "127.0.0.1:9092,127.0.0.2:9092", "127.0.0.1:9000", true},
		{"0.0.0.0:9000", "no.broker.invalid:9092,127.0.0.1:9092", "127.0.0.1:9000", true},
		{"0.0.0.0:9000", "no.broker.invalid:9092", "0.0.0.0:9000", false},
	} {
		address, known := reachable(t.Context(), c.listen, c.brokers)
		require.Equal(t, c.want, address, c.brokers)
		require.Equal(t, c.known, known, c.brokers)
	}
}
