package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"syscall"
	"time"
)

const (
	defaultTimeout = 5 * time.Second
	defaultKeep    = 64 << 10
	maxHeader      = 16 << 10
)

// ErrRefused is the error of a request that is not made because of where it leads.
var ErrRefused = errors.New("the address is not one on the public internet")

// Client returns an http.Client for addresses that are not trusted. Every address that a name stands
// for has to be public, or none is tried; the connection goes to an address that was checked. Redirects
// come back as answers. Bodies are as they were sent, compressed or not.
func Client(o Options) *http.Client { return client(o, net.DefaultResolver.LookupNetIP) }

type lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)

func client(o Options, look lookup) *http.Client {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Keep <= 0 {
		o.Keep = defaultKeep
	}
	d := dialer{local: o.Local, allow: o.Allow, lookup: look, within: o.Timeout}
	return &http.Client{
		Timeout:       o.Timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &transport{o, &http.Transport{
			Proxy:                  nil,
			DialContext:            d.dial,
			TLSHandshakeTimeout:    o.Timeout,
			ResponseHeaderTimeout:  o.Timeout,
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns:           512,
			MaxIdleConnsPerHost:    32,
			IdleConnTimeout:        30 * time.Second,
			// A small answer that unpacks to a large one is not worth having.
			DisableCompression: true,
		}},
	}
}

// transport refuses addresses before anything is looked up and cuts answers.
type transport struct {
	o    Options
	base *http.Transport
}

func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := CheckURL(r.URL.String(), t.o); err != nil {
		if r.Body != nil {
			_ = r.Body.Close()
		}
		return nil, fmt.Errorf("%w: it %w", ErrRefused, err)
	}
	res, err := t.base.RoundTrip(r.WithContext(context.WithValue(r.Context(), plainKey{}, r.URL.Scheme == "http")))
	if err != nil {
		return nil, err
	}
	res.Body = &limited{io.LimitReader(res.Body, t.o.Keep), res.Body}
	return res, nil
}

// CloseIdleConnections lets http.Client.CloseIdleConnections through.
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

type limited struct {
	io.Reader
	io.Closer
}

// plainKey tells the dialer that a connection will have no TLS.
type plainKey struct{}

type dialer struct {
	local  bool
	allow  Allowed
	lookup lookup
	within time.Duration
}

// dial looks a name up and connects to the first of its addresses that answers, within the time of a request. The context of net/http has no
// deadline and outlives the request, because another one may use the connection.
func (d dialer) dial(ctx context.Context, _, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.within)
	defer cancel()
	until, _ := ctx.Deadline()
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.ParseUint(portText, 10, 16)
	if err != nil {
		return nil, err
	}
	plain, _ := ctx.Value(plainKey{}).(bool)
	var ips []netip.Addr
	if ip, err := netip.ParseAddr(host); err == nil {
		ips = []netip.Addr{ip}
	} else if ips, err = d.lookup(ctx, "ip", host); err != nil {
		return nil, err
	}
	targets := make([]netip.AddrPort, len(ips))
	for i, ip := range ips {
		// Resolvers give IPv4 addresses in either form.
		targets[i] = netip.AddrPortFrom(ip.Unmap(), uint16(port))
		if err := d.check(targets[i], host, plain); err != nil {
			return nil, err
		}
	}

	// The check is made once more on the socket itself, the last moment at which it can be.
	sockets := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return ErrRefused
		}
		return d.check(at, host, plain)
	}}
	last := error(&net.DNSError{Err: "no address", Name: host, IsNotFound: true})
	for i, target := range targets {
		// Each address gets its share of the time that is left: one that is silent leaves some for the next.
		attempt, cancel := context.WithTimeout(ctx, time.Until(until)/time.Duration(len(targets)-i))
		conn, err := sockets.DialContext(attempt, "tcp", target.String())
		cancel()
		if err == nil {
			return conn, nil
		}
		last = err
	}
	return nil, last
}

// check returns nil if a connection to an address may be made for a host; plain is one without TLS.
func (d dialer) check(at netip.AddrPort, host string, plain bool) error {
	switch {
	case d.local && at.Addr().IsLoopback() && at.Addr().Zone() == "", d.allow.reaches(host, at):
		return nil
	case plain || guard.SafeAddrPort(at) != nil:
		return ErrRefused
	}
	return nil
}
