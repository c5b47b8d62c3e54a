package fetch

import (
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAddressesOnThePublicInternetAreTaken(t *testing.T) {
	for _, u := range []string{
		"https://example.com", "https://example.com/", "https://example.com:443/hook?a=1&b=%20#x", "HTTPS://Hooks.Example.COM/x",
		"https://a-b.c1.example.co.uk/@user/x", "https://xn--bcher-kva.example/", "https://1.1.1.1/", "https://[2606:4700:4700::1111]:443/x",
		"https://1and1.com/", "https://0xdeadbeef.example.com/", "https://192.0.66.1/", "https://hooks.example.test/x",
	} {
		require.NoError(t, CheckURL(u, Options{}), u)
	}
}

func TestHostileSpellingsAreRefused(t *testing.T) {
	for what, urls := range map[string][]string{
		"other schemes": {"", "example.com", "//example.com", "http://example.com/", "ftp://example.com/", "file:///etc/passwd",
			"gopher://example.com/", "javascript:alert(1)", "data:text/plain,x", "https:example.com", "https:/example.com", "https:///x",
			"httpss://example.com", "unix:///run/x.sock", "https", "https:", "https://", "https://?x", "https://#x"},
		"other ports": {"https://example.com:80/", "https://example.com:8443/", "https://example.com:0/", "https://example.com:/",
			"https://example.com:0443/", "https://example.com:+443/", "https://example.com:443x/", "https://example.com:99999/",
			"https://example.com:443:443/", "https://example.com:4 43/"},
		"users": {"https://user@example.com/", "https://user:pass@example.com/", "https://@example.com/", "https://:@example.com/",
			"https://example.com@127.0.0.1/", "https://example.com:443@127.0.0.1/", "https://example.com%40127.0.0.1/", "https://a@b@example.com/"},
		"loopback": {"https://127.0.0.1/", "https://127.255.255.254/", "https://localhost/", "https://LOCALHOST/", "https://localhost./",
			"https://x.localhost/", "https://[::1]/", "https://[0:0:0:0:0:0:0:1]/", "https://ip6-localhost/"},
		"numbers in disguise": {"https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0X7F.1/", "https://017700000001/",
			"https://0177.0.0.1/", "https://127.1/", "https://127.0.1/", "https://127.0.0.1./", "https://127.0.0.01/", "https://127.000.000.001/",
			"https://1.1.1.1.1/", "https://1.1.1/", "https://01.1.1.1/", "https://1.1.1.256/", "https://0/", "https://0x/", "https://0.0/",
			"https://134744072/", "https://8.8.2056/", "https://foo.1/", "https://foo.0x1f/", "https://1.1.1.1../", "https://127。0。0。1/",
			"https://①②⑦.⓪.⓪.①/", "https://%31%32%37.0.0.1/", "https://127%2e0%2e0%2e1/", "https://[1.1.1.1]/"},
		"IPv4 set aside": {"https://0.0.0.0/", "https://0.1.2.3/", "https://10.0.0.1/", "https://100.64.0.1/", "https://100.127.255.254/",
			"https://169.254.169.254/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.0.0.1/", "https://192.0.0.170/",
			"https://192.0.2.1/", "https://192.31.196.1/", "https://192.52.193.1/", "https://192.88.99.1/", "https://192.168.1.1/",
			"https://192.175.48.1/", "https://198.18.0.1/", "https://198.19.255.255/", "https://198.51.100.1/", "https://203.0.113.1/",
			"https://224.0.0.1/", "https://239.255.255.255/", "https://240.0.0.1/", "https://255.255.255.255/", "https://168.63.129.16/"},
		"IPv6 set aside": {"https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::ffff:1.1.1.1]/",
			"https://[::127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b::1.1.1.1]/", "https://[64:ff9b:1::1]/", "https://[100::1]/",
			"https://[100:0:0:1::1]/", "https://[2001::1]/", "https://[2001:0:7f00:1::]/", "https://[2001:2::1]/", "https://[2001:3::1]/",
			"https://[2001:4:112::1]/", "https://[2001:10::1]/", "https://[2001:20::1]/", "https://[2001:30::1]/", "https://[2001:db8::1]/",
			"https://[2002:7f00:1::]/", "https://[2002:101:101::1]/", "https://[2620:4f:8000::1]/", "https://[3fff::1]/", "https://[5f00::1]/",
			"https://[fc00::1]/", "https://[fd00::1]/", "https://[fe80::1]/", "https://[fec0::1]/", "https://[ff02::1]/",
			"https://[fe80::1%25eth0]/", "https://[2606:4700:4700::1111%25eth0]/", "https://[2606:4700:4700::1111/", "https://2606:4700:4700::1111/",
			"https://[]/", "https://[::1", "https://[v1.x]/"},
		"names of this network": {"https://intranet/", "https://printer.local/", "https://metadata.google.internal/", "https://router.home.arpa/"},
		"other characters": {"https://bücher.example/", "https://exаmple.com/", "https://example.com/é", "https://example.com\\@127.0.0.1/",
			"https:\\\\127.0.0.1/", "https://example.com/\r\nHost: x", "https://example.com/ x", " https://example.com/", "https://example.com/\x00",
			"https://example.com\t/", "https://exa\u200bmple.com/", "https://ex%C3%A4mple.com/", "https://example.com/\x7f"},
		"no host names": {"https://./", "https://.example.com/", "https://example..com/", "https://example.com./", "https://-a.example.com/",
			"https://a-.example.com/", "https://a_b.example.com/", "https://a$b.example.com/", "https://exam%25ple.com/", "https://*.example.com/",
			"https://" + strings.Repeat("a", 64) + ".example.com/", "https://" + strings.Repeat("a.", 127) + "example.com/",
			"https://example.com/" + strings.Repeat("x", maxURL)},
	} {
		for _, u := range urls {
			require.Error(t, CheckURL(u, Options{}), "%s: %s", what, u)
		}
	}
}

func TestTheLocalRunAlsoTakesLoopback(t *testing.T) {
	local := Options{Local: true}
	for _, u := range []string{"http://127.0.0.1:9000/hook", "http://localhost:1/", "http://[::1]:65535/", "https://localhost/", "http://127.9.9.9/",
		"https://example.com/", "http://receiver.test:8081/"} {
		require.NoError(t, CheckURL(u, local), u)
	}
	for _, u := range []string{"http://10.0.0.1/", "http://169.254.169.254/", "http://192.168.1.1:9000/", "http://0.0.0.0:9000/", "http://[::ffff:127.0.0.1]/",
		"http://2130706433/", "http://127.1/", "http://user@127.0.0.1/", "ftp://127.0.0.1/", "http://127.0.0.1:0/", "http://127.0.0.1:09/",
		"http://127.0.0.1:70000/", "http://[fe80::1]/", "http://[::]/", "http://[::1%25lo]/"} {
		require.Error(t, CheckURL(u, local), u)
	}
}

func FuzzCheckURL(f *testing.F) {
	for _, u := range []string{"https://example.com:443/a?b#c", "https://[2606:4700::1]/", "https://127.0.0.1", "https://0x7f.1@x:80/"} {
		f.Add(u)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if CheckURL(raw, Options{}) != nil {
			return
		}
		u, err := url.Parse(raw)
		require.NoError(t, err)
		require.Equal(t, "https", u.Scheme)
		require.Nil(t, u.User)
		require.Contains(t, []string{"", "443"}, u.Port())
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
			require.True(t, ip.IsGlobalUnicast() && !ip.IsPrivate() && !ip.IsLoopback() && !ip.Is4In6(), raw)
		} else {
			require.Regexp(t, `^([A-Za-z0-9-]+\.)+[A-Za-z0-9-]+$`, u.Hostname())
		}
	})
}
