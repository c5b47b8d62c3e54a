// Package adminport keeps browsers away from a port that only operators and their tools may reach: a page of another site must
// not act there, whatever network the operator's browser is in.
package adminport

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Guard passes a request on to next if its Host is an IP address, localhost or one of hosts, and no page of another site has
// sent it. It answers any other request with 403. So an attacker's domain that resolves to a private address (DNS rebinding)
// does not reach the port.
func Guard(next http.Handler, hosts ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !ours(r.Host, hosts) || foreign(r) {
			http.Error(w, "this port answers no other site, and no other name than its own", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func ours(host string, hosts []string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	return host == "localhost" || host != "" && slices.Contains(hosts, host)
}

var crossOrigin = http.NewCrossOriginProtection()

// foreign reports whether a page of another site sent r. Opening the port from a link is allowed, reading it is not.
func foreign(r *http.Request) bool {
	if crossOrigin.Check(r) != nil {
		return true
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate"
}
