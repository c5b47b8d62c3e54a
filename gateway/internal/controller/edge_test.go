//go:build traefik

package controller

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/authority"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// headersFrom sends a request to Traefik from a local address, and returns the headers that the service got. first is written before it.
func (g *gateway) headersFrom(t *testing.T, local, first string, headers ...string) http.Header {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(local)}, Timeout: 5 * time.Second}
	conn, err := dialer.DialContext(t.Context(), "tcp", g.settings.HTTPListen)
	require.NoError(t, err)
	defer conn.Close()
	r, err := http.NewRequest("GET", g.base+"/v1/contacts/1", nil)
	require.NoError(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	r.Close = true
	_, err = io.WriteString(conn, first)
	require.NoError(t, err)
	require.NoError(t, r.Write(conn))
	answer, err := io.ReadAll(conn)
	require.NoError(t, err)
	_, body, _ := strings.Cut(string(answer), "\r\n\r\n")
	var got struct {
		Headers http.Header `json:"headers"`
	}
	require.NoError(t, json.Unmarshal([]byte(body[strings.Index(body, "{"):strings.LastIndex(body, "}")+1]), &got), "%s", answer)
	return got.Headers
}

func TestTraefikBelievesWhatItsProxiesSayAndNobodyElse(t *testing.T) {
	g := startGateway(t, map[string]string{"SVC_TRUSTED_PROXIES": "127.0.0.9,10.0.0.0/8"})
	houseAt(t, g)
	claims := []string{"X-Forwarded-For", "203.0.113.7", "X-Real-Ip", "203.0.113.7", "X-Forwarded-Proto", "https", "X-Forwarded-Host", "evil.example", "X-Forwarded-Prefix", "/evil"}
	for name, c := range map[string]struct{ from, first, chain, real string }{
		"a proxy":                  {"127.0.0.9", "", "203.0.113.7, 127.0.0.9", "203.0.113.7"},
		"a visitor":                {"127.0.0.8", "", "127.0.0.8", "127.0.0.8"},
		"a balancer without HTTP":  {"127.0.0.9", "PROXY TCP4 198.51.100.1 127.0.0.1 4711 80\r\n", "198.51.100.1", "198.51.100.1"},
		"a balancer for a proxy":   {"127.0.0.9", "PROXY TCP4 10.1.1.1 127.0.0.1 4711 80\r\n", "203.0.113.7, 10.1.1.1", "203.0.113.7"},
		"a visitor's own PROXY v1": {"127.0.0.8", "PROXY TCP4 203.0.113.7 127.0.0.1 4711 80\r\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.chain == "" {
				conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(c.from)}}).DialContext(t.Context(), "tcp", g.settings.HTTPListen)
				require.NoError(t, err)
				defer conn.Close()
				_, err = io.WriteString(conn, c.first+"GET /v1/contacts/1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
				require.NoError(t, err)
				answer, _ := io.ReadAll(conn)
				require.NotContains(t, string(answer), "203.0.113.7")
				return
			}
			got := g.headersFrom(t, c.from, c.first, claims...)
			require.Equal(t, c.chain, strings.Join(got["X-Forwarded-For"], ", "))
			require.Equal(t, c.real, got.Get("X-Real-Ip"))
			require.Equal(t, "http", got.Get("X-Forwarded-Proto"))
			require.Empty(t, got.Get("X-Forwarded-Host"))
			require.Empty(t, got.Get("X-Forwarded-Prefix"))
		})
	}
}

// site are certificates for localhost in a folder.
type site struct{ dir string }

// issue makes a certificate by a new authority, and returns a client that trusts nothing else.
func (s site) issue(t *testing.T) *http.Client {
	t.Helper()
	a, err := authority.Open(t.TempDir())
	require.NoError(t, err)
	path := filepath.Join(s.dir, "site.pem")
	require.NoError(t, a.Issue(path, "localhost", "localhost"))
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(a.PEM))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 10 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

func TestTraefikServesHTTPSWithACertificateOfOurs(t *testing.T) {
	s := site{t.TempDir()}
	client := s.issue(t)
	secure, redirect := freeport.Port(), freeport.Port()
	public := fmt.Sprintf("https://localhost:%d", secure)
	pair := filepath.Join(s.dir, "site.pem")
	g := startGateway(t, map[string]string{"SVC_HTTPS_LISTEN": fmt.Sprintf("127.0.0.1:%d", secure), "SVC_REDIRECT_LISTEN": fmt.Sprintf("127.0.0.1:%d", redirect),
		"SVC_TLS_CERT": pair, "SVC_TLS_KEY": pair, "SVC_PUBLIC_URL": public})
	houseAt(t, g)
	get := func(client *http.Client, url string) (*http.Response, string, error) {
		res, err := client.Get(url)
		if err != nil {
			return nil, "", err
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return res, string(body), err
	}

	t.Run("a request over https reaches its service", func(t *testing.T) {
		res, body, err := get(client, public+"/v1/contacts/1")
		require.NoError(t, err)
		require.Equal(t, 200, res.StatusCode, body)
		require.Equal(t, "max-age=31536000", res.Header.Get("Strict-Transport-Security"))
		require.Contains(t, body, `"X-Forwarded-Proto":["https"]`)
	})
	t.Run("older TLS is refused", func(t *testing.T) {
		_, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", secure), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11})
		require.Error(t, err)
	})
	t.Run("http leads to https and nowhere else", func(t *testing.T) {
		for _, path := range []string{"/v1/contacts/1?x=1", "/unknown"} {
			res, _, err := get(client, fmt.Sprintf("http://localhost:%d%s", redirect, path))
			require.NoError(t, err)
			require.Contains(t, []int{301, 308}, res.StatusCode)
			require.Equal(t, public+path, res.Header.Get("Location"))
		}
	})
	t.Run("a new certificate in the same files is taken", func(t *testing.T) {
		renewed := s.issue(t)
		until.Holds(t, func() bool { _, _, err := get(renewed, public+"/v1/contacts/1"); return err == nil }, 30*time.Second, 50*time.Millisecond)
		_, _, err := get(client, public+"/v1/contacts/1")
		require.ErrorContains(t, err, "certificate")

		require.NoError(t, os.WriteFile(pair, []byte("half a file"), 0o600))
		time.Sleep(2 * heartbeat) // nothing may happen
		_, _, err = get(renewed, public+"/v1/contacts/1")
		require.NoError(t, err)
	})
}
