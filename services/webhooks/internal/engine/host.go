package engine

import (
	"context"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"
)

// hostMax is how many requests all webhooks of one host have in flight in one process.
const hostMax = 32

// hosts bound the requests to each host. Who waits for one gets it in the order of asking. There are no more hosts than addresses that
// webhooks ever had here, so they are kept.
type hosts struct{ all sync.Map }

// room is that of one host, of which held requests are taken.
type room struct {
	of   *semaphore.Weighted
	held int
}

// take waits for a request to the host of an address, and takes up to most if they are free at that moment. It is an error if ctx ends.
func (h *hosts) take(ctx context.Context, address string, most int) (room, error) {
	of, _ := h.all.LoadOrStore(hostOf(address), semaphore.NewWeighted(hostMax))
	r := room{of.(*semaphore.Weighted), 1}
	if err := r.of.Acquire(ctx, 1); err != nil {
		return r, err
	}
	for r.held < most && r.of.TryAcquire(1) {
		r.held++
	}
	return r, nil
}

// keep gives back all but n requests, each of which end gives back.
func (r room) keep(n int) { r.of.Release(int64(r.held - n)) }

func (r room) end() { r.of.Release(1) }

// hostOf is the part of an address by which requests in flight are counted: the name and the port, which says nothing when it is that of
// the scheme.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	port := map[string]string{"https": ":443", "http": ":80"}[u.Scheme]
	return strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(u.Host, port), ":"))
}
