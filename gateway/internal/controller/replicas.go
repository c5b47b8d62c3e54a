package controller

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"frontdesk/proto"
)

// replicas finds the processes behind a host that is one name for all replicas of a service, as Compose and headless services of
// Kubernetes have them. Traefik would take one address of such a name and keep to it.
type replicas struct {
	// lookup returns the addresses of a host; ready reports whether a process takes requests.
	lookup func(ctx context.Context, host string) ([]netip.Addr, error)
	ready  func(ctx context.Context, server string) bool

	mu sync.Mutex
	// behind are the servers that were found for base URLs with more than one address.
	behind map[string][]string
}

func newReplicas() *replicas {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return &replicas{
		behind: map[string][]string{},
		// By the fourth version only: two addresses of one process are no replicas.
		lookup: func(ctx context.Context, host string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip4", host)
		},
		ready: func(ctx context.Context, server string) bool {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, server+readyPath, nil)
			if err != nil {
				return false
			}
			res, err := client.Do(req)
			if err != nil {
				return false
			}
			res.Body.Close()
			return res.StatusCode == http.StatusOK
		},
	}
}

// refresh looks the base URLs of manifests up, and reports whether their servers are others than before. A new address is a server
// from the first time that it is ready, for as long as the name has it; whether it is ready later is for Traefik's own checks. A name
// that cannot be looked up keeps its servers.
func (r *replicas) refresh(ctx context.Context, manifests []*proto.Manifest) bool {
	changed, named := false, map[string]bool{}
	for _, m := range manifests {
		u, err := url.Parse(m.GetBaseUrl())
		if err != nil || u.Scheme != "http" || u.Hostname() == "" || strings.Contains(u.Host, ",") || net.ParseIP(u.Hostname()) != nil {
			continue
		}
		named[m.GetBaseUrl()] = true
		before := r.servers(m.GetBaseUrl())
		servers, err := r.find(ctx, u, before)
		if err != nil || slices.Equal(before, servers) {
			continue
		}
		changed = true
		r.mu.Lock()
		r.behind[m.GetBaseUrl()] = servers
		r.mu.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for u := range r.behind {
		if !named[u] {
			delete(r.behind, u)
		}
	}
	return changed
}

// find returns the servers behind a URL, sorted. The list is empty if the host has one address or no server is ready.
func (r *replicas) find(ctx context.Context, u *url.URL, before []string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	addresses, err := r.lookup(ctx, u.Hostname())
	if err != nil || len(addresses) < 2 {
		return nil, err
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	var servers []string
	for _, a := range addresses {
		server := u.Scheme + "://" + a.Unmap().String()
		if p := u.Port(); p != "" {
			server += ":" + p
		}
		if slices.Contains(before, server) || r.ready(ctx, server) {
			servers = append(servers, server)
		}
	}
	return servers, nil
}

func (r *replicas) servers(baseURL string) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.behind[baseURL]
}

// spread returns the base URL with the servers behind it in place of their name.
func (r *replicas) spread(baseURL string) string {
	if servers := r.servers(baseURL); len(servers) > 0 {
		return strings.Join(servers, ",")
	}
	return baseURL
}
