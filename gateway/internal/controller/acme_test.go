//go:build traefik

package controller

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/libs/authority"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// pebble is Let's Encrypt's ACME server for tests. It is built in its own module.
const pebble = "github.com/letsencrypt/pebble/v2/cmd/"

const pebbleVersion = "@v2.10.1"

// acme is a running ACME server, which finds every host on 127.0.0.1 at the ports given for each challenge.
type acme struct {
	directory string
	// ca is the authority behind the server's own certificate; root is the one behind the certificates that it issues.
	ca   string
	root *x509.CertPool
}

func startACME(t *testing.T, httpPort, tlsPort int) acme {
	t.Helper()
	dir := t.TempDir()
	install := exec.Command("go", "install", pebble+"pebble"+pebbleVersion, pebble+"pebble-challtestsrv"+pebbleVersion)
	install.Dir = dir
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOWORK=off")
	out, err := install.CombinedOutput()
	require.NoError(t, err, string(out))

	own, err := authority.Open(t.TempDir())
	require.NoError(t, err)
	pair, ca := filepath.Join(dir, "own.pem"), filepath.Join(dir, "ca.pem")
	require.NoError(t, own.Issue(pair, "localhost", "localhost"))
	require.NoError(t, os.WriteFile(ca, own.PEM, 0o600))
	serve, manage, names := freeport.Port(), freeport.Port(), freeport.Port()
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": fmt.Sprintf("127.0.0.1:%d", serve), "managementListenAddress": fmt.Sprintf("127.0.0.1:%d", manage),
		"certificate": pair, "privateKey": pair, "httpPort": httpPort, "tlsPort": tlsPort, "keyAlgorithm": "ecdsa",
	}})
	require.NoError(t, err)
	file := filepath.Join(dir, "pebble.json")
	require.NoError(t, os.WriteFile(file, config, 0o600))
	start := func(program string, args ...string) {
		cmd := exec.Command(filepath.Join(dir, program), args...)
		// The certificate comes with one more certificate between it and the root, as Let's Encrypt's does.
		cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1", "PEBBLE_CHAIN_LENGTH=2")
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	}
	dns := fmt.Sprintf("127.0.0.1:%d", names)
	start("pebble-challtestsrv", "-dnsserver", dns, "-defaultIPv6", "", "-http01", "", "-https01", "", "-doh", "", "-tlsalpn01", "", "-management", "")
	start("pebble", "-config", file, "-dnsserver", dns)

	a := acme{directory: fmt.Sprintf("https://localhost:%d/dir", serve), ca: ca, root: x509.NewCertPool()}
	trusted := x509.NewCertPool()
	require.True(t, trusted.AppendCertsFromPEM(own.PEM))
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, DisableKeepAlives: true}}
	until.Holds(t, func() bool {
		res, err := client.Get(fmt.Sprintf("https://localhost:%d/roots/0", manage))
		if err != nil {
			return false
		}
		defer res.Body.Close()
		root, err := io.ReadAll(res.Body)
		return err == nil && a.root.AppendCertsFromPEM(root)
	}, 30*time.Second, 20*time.Millisecond)
	return a
}

func TestTraefikGetsACertificateByACME(t *testing.T) {
	for _, challenge := range []string{"tls", "http"} {
		t.Run(challenge, func(t *testing.T) {
			t.Parallel()
			secure, redirect := freeport.Port(), freeport.Port()
			server := startACME(t, redirect, secure)
			public, file := fmt.Sprintf("https://desk.example.com:%d", secure), filepath.Join(t.TempDir(), "acme.json")
			g := startGateway(t, map[string]string{"SVC_HTTPS_LISTEN": fmt.Sprintf("127.0.0.1:%d", secure), "SVC_REDIRECT_LISTEN": fmt.Sprintf("127.0.0.1:%d", redirect),
				"SVC_ACME_EMAIL": "admin@example.com", "SVC_ACME_SERVER": server.directory, "SVC_ACME_CA": server.ca, "SVC_ACME_FILE": file,
				"SVC_ACME_CHALLENGE": challenge, "SVC_PUBLIC_URL": public})
			houseAt(t, g)
			// A browser that trusts no other authority and finds the site on this machine.
			client := &http.Client{Transport: &http.Transport{
				TLSClientConfig: &tls.Config{RootCAs: server.root}, DisableKeepAlives: true,
				DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
					_, port, err := net.SplitHostPort(address)
					if err != nil {
						return nil, err
					}
					return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", port))
				},
			}}
			get := func(url string) *http.Response {
				res, err := client.Get(url)
				if err != nil {
					return nil
				}
				res.Body.Close()
				return res
			}

			var first *http.Response
			until.Holds(t, func() bool { first = get(public + "/v1/contacts/1"); return first != nil }, time.Minute, 50*time.Millisecond)
			require.Equal(t, 200, first.StatusCode)
			leaf := first.TLS.VerifiedChains[0][0]
			require.Equal(t, []string{"desk.example.com"}, leaf.DNSNames)
			require.Len(t, first.TLS.VerifiedChains[0], 4, "the certificate, two in between, the root")

			led := get(fmt.Sprintf("http://desk.example.com:%d/v1/contacts/1", redirect))
			require.NotNil(t, led)
			require.Equal(t, public+"/v1/contacts/1", led.Request.URL.String(), "http leads to https")
			require.Equal(t, 200, led.StatusCode)

			kept, err := os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), kept.Mode().Perm())
			before, err := os.ReadFile(file)
			require.NoError(t, err)
			g.stopTraefik()
			g.startTraefik()
			var again *http.Response
			until.Holds(t, func() bool { again = get(public + "/v1/contacts/1"); return again != nil }, time.Minute, 50*time.Millisecond)
			require.Equal(t, leaf.SerialNumber, again.TLS.PeerCertificates[0].SerialNumber, "the next Traefik asks for none")
			after, err := os.ReadFile(file)
			require.NoError(t, err)
			require.True(t, bytes.Equal(before, after))
			kept, err = os.Stat(file)
			require.NoError(t, err)
			require.Equal(t, os.FileMode(0o600), kept.Mode().Perm())
		})
	}
}
