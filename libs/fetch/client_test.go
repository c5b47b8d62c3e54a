package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/until"
)

// names is a resolver that knows these names.
func names(known map[string][]string) lookup {
	return func(_ context.Context, _, host string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, a := range known[host] {
			out = append(out, netip.MustParseAddr(a))
		}
		if out == nil {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
		return out, nil
	}
}

func get(t *testing.T, c *http.Client, url string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	res, err := c.Do(r)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return res, string(body), err
}

func TestANameIsRefusedWhenAnyOfItsAddressesIsNotPublic(t *testing.T) {
	for _, addresses := range [][]string{
		{"127.0.0.1"}, {"10.0.0.1"}, {"169.254.169.254"}, {"192.168.0.1"}, {"100.100.100.200"}, {"0.0.0.0"}, {"::1"}, {"fd00:ec2::254"},
		{"::ffff:127.0.0.1"}, {"::ffff:10.0.0.1"}, {"64:ff9b::a00:1"}, {"2002:a00:1::"}, {"2001::1"}, {"fe80::1"},
		{"1.1.1.1", "127.0.0.1"}, {"1.1.1.1", "2606:4700:4700::1111", "10.0.0.1"},
	} {
		c := client(Options{}, names(map[string][]string{"receiver.example.com": addresses}))
		_, _, err := get(t, c, "https://receiver.example.com/hook")
		require.ErrorIs(t, err, ErrRefused, "%v", addresses)
		for _, a := range addresses {
			require.NotContains(t, err.Error(), a, "the inside of the network is not shown")
		}
	}
}

func TestAnAddressThatTurnsHostileAfterTheCheckOnCreateIsRefused(t *testing.T) {
	var calls atomic.Int32
	c := client(Options{}, func(context.Context, string, string) ([]netip.Addr, error) {
		calls.Add(1)
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	})
	require.NoError(t, CheckURL("https://rebind.example.com/", Options{}))
	_, _, err := get(t, c, "https://rebind.example.com/")
	require.ErrorIs(t, err, ErrRefused)
	require.EqualValues(t, 1, calls.Load(), "the address is looked up once, and that answer is the one used")
}

func TestTheSocketIsCheckedToo(t *testing.T) {
	d := dialer{}
	for _, at := range []string{"127.0.0.1:443", "[::1]:443", "10.1.2.3:443", "1.1.1.1:80", "[::ffff:127.0.0.1]:443", "[fe80::1%lo]:443"} {
		require.ErrorIs(t, d.check(netip.MustParseAddrPort(at), "", false), ErrRefused, at)
	}
	require.NoError(t, d.check(netip.MustParseAddrPort("1.1.1.1:443"), "", false))
	require.ErrorIs(t, d.check(netip.MustParseAddrPort("1.1.1.1:443"), "", true), ErrRefused, "without TLS")
	_, err := d.dial(t.Context(), "tcp", "127.0.0.1:443")
	require.ErrorIs(t, err, ErrRefused)
}

func TestTheClientItselfRefusesWhatCheckURLRefuses(t *testing.T) {
	c := client(Options{}, func(context.Context, string, string) ([]netip.Addr, error) {
		return nil, errors.New("looked up")
	})
	for _, u := range []string{"http://example.com/", "https://example.com:8443/", "https://localhost/", "https://127.0.0.1/", "https://user:pass@example.com/", "https://127.1/"} {
		_, _, err := get(t, c, u)
		require.ErrorIs(t, err, ErrRefused, u)
	}
}

func TestInTheLocalRunOnlyLoopbackIsAllowedInAddition(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) }))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	require.NoError(t, err)

	_, _, err = get(t, client(Options{}, nil), srv.URL)
	require.ErrorIs(t, err, ErrRefused, "without the switch it is refused")

	known := names(map[string][]string{"receiver.test": {"127.0.0.1"}, "inside.test": {"10.0.0.1"}, "both.test": {"127.0.0.1", "10.0.0.1"}, "outside.test": {"1.1.1.1"}})
	local := client(Options{Local: true}, known)
	_, body, err := get(t, local, srv.URL)
	require.NoError(t, err)
	require.Equal(t, srv.Listener.Addr().String(), body)
	_, body, err = get(t, local, "http://receiver.test:"+port)
	require.NoError(t, err)
	require.Equal(t, "receiver.test:"+port, body, "the host is the name that was asked for")
	for _, u := range []string{"http://inside.test:" + port, "http://both.test:" + port, "http://outside.test/", "http://outside.test:" + port, "https://outside.test:8443"} {
		_, _, err = get(t, local, u)
		require.ErrorIs(t, err, ErrRefused, u)
	}
}

func TestRedirectsAreAnswersNotOrders(t *testing.T) {
	var hits atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
	}))
	defer srv.Close()
	res, _, err := get(t, Client(Options{Local: true}), srv.URL)
	require.NoError(t, err)
	require.Equal(t, http.StatusTemporaryRedirect, res.StatusCode)
	require.EqualValues(t, 1, hits.Load())
}

func TestNoProxyIsUsed(t *testing.T) {
	var proxied atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { proxied.Add(1) }))
	defer proxy.Close()
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, proxy.URL)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "direct") }))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	require.NoError(t, err)
	c := client(Options{Local: true}, names(map[string][]string{"receiver.test": {"127.0.0.1"}}))
	_, body, err := get(t, c, "http://receiver.test:"+port)
	require.NoError(t, err)
	require.Equal(t, "direct", body)
	require.Zero(t, proxied.Load())
}

func TestAnswersAreCutAndLeftAsTheyCame(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/header":
			w.Header().Set("X", strings.Repeat("x", 2*maxHeader))
		case "/packed":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = fmt.Fprint(w, r.Header.Get("Accept-Encoding"), "not really gzip")
		default:
			for range 100 {
				_, _ = io.WriteString(w, strings.Repeat("x", 10_000))
			}
		}
	}))
	defer srv.Close()
	_, body, err := get(t, Client(Options{Local: true}), srv.URL)
	require.NoError(t, err)
	require.Len(t, body, 64<<10)
	_, body, err = get(t, Client(Options{Local: true, Keep: 10}), srv.URL)
	require.NoError(t, err)
	require.Len(t, body, 10)
	_, body, err = get(t, Client(Options{Local: true}), srv.URL+"/packed")
	require.NoError(t, err)
	require.Equal(t, "not really gzip", body)
	_, _, err = get(t, Client(Options{Local: true}), srv.URL+"/header")
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrRefused)
}

func TestATricklingReceiverIsGivenUpOn(t *testing.T) {
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			for {
				_, _ = io.WriteString(w, "x")
				_ = http.NewResponseController(w).Flush()
				select {
				case <-stop:
					return
				case <-r.Context().Done():
					return
				case <-time.After(20 * time.Millisecond):
				}
			}
		}
		<-stop
	}))
	defer srv.Close()
	defer close(stop)
	c := Client(Options{Local: true, Timeout: 150 * time.Millisecond})
	for _, path := range []string{"/", "/body"} {
		start := time.Now()
		_, _, err := get(t, c, srv.URL+path)
		require.Error(t, err, path)
		var timeout net.Error
		require.ErrorAs(t, err, &timeout)
		require.True(t, timeout.Timeout())
		require.Less(t, time.Since(start), 3*time.Second)
	}
}

func TestTheNextAddressIsTriedWhenOneDoesNotAnswer(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "second") }))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	require.NoError(t, err)
	// Nothing listens on the other loopback address.
	c := client(Options{Local: true}, names(map[string][]string{"receiver.test": {"127.0.0.2", "127.0.0.1"}}))
	_, body, err := get(t, c, "http://receiver.test:"+port)
	require.NoError(t, err)
	require.Equal(t, "second", body)

	_, _, err = get(t, c, "http://unknown.test:"+port)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrRefused)
}

// An address that drops what it gets costs its share of the time, and the next one is reached.
func TestTheNextAddressIsTriedWhenOneIsSilent(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "second") }))
	defer srv.Close()
	at := netip.MustParseAddrPort(srv.Listener.Addr().String())
	silent, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer syscall.Close(silent)
	require.NoError(t, syscall.Bind(silent, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: [4]byte{127, 0, 0, 2}}))
	require.NoError(t, syscall.Listen(silent, 0))
	// The kernel drops what comes once the queue of a listener is full, as a silent address does.
	full := func() bool {
		c, err := net.DialTimeout("tcp", netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), at.Port()).String(), 100*time.Millisecond)
		if err == nil {
			t.Cleanup(func() { _ = c.Close() })
		}
		return err != nil
	}
	until.Holds(t, full, 10*time.Second, time.Millisecond, "the queue of the listener is not full")

	c := client(Options{Local: true, Timeout: 2 * time.Second}, names(map[string][]string{"receiver.test": {"127.0.0.2", "127.0.0.1"}}))
	_, body, err := get(t, c, fmt.Sprintf("http://receiver.test:%d", at.Port()))
	require.NoError(t, err)
	require.Equal(t, "second", body)
}

// A dial that nobody waits for any more ends, although net/http lets it outlive its request.
func TestADialEndsWithTheTimeOfARequest(t *testing.T) {
	looked := make(chan error, 1)
	c := client(Options{Local: true, Timeout: 100 * time.Millisecond}, func(ctx context.Context, _, _ string) ([]netip.Addr, error) {
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Second):
		}
		looked <- ctx.Err()
		return nil, ctx.Err()
	})
	_, _, err := get(t, c, "http://receiver.test")
	require.Error(t, err)
	require.ErrorIs(t, <-looked, context.DeadlineExceeded)
}

func TestACertificateHasToBeTrusted(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	defer srv.Close()
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	_, _, err := get(t, Client(Options{Local: true}), srv.URL)
	var untrusted *tls.CertificateVerificationError
	require.ErrorAs(t, err, &untrusted)
}
