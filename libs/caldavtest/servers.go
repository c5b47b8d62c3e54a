// Package caldavtest runs calendar servers of others as processes: Radicale, which asks for sign-in by basic authentication, and Xandikos, behind a
// proxy that asks by digest. deploy/caldav/requirements.txt has their versions; deploy/tools keeps them.
package caldavtest

import (
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/icholy/digest"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

// Username and Password are those of the person whom the servers know.
const Username, Password = "ada", "a long: passphrase, é"

// Server is one that runs until the test is over.
type Server struct {
	Name string
	// URL is its address. Home has the person's calendars, and Calendar is one of them, which is empty at first.
	URL, Home, Calendar string
}

// Servers are all there are.
func Servers(t testing.TB) []Server { return []Server{Radicale(t), xandikos(t)} }

// Radicale starts one, with a calendar called work.
func Radicale(t testing.TB) Server {
	t.Helper()
	dir, address := t.TempDir(), freeport.Address()
	users, settings := filepath.Join(dir, "users"), filepath.Join(dir, "settings")
	require.NoError(t, os.WriteFile(users, []byte(Username+":"+Password+"\n"), 0o600))
	require.NoError(t, os.WriteFile(settings, []byte("[server]\nhosts = "+address+"\n[auth]\ntype = htpasswd\nhtpasswd_encryption = plain\ndelay = 0\nhtpasswd_filename = "+users+
		"\n[storage]\nfilesystem_folder = "+filepath.Join(dir, "data")+"\n[logging]\nlevel = warning\n"), 0o600))
	s := Server{Name: "Radicale", URL: "http://" + address, Home: "http://" + address + "/" + Username + "/"}
	start(t, s, "radicale", "--config", settings)
	s.Calendar = s.Home + "work/"
	s.Make(t, s.Calendar, "VEVENT")
	return s
}

// xandikos starts one, with the calendar that it makes itself.
func xandikos(t testing.TB) Server {
	t.Helper()
	dir, address := t.TempDir(), freeport.Address()
	_, port, _ := strings.Cut(address, ":")
	start(t, Server{Name: "Xandikos", URL: "http://" + address}, "xandikos", "serve", "--directory", filepath.Join(dir, "data"), "--state-dir", filepath.Join(dir, "state"),
		"--defaults", "--current-user-principal", "/"+Username+"/", "--listen-address", "127.0.0.1", "--port", port, "--no-detect-systemd")
	behind, err := url.Parse("http://" + address)
	require.NoError(t, err)
	front := httptest.NewServer(askingByDigest(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(behind); r.Out.Header.Del("Authorization") }}))
	t.Cleanup(front.Close)
	home := front.URL + "/" + Username + "/calendars/"
	return Server{"Xandikos", front.URL, home, home + "calendar/"}
}

// askingByDigest lets through who knows the password, by RFC 7616.
func askingByDigest(next http.Handler) http.Handler {
	ask := digest.Challenge{Realm: "calendars", Nonce: rand.Text(), Algorithm: "SHA-256", QOP: []string{"auth"}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, err := digest.ParseCredentials(r.Header.Get("Authorization"))
		if err == nil && given.Nonce == ask.Nonce {
			wanted, err := digest.Digest(&ask, digest.Options{Method: r.Method, URI: r.URL.RequestURI(), Count: given.Nc, Cnonce: given.Cnonce, Username: Username, Password: Password})
			if err == nil && wanted.Response == given.Response && given.Username == Username {
				next.ServeHTTP(w, r)
				return
			}
		}
		w.Header().Set("WWW-Authenticate", ask.String())
		w.WriteHeader(http.StatusUnauthorized)
	})
}

// start starts a program of the folder and waits until it answers.
func start(t testing.TB, s Server, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(venv(t), "bin", name), args...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = log, log
	// It ends with the test, also when that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if said, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("%s says:\n%s", s.Name, said)
		}
	})
	until.Holds(t, func() bool {
		res, err := http.Get(s.URL)
		if err != nil {
			return false
		}
		_ = res.Body.Close()
		return true
	}, time.Minute, 50*time.Millisecond, "%s answers", s.Name)
}

func venv(t testing.TB) string {
	t.Helper()
	root, err := os.Getwd()
	require.NoError(t, err)
	for root != "/" && !exists(filepath.Join(root, "go.work")) {
		root = filepath.Dir(root)
	}
	out, err := exec.Command(filepath.Join(root, "deploy/tools"), "venv", filepath.Join(root, "deploy/caldav")).Output()
	require.NoError(t, err, "deploy/tools venv deploy/caldav")
	return strings.TrimSpace(string(out))
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
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
