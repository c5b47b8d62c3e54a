package fetch

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"frontdesk/libs/address"
)

// Allowed are the receivers that the operator names in SVC_FETCH_ALLOW: they are reached though they are not on the public internet, and by http too.
// The zero value has none.
type Allowed struct{ places []place }

// place is a host by its name, or a network; port is 0 for any.
type place struct {
	name    string
	network netip.Prefix
	port    uint16
}

// managed are the addresses by which a machine, a network or a cloud is managed, and those that stand for others. A larger network or a name does not
// allow them, only an entry that is one of these or lies inside.
var managed = func() (all []netip.Prefix) {
	for _, network := range []string{
		"169.254.0.0/16", "fe80::/10", // on the same link, where clouds have their metadata
		"168.63.129.16/32", "100.100.100.200/32", "192.0.0.192/32", "fd00:ec2::254/128", // metadata elsewhere
		"64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", // hold an address of the fourth version
		"0.0.0.0/8", "::/128", // this machine, by no address of its own
	} {
		all = append(all, netip.MustParsePrefix(network))
	}
	return all
}()

// ParseAllowed reads host[:port] and network/bits[:port], separated by commas: crm.example.com, 10.0.0.0/8:8443, [fd00::1]:80. The error is for a
// person and names the entry.
func ParseAllowed(list string) (Allowed, error) {
	var a Allowed
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		p, ok := parsePlace(entry)
		if !ok {
			return Allowed{}, fmt.Errorf("%q is neither host[:port] nor network/bits[:port]", entry)
		}
		a.places = append(a.places, p)
	}
	return a, nil
}

func parsePlace(entry string) (p place, ok bool) {
	host, port, hasPort := entry, "", false
	bracketed, inBrackets := strings.CutPrefix(entry, "[")
	before, bits, isNetwork := strings.Cut(entry, "/")
	switch {
	case inBrackets:
		var after string
		if host, after, ok = strings.Cut(bracketed, "]"); !ok || !strings.Contains(host, ":") {
			return p, false
		}
		if port, hasPort = strings.CutPrefix(after, ":"); !hasPort && after != "" {
			return p, false
		}
	case isNetwork:
		bits, port, hasPort = strings.Cut(bits, ":")
		host = before + "/" + bits
	case strings.Count(entry, ":") == 1:
		host, port, hasPort = strings.Cut(entry, ":")
	}
	if hasPort {
		if !validPort(port) {
			return p, false
		}
		n, _ := strconv.ParseUint(port, 10, 16)
		p.port = uint16(n)
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		p.network = netip.PrefixFrom(ip, ip.BitLen())
		return p, ip.Zone() == "" && !ip.Is4In6()
	}
	if network, err := netip.ParsePrefix(host); err == nil {
		p.network = network.Masked()
		return p, !network.Addr().Is4In6()
	}
	p.name = strings.ToLower(host)
	return p, !endsInNumber(host) && len(address.Labels(host)) > 0
}

// reaches reports whether a connection to an address may be made for a host.
func (a Allowed) reaches(host string, at netip.AddrPort) bool {
	special := slices.IndexFunc(managed, func(m netip.Prefix) bool { return m.Contains(at.Addr()) })
	return slices.ContainsFunc(a.places, func(p place) bool {
		switch {
		case p.port != 0 && p.port != at.Port():
			return false
		case p.name != "":
			return p.name == strings.ToLower(host) && special < 0
		}
		return p.network.Contains(at.Addr()) && (special < 0 || p.network.Bits() >= managed[special].Bits())
	})
}

// mayReach reports whether reaches can hold for a host, whatever its name stands for.
func (a Allowed) mayReach(host string, port uint16) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return a.reaches(host, netip.AddrPortFrom(ip, port))
	}
	return slices.ContainsFunc(a.places, func(p place) bool {
		return (p.port == 0 || p.port == port) && (p.name == "" || p.name == strings.ToLower(host))
	})
}
