package controller

import (
	"context"
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

func TestOneNameStandsForAllReplicas(t *testing.T) {
	const url = "http://booking-replicas:8000"
	r := newReplicas()
	var addresses []netip.Addr
	var broken error
	r.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		require.Equal(t, "booking-replicas", host)
		return addresses, broken
	}
	ready := map[string]bool{}
	r.ready = func(_ context.Context, server string) bool { return ready[server] }
	one, two := netip.MustParseAddr("172.20.0.3"), netip.MustParseAddr("172.20.0.12")
	const first, second = "http://172.20.0.3:8000", "http://172.20.0.12:8000"

	for _, step := range []struct {
		name      string
		addresses []netip.Addr
		err       error
		ready     []string
		changed   bool
		spread    string
	}{
		{name: "an unknown name stays", err: errors.New("no such host"), spread: url},
		{name: "a single replica keeps its name", addresses: []netip.Addr{one}, ready: []string{first}, spread: url},
		{name: "a second one that starts gets nothing", addresses: []netip.Addr{two, one}, ready: []string{first}, changed: true, spread: first},
		{name: "two that are ready", addresses: []netip.Addr{two, one}, ready: []string{first, second}, changed: true, spread: first + "," + second},
		{name: "in another order", addresses: []netip.Addr{one, two}, ready: []string{first, second}, spread: first + "," + second},
		{name: "one that is busy is left to Traefik's checks", addresses: []netip.Addr{one, two}, ready: []string{first}, spread: first + "," + second},
		{name: "names cannot be looked up", err: errors.New("timeout"), spread: first + "," + second},
		{name: "one is gone", addresses: []netip.Addr{two}, ready: []string{second}, changed: true, spread: url},
		{name: "none of two is ready", addresses: []netip.Addr{one, two}, spread: url},
	} {
		addresses, broken, ready = step.addresses, step.err, map[string]bool{}
		for _, s := range step.ready {
			ready[s] = true
		}
		require.Equal(t, step.changed, r.refresh(t.Context(), []*proto.Manifest{{Service: "booking", BaseUrl: url}}), step.name)
		require.Equal(t, step.spread, r.spread(url), step.name)
	}
}

func TestOnlyNamesOverHTTPAreLookedUp(t *testing.T) {
	r := newReplicas()
	r.lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
		require.Fail(t, "looked up", host)
		return nil, nil
	}
	for _, url := range []string{"", "http://127.0.0.1:8093", "http://127.0.0.1:8093,http://127.0.0.1:8193", "http://[::1]:8000", "http://booking-1:8000,http://booking-2:8000", "https://booking:8443"} {
		require.False(t, r.refresh(t.Context(), []*proto.Manifest{{Service: "booking", BaseUrl: url}}))
		require.Equal(t, url, r.spread(url))
	}
}
