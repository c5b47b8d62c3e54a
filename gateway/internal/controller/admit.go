package controller

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"

	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/proto"
)

// admit returns of manifests, which are keyed by the service that has signed them, as much as these services may have: addresses
// on their own hosts, and routes and pages of their own. refusals are sentences about the rest, in one order.
func admit(manifests map[string]*proto.Manifest, s Settings) (admitted []*proto.Manifest, refusals []string) {
	for _, service := range slices.Sorted(maps.Keys(manifests)) {
		signed := manifests[service]
		refuse := func(format string, args ...any) {
			refusals = append(refusals, service+": "+fmt.Sprintf(format, args...))
		}
		if signed.GetService() != service {
			refuse("its manifest says that it is of %q, so it is left out", signed.GetService())
			continue
		}
		m := protobuf.CloneOf(signed)
		m.Routes = slices.DeleteFunc(m.Routes, func(r *proto.Route) bool {
			err := proto.MayRoute(service, r.GetMethod(), r.GetPath())
			if err == nil {
				_, err = parseShape("/v1" + r.GetPath())
			}
			if err != nil {
				refuse("a route is left out: %v", err)
			}
			return err != nil
		})
		m.Pages = slices.DeleteFunc(m.Pages, func(p *proto.Page) bool {
			err := proto.MayShow(service, p.GetPath())
			if err == nil {
				_, err = parseShape(p.GetPath())
			}
			if err != nil {
				refuse("a page is left out: %v", err)
			}
			return err != nil
		})
		m.BaseUrl = strings.Join(slices.DeleteFunc(strings.Split(m.GetBaseUrl(), ","), func(u string) bool {
			ok := s.mayBeAt(service, strings.TrimSpace(u))
			if !ok {
				refuse("the address %q is left out: SVC_GATEWAY_HOSTS does not allow it", u)
			}
			return !ok
		}), ",")
		admitted = append(admitted, m)
	}
	return admitted, refusals
}

// mayBeAt reports whether a service may be at an address: on a host that is named like it or that Hosts has, or on loopback if
// Traefik is there too.
func (s Settings) mayBeAt(service, address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" {
		return false
	}
	host := u.Hostname()
	if isLoopback(host) && isLoopback(s.GatewayURL.Hostname()) {
		return true
	}
	if host == service || strings.HasPrefix(host, service+"-") && !strings.Contains(host, ".") {
		return true
	}
	for _, h := range s.Hosts {
		of, allowed, _ := strings.Cut(h, "=")
		if of != service {
			continue
		}
		domain, any := strings.CutPrefix(allowed, "*.")
		if allowed == host || allowed == u.Host || any && strings.HasSuffix(host, "."+domain) {
			return true
		}
	}
	return false
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
