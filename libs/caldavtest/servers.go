// Package caldavtest runs calendar servers of others as processes: Radicale, which asks for sign-in by basic authentication, and Xandikos, behind a
// proxy that asks by digest. deploy/caldav/requirements.txt has their versions; deploy/tools keeps them.
package caldavtest

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/icholy/digest"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db/pgserver/tether"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// Password is that of each person whom the servers know.
const Password = "a long: passphrase, é"

// Server is the place of a person of the test's own on one that runs until the process ends.
type Server struct {
	Name, Username string
	// URL is its address. Home has the person's calendars, and Calendar is one of them, which is empty at first.
	URL, Home, Calendar string
}

// people counts those whom tests have had.
var people atomic.Int64

func person() string { return fmt.Sprint("ada", people.Add(1)) }

// Servers are all there are.
func Servers(t testing.TB) []Server { return []Server{Radicale(t), xandikos(t)} }

var radicaleProgram = program{name: "radicale", arguments: func(t testing.TB, dir, address string) []string {
	settings, users := filepath.Join(dir, "settings"), filepath.Join(dir, "users")
	require.NoError(t, os.WriteFile(users, nil, 0o600))
	require.NoError(t, os.WriteFile(settings, []byte("[server]\nhosts = "+address+"\nmax_connections = 100\n[auth]\ntype = htpasswd\nhtpasswd_encryption = plain\ndelay = 0\nhtpasswd_filename = "+
		users+"\n[storage]\nfilesystem_folder = "+filepath.Join(dir, "data")+"\n[logging]\nlevel = warning\n"), 0o600))
	return []string{"--config", settings}
}}

// Radicale has a calendar called work.
func Radicale(t testing.TB) Server {
	t.Helper()
	s := Server{Name: "Radicale", Username: person(), URL: radicaleProgram.runs(t)}
	users, err := os.OpenFile(filepath.Join(radicaleProgram.dir, "users"), os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = users.WriteString(s.Username + ":" + Password + "\n")
	require.NoError(t, errors.Join(err, users.Close()))
	s.Home = s.URL + "/" + s.Username + "/"
	s.Calendar = s.Home + "work/"
	s.Make(t, s.Calendar, "VEVENT")
	return s
}

var xandikosProgram = program{name: "xandikos", arguments: func(_ testing.TB, dir, address string) []string {
	host, port, _ := strings.Cut(address, ":")
	return []string{"multi-user", "--directory", filepath.Join(dir, "data"), "--state-dir", filepath.Join(dir, "state"), "--defaults", "--trust-x-remote-user-from", host,
		"--listen-address", host, "--port", port, "--no-detect-systemd"}
}}

// xandikos has the calendar that it makes itself.
func xandikos(t testing.TB) Server {
	t.Helper()
	behind, err := url.Parse(xandikosProgram.runs(t))
	require.NoError(t, err)
	s := Server{Name: "Xandikos", Username: person()}
	front := httptest.NewServer(askingByDigest(s.Username, &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(behind)
		r.Out.Header.Del("Authorization")
		r.Out.Header.Set("X-Remote-User", s.Username)
	}}))
	t.Cleanup(front.Close)
	s.URL = front.URL
	s.Home = s.URL + "/" + s.Username + "/calendars/"
	s.Calendar = s.Home + "calendar/"
	return s
}

// askingByDigest lets the person through who knows the password, by RFC 7616.
func askingByDigest(username string, next http.Handler) http.Handler {
	ask := digest.Challenge{Realm: "calendars", Nonce: rand.Text(), Algorithm: "SHA-256", QOP: []string{"auth"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, err := digest.ParseCredentials(r.Header.Get("Authorization"))
		if err == nil && given.Nonce == ask.Nonce {
			wanted, err := digest.Digest(&ask, digest.Options{Method: r.Method, URI: r.URL.RequestURI(), Count: given.Nc, Cnonce: given.Cnonce, Username: username, Password: Password})
			if err == nil && wanted.Response == given.Response && given.Username == username {
				next.ServeHTTP(w, r)
				return
			}
		}
		w.Header().Set("WWW-Authenticate", ask.String())
		w.WriteHeader(http.StatusUnauthorized)
	})
}

// program is one that all tests of the process share: to start one takes half a second of a processor.
type program struct {
	name      string
	arguments func(t testing.TB, dir, address string) []string
	once      sync.Once
	dir, url  string
}

// runs starts the program unless it runs, and returns its address once it answers.
func (p *program) runs(t testing.TB) string {
	t.Helper()
	t.Cleanup(func() {
		if said, _ := os.ReadFile(filepath.Join(p.dir, "log")); t.Failed() {
			t.Logf("%s says:\n%s", p.name, said)
		}
	})
	p.once.Do(func() { p.start(t) })
	require.NotEmpty(t, p.url, "%s has not started", p.name)
	return p.url
}

func (p *program) start(t testing.TB) {
	t.Helper()
	dir, err := os.MkdirTemp("", "frontdesk-caldav-")
	require.NoError(t, err)
	p.dir = dir
	address := freeport.Address()
	// The shell ends with this process, ends the program and takes its folder away.
	cmd := exec.Command("sh", slices.Concat([]string{"-c", `"$@" >"$0/log" 2>&1 & trap 'kill $!' TERM; wait $!; wait $!; rm -rf "$0"`, dir, filepath.Join(venv(t), "bin", p.name)},
		p.arguments(t, dir, address))...)
	require.NoError(t, tether.Start(cmd, syscall.SIGTERM))
	url := "http://" + address
	until.Holds(t, func() bool {
		res, err := http.Get(url) //nolint:gosec // a server of ours
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return true
	}, time.Minute, 50*time.Millisecond, "%s answers", p.name)
	p.url = url
}

func venv(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	for ; root != "/"; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.work")); err == nil {
			break
		}
	}
	out, err := exec.Command(filepath.Join(root, "deploy/tools"), "venv", filepath.Join(root, "deploy/caldav")).Output()
	require.NoError(t, err, "deploy/tools venv deploy/caldav")
	return strings.TrimSpace(string(out))
}

// Make makes a collection for components such as VEVENT at an address.
func (s Server) Make(t testing.TB, at, component string) {
	t.Helper()
	status, _ := s.do(t, "MKCALENDAR", at, `<c:mkcalendar xmlns="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:a="http://apple.com/ns/ical/"><set><prop><displayname>`+filepath.Base(at)+
		`</displayname><a:calendar-color>#FF8800CC</a:calendar-color><c:supported-calendar-component-set><c:comp name="`+component+`"/></c:supported-calendar-component-set></prop></set></c:mkcalendar>`)
	require.Equal(t, http.StatusCreated, status)
}

// Put writes a file as another program of the person does.
func (s Server) Put(t testing.TB, at, file string) {
	t.Helper()
	status, said := s.do(t, http.MethodPut, at, file)
	require.Contains(t, []int{200, 201, 204}, status, said)
}

// Delete removes one likewise.
func (s Server) Delete(t testing.TB, at string) {
	t.Helper()
	status, said := s.do(t, http.MethodDelete, at, "")
	require.Contains(t, []int{200, 204}, status, said)
}

// Get reads one. It is empty for an address that has no file.
func (s Server) Get(t testing.TB, at string) string {
	t.Helper()
	status, said := s.do(t, http.MethodGet, at, "")
	if status == http.StatusNotFound {
		return ""
	}
	require.Equal(t, http.StatusOK, status, said)
	return said
}

// Files are the addresses of what is in the calendar.
func (s Server) Files(t testing.TB) (all []string) {
	t.Helper()
	status, said := s.do(t, "PROPFIND", s.Calendar, "")
	require.Equal(t, http.StatusMultiStatus, status, said)
	for part := range strings.SplitSeq(said, "href>") {
		if href, _, _ := strings.Cut(part, "<"); strings.HasSuffix(href, ".ics") {
			all = append(all, s.URL+href)
		}
	}
	return all
}

// do makes a request as the person.
func (s Server) do(t testing.TB, method, at, body string) (status int, said string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Depth", "1")
	r.Header.Set("Content-Type", "application/xml; charset=utf-8")
	if method == http.MethodPut {
		r.Header.Set("Content-Type", "text/calendar; charset=utf-8")
	}
	client := &http.Client{Transport: &digest.Transport{Username: s.Username, Password: Password}}
	if s.Name == "Radicale" {
		r.SetBasicAuth(s.Username, Password)
		client = http.DefaultClient
	}
	res, err := client.Do(r)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(raw)
}
