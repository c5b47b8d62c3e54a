package lines

import (
	"bufio"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func two() []Line {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	return []Line{{At: at, Text: []byte(`{"a":1}`)}, {At: at, Text: []byte(`{"b":"é"}`), Notice: true}}
}

func TestOnlyPlacesThatLinesCanGoToAreTaken(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"stdout", "file:/var/log/audit.jsonl", "syslog://logs.example.com", "syslog://10.0.0.1:601/", "syslog+udp://[::1]:514", "syslog+tls://logs:6514?ca=/ca.pem"} {
		s, err := Parse(good, "desk")
		require.NoError(t, err, good)
		require.True(t, s.On())
	}
	for _, bad := range []string{"", "stderr", "file:", "file:audit.jsonl", "file:/var/log/", "/var/log/audit", "syslog:", "syslog://", "syslog://host:0", "syslog://host:70000", "syslog://host:x", "http://host",
		"syslog://user@host", "syslog://host/path", "syslog://host?ca=/x", "syslog+tls://host?ca=", "syslog+tls://host?key=/x", "syslog+tls://host?ca=/x&key=/y", "syslog+tls://host#x", "syslog+unix://x"} {
		_, err := Parse(bad, "desk")
		require.Error(t, err, bad)
	}
	require.False(t, Stream{}.On())
}

func TestAFileThatWasRotatedIsMadeAnewAndAHalfLineIsEnded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	s, err := Parse("file:"+path, "")
	require.NoError(t, err)
	read := func(path string) string {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(text)
	}
	const both = "{\"a\":1}\n{\"b\":\"é\"}\n"
	require.NoError(t, s.Write(t.Context(), two()))
	require.Equal(t, both, read(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.Rename(path, path+".1"))
	require.NoError(t, s.Write(t.Context(), two()))
	require.Equal(t, both, read(path))
	require.Equal(t, both, read(path+".1"))

	require.NoError(t, os.WriteFile(path, []byte(`{"half":`), 0o600))
	require.NoError(t, s.Write(t.Context(), two()))
	require.Equal(t, "{\"half\":\n"+both, read(path))

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Error(t, s.Write(t.Context(), two()))
}

// server takes connections and answers with what each of them sent. It ends one when it has read it to its end, or at once if it hangs up.
func server(t *testing.T, l net.Listener, hangsUp bool) <-chan string {
	t.Helper()
	t.Cleanup(func() { _ = l.Close() })
	got := make(chan string, 8)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			if hangsUp {
				_ = conn.(*net.TCPConn).SetLinger(0)
				_ = conn.Close()
				continue
			}
			text, _ := io.ReadAll(conn)
			_ = conn.Close()
			got <- string(text)
		}
	}()
	return got
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	return l
}

// messages takes apart what is sent over a connection.
func messages(t *testing.T, text string) (all []string) {
	t.Helper()
	for r := bufio.NewReader(strings.NewReader(text)); ; {
		length, err := r.ReadString(' ')
		if errors.Is(err, io.EOF) {
			return all
		}
		n, err := strconv.Atoi(strings.TrimSpace(length))
		require.NoError(t, err)
		m := make([]byte, n)
		_, err = io.ReadFull(r, m)
		require.NoError(t, err)
		all = append(all, string(m))
	}
}

var sent = []string{`<110>1 2026-03-04T05:06:07.008Z desk.example.com frontdesk - audit - {"a":1}`, `<109>1 2026-03-04T05:06:07.008Z desk.example.com frontdesk - audit - {"b":"é"}`}

func TestSyslogOverTCPIsSentOnceTheServerHasReadIt(t *testing.T) {
	t.Parallel()
	l := listen(t)
	got := server(t, l, false)
	s, err := Parse("syslog://"+l.Addr().String(), "desk.example.com")
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), two()))
	require.Equal(t, sent, messages(t, <-got))

	l = listen(t)
	server(t, l, true)
	s, err = Parse("syslog://"+l.Addr().String(), "desk.example.com")
	require.NoError(t, err)
	require.Error(t, s.Write(t.Context(), two()))
	require.NoError(t, l.Close())
	require.Error(t, s.Write(t.Context(), two()))
}

func TestSyslogOverTLSVerifiesTheServer(t *testing.T) {
	t.Parallel()
	trusted := httptest.NewTLSServer(nil) // has a certificate for 127.0.0.1 and example.com
	t.Cleanup(trusted.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: trusted.Certificate().Raw}), 0o600))
	l := listen(t)
	got := server(t, tls.NewListener(l, trusted.TLS), false)
	s, err := Parse(fmt.Sprintf("syslog+tls://%s?ca=%s", l.Addr(), ca), "desk.example.com")
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), two()))
	require.Equal(t, sent, messages(t, <-got))

	s, err = Parse(fmt.Sprintf("syslog+tls://%s", l.Addr()), "desk.example.com")
	require.NoError(t, err)
	require.ErrorContains(t, s.Write(t.Context(), two()), "certificate")
}

func TestSyslogOverUDPIsADatagramALine(t *testing.T) {
	t.Parallel()
	l, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	s, err := Parse("syslog+udp://"+l.LocalAddr().String(), "desk.example.com")
	require.NoError(t, err)
	require.NoError(t, s.Write(t.Context(), append(two(), Line{Text: make([]byte, 100_000)})))
	buffer := make([]byte, 1<<16)
	for _, want := range sent {
		n, _, err := l.ReadFrom(buffer)
		require.NoError(t, err)
		require.Equal(t, want, string(buffer[:n]))
	}
	n, _, err := l.ReadFrom(buffer)
	require.NoError(t, err)
	require.Equal(t, 65_000, n)
}
