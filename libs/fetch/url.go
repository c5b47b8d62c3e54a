// Package fetch reaches addresses that other people give us, and only those on the public internet:
// https on port 443, to an address that was checked and is the one connected to, without proxy and
// without following redirects. What else is reached, the operator names (Allowed).
package fetch

import (
	"cmp"
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"code.dny.dev/ssrf"

	"frontdesk/libs/address"
	"frontdesk/libs/fault"
)

// errPrivate is the error of CheckURL for an address inside, which the operator could allow.
var errPrivate = errors.New("must be on the public internet, or one that the operator names in SVC_FETCH_ALLOW")

// Problem is what an error of CheckURL says of a parameter. code is that of all but errPrivate, which has its own.
func Problem(code string, err error) fault.Problem {
	if errors.Is(err, errPrivate) {
		code = "private"
	}
	return fault.NewProblem(code, err.Error())
}

// maxURL is the longest address taken; callers may allow less.
const maxURL = 2048

// guard knows the ranges that IANA sets aside. 168.63.129.16 is public by number, but inside one cloud
// it is the address of the host that a machine runs on.
var guard = ssrf.New(ssrf.WithPorts(443),
	ssrf.WithDeniedV4Prefixes(netip.MustParsePrefix("168.63.129.16/32")))

// Options of a client. The zero value is the one for every deployment but a local run.
type Options struct {
	// Local also allows loopback receivers, at any port and without TLS. Everything else stays refused.
	Local bool
	// Allow has the receivers that are reached wherever they are.
	Allow Allowed
	// Timeout covers a whole exchange, from looking the name up to the last byte kept; 5 s when zero.
	Timeout time.Duration
	// Keep is how much of a body is read, in bytes; 64 KiB when zero. The rest is cut off in silence.
	Keep int64
}

// CheckURL returns nil if the client would try the address. Names are not looked up here: what
// they stand for can change, and is checked when connecting. The error completes a sentence that begins
// with the name of the parameter, and says nothing about the network.
func CheckURL(raw string, o Options) error {
	if len(raw) > maxURL {
		return errors.New("is too long")
	}
	// Spaces, control characters and backslashes too: programs do not agree on what they mean.
	if strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r > '~' || r == '\\' }) {
		return errors.New("must be written in plain ASCII without spaces or backslashes")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" {
		return errors.New("is not a web address")
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	number, _ := strconv.ParseUint(port, 10, 16)
	inside := o.Allow.mayReach(u.Hostname(), uint16(number))
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !o.Local && !inside):
		return errors.New("must begin with https://")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return errors.New("must not carry a user or password")
	case u.Hostname() == "":
		return errors.New("has no host")
	case strings.HasSuffix(u.Host, ":"):
		return errors.New("has no valid port")
	}
	// Receivers on this machine and allowed ones may use other ports; the dialer sees to it that nobody else does.
	if port := u.Port(); port != "" && port != "443" && !((o.Local || inside) && validPort(port)) {
		return errors.New("must use port 443")
	}
	return checkHost(u, o.Local, inside)
}

func validPort(s string) bool {
	n, err := strconv.ParseUint(s, 10, 16)
	return err == nil && n > 0 && s[0] != '0'
}

// checkHost checks a host; inside reports that the operator may have allowed it.
func checkHost(u *url.URL, local, inside bool) error {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") || endsInNumber(host) {
		ip, err := netip.ParseAddr(host)
		// The one spelling that every program reads alike.
		if err != nil || ip.Zone() != "" || ip.Is4In6() || ip.Is4() && ip.String() != host ||
			strings.HasPrefix(u.Host, "[") != ip.Is6() {
			return errors.New("must name its host by a name or a plain address")
		}
		if guard.SafeAddr(ip) != nil && !(local && ip.IsLoopback()) && !inside {
			return errPrivate
		}
		return nil
	}
	labels := address.Labels(host)
	if len(labels) == 0 {
		return errors.New("has no valid host name")
	}
	if local || inside {
		return nil
	}
	// Names that mean this machine or this network wherever they are looked up.
	last := labels[len(labels)-1]
	if len(labels) == 1 || last == "localhost" || last == "local" || last == "internal" ||
		last == "arpa" && labels[len(labels)-2] == "home" {
		return errPrivate
	}
	return nil
}

// endsInNumber is the test by which the URL standard takes a host for an address: its last label is a
// number, in whatever base. What passes for one and is not plainly written is refused.
func endsInNumber(host string) bool {
	host = strings.TrimRight(strings.ToLower(host), ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" {
		return true
	}
	digits := strings.Trim(last, "0123456789") == ""
	hex, is := strings.CutPrefix(last, "0x")
	return digits || is && strings.Trim(hex, "0123456789abcdef") == ""
}
