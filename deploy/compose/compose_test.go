// Package compose runs docker-compose.yml as it stands, on an image built from the Dockerfile, in a project and on ports of its own:
// make compose-test.
package compose

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/authority"
	"frontdesk/libs/until"
)

const project = "frontdesk-test"

// containers are those that stay up, by service.
var containers = []string{"postgres", "kafka", "mail", "settings", "contacts", "booking", "forms", "webhooks", "gateway", "traefik"}

// stack is the running project.
type stack struct {
	engine string   // docker or podman
	env    []string // of every command
	*system.System
}

// run runs a command of the engine and returns its output.
func (s stack) run(t testing.TB, args ...string) string {
	t.Helper()
	return s.command(t, exec.Command(s.engine, args...))
}

func (s stack) command(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	var out, said bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "../..", s.env, &out, &said
	require.NoError(t, cmd.Run(), "%s\n%s%s", cmd, out.String(), said.String())
	return strings.TrimSpace(out.String())
}

// readme runs commands of deploy/README.md, with other words in the place of some.
func (s stack) readme(t testing.TB, commands string, instead ...string) {
	t.Helper()
	words := strings.NewReplacer(append([]string{"docker ", s.engine + " "}, instead...)...)
	s.command(t, exec.Command("bash", "-euo", "pipefail", "-c", words.Replace(commands)))
}

// up brings all containers up, as many of booking as given.
func (s stack) up(t testing.TB, bookings int) {
	t.Helper()
	s.run(t, "compose", "up", "--no-build", "--wait", "--scale", "booking="+strconv.Itoa(bookings))
}

func container(service string, n int) string { return fmt.Sprintf("%s-%s-%d", project, service, n) }

// start does what deploy/README.md says, and answers when everything is healthy.
func start(t *testing.T) stack {
	t.Helper()
	dir := t.TempDir()
	secrets, port, mails, page := filepath.Join(dir, "secrets"), freePort(t), freePort(t), freePort(t)
	s := stack{engine: os.Getenv("ENGINE")}
	require.NotEmpty(t, s.engine, "ENGINE has to be docker or podman")
	s.env = append(os.Environ(), "COMPOSE_PROJECT_NAME="+project, "COMPOSE_ENV_FILES="+secrets, "SVC_HTTP_PORT="+port, "SVC_MAIL_PAGE_PORT="+mails,
		"SVC_GATEWAY_PAGE_PORT="+page, "SVC_ADMIN_PASSWORD="+system.Password, "SVC_RATE_FACTOR=0", "SVC_WEBHOOK_LOCAL=1")
	state, err := json.Marshal(system.State{Gateway: "http://localhost:" + port, MailPage: "http://localhost:" + mails})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), state, 0o600))
	s.System, err = system.Start(t.Context(), system.Options{Data: dir})
	require.NoError(t, err)

	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.run(t, "compose", "ps", "--all"), s.run(t, "compose", "logs", "--no-color", "--tail", "30"))
		}
		s.run(t, "compose", "down", "--volumes", "--remove-orphans")
		for _, kind := range []string{"container", "network", "volume"} {
			require.Empty(t, s.run(t, kind, "ls", "--quiet", "--filter", "label=com.docker.compose.project="+project), "a %s is left behind", kind)
		}
	})
	s.readme(t, system.Commands(t, "With Docker", 1), " .env", " "+secrets)
	// A service is healthy a moment before the gateway has its routes.
	for _, path := range []string{"/auth/session", "/contacts", "/booking/services", "/forms", "/webhooks"} {
		system.Eventually(t, func() bool { return s.Visitor().Get(t, path).Status != 404 }, "no route to "+path)
	}
	return s
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

func TestTheComposeFileRuns(t *testing.T) {
	s := start(t)
	d := s.SetUp(t)
	visitor := s.Visitor()

	// booked has a visitor book, and waits for the contact and the mail, so the way through Kafka.
	booked := func(t *testing.T) (email string) {
		t.Helper()
		email = system.Address("ada")
		starts, token := d.Slots(t)
		system.Wait()
		visitor.Post(t, "/booking/book", d.Booking(starts[3], token, email)).Is(201)
		system.Eventually(t, func() bool { return len(d.Admin.Get(t, "/contacts?search="+email).Is(200).Items()) == 1 }, "no contact "+email)
		s.ManageToken(t, email, 1)
		return email
	}
	visitors := []string{booked(t)}

	t.Run("the story", func(t *testing.T) {
		manage := s.ManageToken(t, visitors[0], 1)
		require.Equal(t, "cancelled", visitor.Post(t, "/booking/manage/cancel", map[string]string{"token": manage}).Is(200).Text("status"))
		token, writer := d.FormToken(t), system.Address("grace")
		system.Wait()
		visitor.Post(t, "/forms/"+d.Form+"/submit", d.Submission(token, writer)).Is(200)
		system.Eventually(t, func() bool { return len(d.Admin.Get(t, "/contacts?search="+writer).Is(200).Items()) == 1 }, "no contact of the form")
		d.Admin.Call(t, "PATCH", "/apps/booking", map[string]any{"enabled": false}).Is(200)
		visitor.Get(t, "/booking/services").Fails(404, "svc_no_route")
		d.Admin.Call(t, "PATCH", "/apps/booking", map[string]any{"enabled": true}).Is(200)
		visitor.Get(t, "/booking/services").Is(200)
	})

	t.Run("no container has a volume without a name", func(t *testing.T) {
		for _, name := range containers {
			for _, volume := range strings.Fields(s.run(t, "inspect", "--format", `{{range .Mounts}}{{.Name}} {{end}}`, container(name, 1))) {
				require.True(t, strings.HasPrefix(volume, project+"_"), "%s: %s", name, volume)
			}
		}
	})

	t.Run("each container is killed and comes back", func(t *testing.T) {
		for _, name := range containers {
			t.Run(name, func(t *testing.T) {
				s.run(t, "kill", container(name, 1))
				s.up(t, 1)
				visitors = append(visitors, booked(t))
			})
		}
	})

	t.Run("a service that starts without Kafka answers 503 at once", func(t *testing.T) {
		s.run(t, "stop", container("kafka", 1))
		s.run(t, "restart", container("contacts", 1))
		for range 10 {
			began := time.Now()
			d.Admin.Get(t, "/contacts").Is(503)
			require.Less(t, time.Since(began), 2*time.Second)
		}
		s.up(t, 1)
		system.Eventually(t, func() bool {
			status := d.Admin.Get(t, "/contacts").Status
			require.Contains(t, []int{200, 503}, status, "a key is not refused before the service has read the keys")
			return status == 200
		}, "contacts do not come back")
	})

	t.Run("data and keys outlast down and up, and changed passwords are taken", func(t *testing.T) {
		const changed = "changed0123456789abcdef"
		s.readme(t, system.Commands(t, "Connections of PostgreSQL", 1), "…", changed, " exec ", " exec -T ") // there is no terminal
		s.run(t, "compose", "down")
		for _, name := range []string{"POSTGRES_PASSWORD", "BOOKING_DB_PASSWORD", "BOOKING_KAFKA_PASSWORD", "GATEWAY_KAFKA_PASSWORD"} {
			s.env = append(s.env, name+"="+changed)
		}
		s.up(t, 1)
		for _, email := range visitors {
			require.Len(t, d.Admin.Get(t, "/contacts?search="+email).Is(200).Items(), 1, email)
			require.NotEmpty(t, s.Mails(t, email))
		}
		visitors = append(visitors, booked(t))
	})

	t.Run("three replicas share the requests, and the death of one fails none", func(t *testing.T) {
		const replicas = 3
		s.readme(t, system.Commands(t, "Replicas", 1))
		served := func(n int) (count float64) {
			for line := range strings.Lines(s.run(t, "exec", container("booking", n), "local", "get", "http://127.0.0.1:9000/metrics")) {
				if strings.HasPrefix(line, "frontdesk_op_seconds_count{") {
					f := strings.Fields(line)
					v, err := strconv.ParseFloat(f[len(f)-1], 64)
					require.NoError(t, err)
					count += v
				}
			}
			return count
		}
		read := func(ctx context.Context) (int, error) {
			a, err := visitor.Try(ctx, "GET", "/booking/services", nil)
			if err != nil {
				return 0, err
			}
			return a.Status, nil
		}
		// Evenly, once the gateway has found all of them.
		const requests = 300
		until.Holds(t, func() bool {
			var before, now [replicas]float64
			for i := range before {
				before[i] = served(i + 1)
			}
			for range requests {
				status, err := read(t.Context())
				require.NoError(t, err)
				require.Equal(t, 200, status)
			}
			even := true
			for i := range now {
				now[i] = served(i+1) - before[i]
				even = even && now[i] > requests/replicas*0.9 && now[i] < requests/replicas*1.1
			}
			t.Logf("of %d requests the replicas took %v", requests, now)
			return even
		}, time.Minute, time.Second)

		var sent, failed atomic.Int64
		var answers sync.Map
		ctx, stop := context.WithCancel(t.Context())
		var load sync.WaitGroup
		for range 8 {
			load.Go(func() {
				for ctx.Err() == nil {
					status, err := read(context.WithoutCancel(ctx))
					sent.Add(1)
					if err != nil || status != 200 {
						failed.Add(1)
						answers.Store(fmt.Sprint(status, " ", err), true)
					}
				}
			})
		}
		under := func(n int64) {
			from := sent.Load()
			until.Holds(t, func() bool { return sent.Load() > from+n }, time.Minute, 10*time.Millisecond)
		}
		under(500)
		began := time.Now()
		s.run(t, "kill", container("booking", 2))
		under(2000)
		took := time.Since(began)
		stop()
		load.Wait()
		answers.Range(func(what, _ any) bool { t.Log(what); return true })
		t.Logf("%d requests, %d failed; the last 2,000 took %s", sent.Load(), failed.Load(), took.Round(time.Millisecond))
		require.Zero(t, failed.Load())
	})

	t.Run("https with a certificate of one's own, and with the next one", func(t *testing.T) {
		dir, secure, redirect, before := t.TempDir(), freePort(t), freePort(t), s.env
		t.Cleanup(func() {
			s.env = before
			s.up(t, 1)
			s.run(t, "volume", "rm", project+"_acme") // compose.tls.yml's, which `compose down` without that file leaves
		})
		s.env = append(s.env, "SVC_PUBLIC_URL=https://localhost:"+secure, "SVC_HTTPS_PORT="+secure, "SVC_REDIRECT_PORT="+redirect, "SVC_TLS_DIR="+dir)
		for _, name := range []string{"site.pem", "next.pem"} {
			a, err := authority.Open(t.TempDir())
			require.NoError(t, err)
			pair := filepath.Join(dir, name)
			require.NoError(t, a.Issue(pair, "localhost", "localhost"))
			require.NoError(t, os.Chmod(pair, 0o644)) // for Traefik's user
			s.env = append(s.env, "SVC_TLS_CERT=/tls/"+name, "SVC_TLS_KEY=/tls/"+name)
			s.readme(t, system.Commands(t, "Addresses, https and load balancers", 1))
			roots := x509.NewCertPool()
			require.True(t, roots.AppendCertsFromPEM(a.PEM))
			browser := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, DisableKeepAlives: true}}
			system.Eventually(t, func() bool {
				res, err := browser.Get("http://localhost:" + redirect + "/v1/booking/services")
				if err != nil {
					return false
				}
				res.Body.Close()
				return res.StatusCode == 200 && res.Request.URL.String() == "https://localhost:"+secure+"/v1/booking/services"
			}, "http does not lead to https with "+name)
		}
	})
}
