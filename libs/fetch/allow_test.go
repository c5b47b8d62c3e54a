package fetch

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func allowed(t testing.TB, list string) Options {
	t.Helper()
	a, err := ParseAllowed(list)
	require.NoError(t, err, list)
	return Options{Allow: a}
}

// receiverAt is a receiver on an address of loopback, which answers with the host that it was called by. known are names that lead there.
func receiverAt(t *testing.T, address string) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	require.NoError(t, err)
	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Host) })}}
	s.Start()
	t.Cleanup(s.Close)
	_, port, err = net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

func TestWhatTheOperatorNamesIsReached(t *testing.T) {
	four, six := receiverAt(t, "127.0.0.1"), receiverAt(t, "::1")
	known := names(map[string][]string{"crm.corp.example": {"127.0.0.1"}, "six.corp.example": {"::1"}, "both.corp.example": {"127.0.0.1", "10.0.0.1"}, "intranet": {"127.0.0.1"}, "outside.example": {"1.1.1.1"}})
	for what, c := range map[string]struct {
		list, url string
		reached   bool
	}{
		"an address at any port":             {"127.0.0.1", "http://127.0.0.1:FOUR/", true},
		"an address at its port":             {"127.0.0.1:FOUR", "http://127.0.0.1:FOUR/", true},
		"an address at another port":         {"127.0.0.1:1", "http://127.0.0.1:FOUR/", false},
		"another address":                    {"127.0.0.2", "http://127.0.0.1:FOUR/", false},
		"an address of the sixth version":    {"::1", "http://[::1]:SIX/", true},
		"such an address at its port":        {"[::1]:SIX", "http://[::1]:SIX/", true},
		"such an address at another port":    {"[::1]:1", "http://[::1]:SIX/", false},
		"a network":                          {"127.0.0.0/8", "http://127.0.0.1:FOUR/", true},
		"a network at its port":              {"127.0.0.0/8:FOUR", "http://127.0.0.1:FOUR/", true},
		"a network at another port":          {"127.0.0.0/8:443", "http://127.0.0.1:FOUR/", false},
		"a network of the sixth version":     {"::/120", "http://[::1]:SIX/", true},
		"such a network at its port":         {"[::/120]:SIX", "http://[::1]:SIX/", true},
		"a name":                             {"crm.corp.example", "http://crm.corp.example:FOUR/", true},
		"a name in other letters":            {"CRM.corp.example", "http://crm.corp.example:FOUR/", true},
		"a name at its port":                 {"crm.corp.example:FOUR", "http://crm.corp.example:FOUR/", true},
		"a name at another port":             {"crm.corp.example:1", "http://crm.corp.example:FOUR/", false},
		"a name without a dot":               {"intranet", "http://intranet:FOUR/", true},
		"a name for the sixth version":       {"six.corp.example", "http://six.corp.example:SIX/", true},
		"a name that leads into a network":   {"127.0.0.0/8", "http://crm.corp.example:FOUR/", true},
		"a name, and no dot, into a network": {"127.0.0.0/8", "http://intranet:FOUR/", true},
		"a name that leads elsewhere too":    {"127.0.0.0/8", "http://both.corp.example:FOUR/", false},
		"all that such a name stands for":    {"both.corp.example", "http://both.corp.example:FOUR/", true},
		"another name of an allowed one":     {"crm.corp.example", "http://intranet:FOUR/", false},
		"one of several":                     {" 10.0.0.0/8 , ,crm.corp.example:FOUR,fd00::/8", "http://crm.corp.example:FOUR/", true},
		"nothing":                            {"", "http://127.0.0.1:FOUR/", false},
		"a user in the address":              {"127.0.0.1", "http://user@127.0.0.1:FOUR/", false},
		"plain http to the public internet":  {"127.0.0.0/8", "http://outside.example:443/", false},
		"another port there":                 {"127.0.0.0/8", "https://outside.example:8443/", false},
	} {
		t.Run(what, func(t *testing.T) {
			ports := strings.NewReplacer("FOUR", four, "SIX", six)
			o := allowed(t, ports.Replace(c.list))
			url := ports.Replace(c.url)
			_, body, err := get(t, client(o, known), url)
			if !c.reached {
				require.ErrorIs(t, err, ErrRefused)
				return
			}
			require.NoError(t, err)
			require.Contains(t, url, body, "the host is the one that was asked for")
			require.NoError(t, CheckURL(url, o))
		})
	}
}

// What a whole network is allowed for is its machines, not what they use to manage themselves.
func TestWhatManagesMachinesIsReachedOnlyIfItIsNamedItself(t *testing.T) {
	for at, byItself := range map[string][]string{
		"169.254.169.254": {"169.254.0.0/16", "169.254.169.254", "169.254.169.0/24:80"}, "fe80::1": {"fe80::/10", "fe80::1"}, "fd00:ec2::254": {"fd00:ec2::254"},
		"168.63.129.16": {"168.63.129.16"}, "100.100.100.200": {"100.100.100.200"}, "64:ff9b::a9fe:a9fe": {"64:ff9b::/96"}, "2002:a9fe:a9fe::": {"2002::/16"}, "0.0.0.0": {"0.0.0.0"},
	} {
		target := netip.AddrPortFrom(netip.MustParseAddr(at), 80)
		for _, list := range []string{"0.0.0.0/0,::/0", "0.0.0.0/1,128.0.0.0/1,::/1", "169.0.0.0/8,fd00::/8,168.0.0.0/8,100.64.0.0/10,64:ff9b::/32,2000::/3", "metadata.example"} {
			d := dialer{allow: allowed(t, list).Allow, lookup: names(map[string][]string{"metadata.example": {at}})}
			require.ErrorIs(t, d.check(target, "metadata.example", true), ErrRefused, "%s by %s", at, list)
			_, err := d.dial(context.WithValue(t.Context(), plainKey{}, true), "tcp", "metadata.example:80")
			require.ErrorIs(t, err, ErrRefused)
		}
		for _, list := range byItself {
			require.NoError(t, dialer{allow: allowed(t, list).Allow}.check(target, "", true), "%s by %s", at, list)
		}
	}
	d := dialer{allow: allowed(t, "0.0.0.0/0,::/0").Allow}
	for _, at := range []string{"10.0.0.1:80", "127.0.0.1:8080", "[fd12::1]:80", "1.1.1.1:80"} {
		require.NoError(t, d.check(netip.MustParseAddrPort(at), "", true), at)
	}
}

func TestAnAddressInsideIsRefusedWithTheNameOfTheKnob(t *testing.T) {
	for _, u := range []string{"https://10.0.0.1/", "https://127.0.0.1/", "https://[fd00::1]/", "https://169.254.169.254/", "https://localhost/", "https://intranet/", "https://printer.local/"} {
		err := CheckURL(u, Options{})
		require.ErrorIs(t, err, errPrivate, u)
		require.ErrorContains(t, err, "SVC_FETCH_ALLOW", u)
	}
	require.NotErrorIs(t, CheckURL("https://user@10.0.0.1/", Options{}), errPrivate)
	require.ErrorIs(t, CheckURL("https://10.0.0.2/", allowed(t, "10.0.0.1,10.1.0.0/16")), errPrivate)
}

func TestAnEntryThatCannotBeUsedIsNamed(t *testing.T) {
	for _, list := range []string{"http://crm/", "crm/24", "10.0.0.0/33", "10.0.0.1/8:0", "10.0.0.1:", "10.0.0.1:70000", "crm:http", "user@crm", "*.corp", "a b", "[::1", "[::1]x", "::1/8:80x", "127.1", "0x7f000001",
		"fe80::1%lo", "[10.0.0.1]:80", "10.0.0.0/8:080", "crm.", "-a", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104"} {
		_, err := ParseAllowed("10.0.0.1," + list)
		require.ErrorContains(t, err, list)
	}
	for _, list := range []string{"", " ", "10.0.0.1", "10.0.0.0/8,fd00::/8:443", "[fd00::/8]:443", "localhost:8080"} {
		_, err := ParseAllowed(list)
		require.NoError(t, err, list)
	}
}
