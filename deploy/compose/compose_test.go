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
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/deploy/system"
	"frontdesk/libs/authority"
	"frontdesk/libs/freeport"
	"frontdesk/libs/until"
)

const project = "frontdesk-test"

// containers are those that stay up, by service.
var containers = []string{"postgres", "kafka", "mail", "settings", "contacts", "booking", "forms", "webhooks", "gateway", "traefik"}

// stack is the running project.
type stack struct {
	engine string   // docker or podman
	env    []string // of every command
	page   string   // address of the gateway's page
	*system.System
}

// run runs a command of the engine and returns its output.
func (s stack) run(t testing.TB, args ...string) string {
	t.Helper()
	return s.command(t, exec.Command(s.engine, args...))
}

// try runs a command of the engine that may fail, and returns all that it prints.
func (s stack) try(args ...string) (string, error) {
	cmd := exec.Command(s.engine, args...)
	cmd.Dir, cmd.Env = "../..", s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
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

// up brings all containers up, one of each service unless scale says otherwise: booking=3.
func (s stack) up(t testing.TB, scale ...string) {
	t.Helper()
	args := []string{"compose", "up", "--no-build", "--wait"}
	for _, of := range scale {
		args = append(args, "--scale", of)
	}
	s.run(t, args...)
}

func container(service string, n int) string { return fmt.Sprintf("%s-%s-%d", project, service, n) }

// start does what deploy/README.md says, and answers when everything is healthy.
func start(t *testing.T) stack {
	t.Helper()
	dir := t.TempDir()
	secrets, port, mails, page := filepath.Join(dir, "secrets"), strconv.Itoa(freeport.Port()), strconv.Itoa(freeport.Port()), strconv.Itoa(freeport.Port())
	s := stack{engine: os.Getenv("ENGINE"), page: "http://localhost:" + page}
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

// fetch asks an address as a browser does.
func fetch(t *testing.T, url string) (status int, page string) {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(body)
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

	t.Run("links lead to where a browser finds the site", func(t *testing.T) {
		mails := s.Mails(t, visitors[0])
		require.Contains(t, mails[len(mails)-1].Text, s.Now(t).Gateway+"/", "the link in the first mail has the port of SVC_HTTP_PORT")
		status, page := fetch(t, s.page)
		require.Equal(t, 200, status)
		links := regexp.MustCompile(`href="(https?://[^"]+)"`).FindAllStringSubmatch(page, -1)
		require.NotEmpty(t, links, "the gateway's page has no link to the site")
		for _, link := range links {
			status, page = fetch(t, link[1])
			require.Less(t, status, 500, link[1])
			require.Contains(t, page, "Frontdesk", "the page is ours, though the site may have none at this path")
		}
	})

	t.Run("no container has a volume without a name", func(t *testing.T) {
		for _, id := range strings.Fields(s.run(t, "ps", "--all", "--quiet", "--filter", "label=com.docker.compose.project="+project)) {
			for _, volume := range strings.Fields(s.run(t, "inspect", "--format", `{{range .Mounts}}{{.Name}} {{end}}`, id)) {
				require.True(t, strings.HasPrefix(volume, project+"_"), "%s: %s", id, volume)
			}
		}
	})

	t.Run("no process has a right of root, and nothing fills the disk", s.confined)

	t.Run("the health check of Kafka starts no JVM", func(t *testing.T) {
		var check []string
		require.NoError(t, json.Unmarshal([]byte(s.run(t, "inspect", "--format", `{{json .Config.Healthcheck.Test}}`, container("kafka", 1))), &check))
		require.Equal(t, "CMD", check[0])
		// A JVM refuses to start with this.
		in := []string{"exec", "--env", "JAVA_TOOL_OPTIONS=-XX:+NoSuchFlag", container("kafka", 1)}
		_, err := s.try(append(in, "java", "-version")...)
		require.Error(t, err)
		s.run(t, append(in, check[1:]...)...)
	})

	t.Run("each container is killed and comes back", func(t *testing.T) {
		for _, name := range containers {
			t.Run(name, func(t *testing.T) {
				s.run(t, "kill", container(name, 1))
				s.up(t)
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
		// The service itself, past the gateway. `local get` gives up after ten seconds.
		out, err := s.try("exec", container("gateway", 1), "local", "get", "http://contacts-replicas:8000/v1/contacts")
		require.Error(t, err)
		require.Contains(t, out, "503")
		s.up(t)
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
		for _, name := range []string{"POSTGRES_PASSWORD", "BOOKING_DB_PASSWORD", "BOOKING_KAFKA_PASSWORD", "GATEWAY_KAFKA_PASSWORD", "SVC_ADMIN_PASSWORD"} {
			s.env = append(s.env, name+"="+changed)
		}
		s.up(t)
		for _, email := range visitors {
			require.Len(t, d.Admin.Get(t, "/contacts?search="+email).Is(200).Items(), 1, email)
			require.NotEmpty(t, s.Mails(t, email))
		}
		visitors = append(visitors, booked(t))
		visitor.Post(t, "/auth/login", map[string]string{"login": "admin", "password": changed}).Is(401)
		visitor.Post(t, "/auth/login", map[string]string{"login": "admin", "password": system.Password}).Is(200)
	})

	t.Run("a service goes back to a backup by the commands of the README", func(t *testing.T) {
		s.readme(t, system.Commands(t, "With Docker", 2))
		since := booked(t)
		s.readme(t, system.Commands(t, "With Docker", 3))
		s.up(t)
		for _, email := range visitors {
			system.Eventually(t, func() bool { return len(d.Admin.Get(t, "/contacts?search="+email).Items()) == 1 }, email+" is not back")
		}
		// A command that contacts had consumed since is handled again, so the visitor who booked has a contact.
		system.Eventually(t, func() bool { return len(d.Admin.Get(t, "/contacts?search="+since).Items()) == 1 }, since+" is lost")
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
		read := func(ctx context.Context) (*system.Answer, error) {
			return visitor.Try(ctx, "GET", "/booking/services", nil)
		}
		// Evenly, once the gateway has found all of them.
		const requests = 300
		until.Holds(t, func() bool {
			var before, now [replicas]float64
			for i := range before {
				before[i] = served(i + 1)
			}
			for range requests {
				visitor.Get(t, "/booking/services").Is(200)
			}
			even := true
			for i := range now {
				now[i] = served(i+1) - before[i]
				even = even && now[i] > requests/replicas*0.9 && now[i] < requests/replicas*1.1
			}
			t.Logf("of %d requests the replicas took %v", requests, now)
			return even
		}, time.Minute, time.Second)

		l := startLoad(t, 8, read)
		l.Under(t, 500)
		began := time.Now()
		s.run(t, "kill", container("booking", 2))
		l.Under(t, 2000)
		t.Logf("the last 2,000 took %s", time.Since(began).Round(time.Millisecond))
		l.Stop(t)
	})

	t.Run("PostgreSQL has connections for three of booking and two of contacts under load", func(t *testing.T) {
		s.up(t, "booking=3", "contacts=2")
		psql := func(query string) (n int) {
			_, err := fmt.Sscan(s.run(t, "exec", container("postgres", 1), "psql", "-U", "postgres", "-tAc", query), &n)
			require.NoError(t, err)
			return n
		}
		require.Equal(t, 300, psql("show max_connections"))
		get := func(c system.Client, path string) call {
			return func(ctx context.Context) (*system.Answer, error) { return c.Try(ctx, "GET", path, nil) }
		}
		l := startLoad(t, 96, get(visitor, "/booking/slots?service="+d.Service), get(d.Admin, "/contacts?search=ada"), get(d.Admin, "/appointments"),
			func(ctx context.Context) (*system.Answer, error) {
				return d.Admin.Try(ctx, "POST", "/contacts", map[string]string{"email": system.Address("load")})
			}, get(d.Admin, "/forms"), get(d.Admin, "/webhooks"), get(d.Admin, "/audit-log"))
		most := 0
		for range 10 {
			l.Under(t, 700)
			most = max(most, psql("select count(*) from pg_stat_activity where backend_type = 'client backend'"))
		}
		t.Logf("%d connections at most", most)
		l.Stop(t)
		require.Greater(t, most, 97, "this load would fit into the 100 connections that PostgreSQL has by itself, less those of superusers")
	})

	t.Run("https with a certificate of one's own, and with the next one", func(t *testing.T) {
		dir, secure, redirect, before := t.TempDir(), strconv.Itoa(freeport.Port()), strconv.Itoa(freeport.Port()), s.env
		t.Cleanup(func() {
			s.env = before
			s.up(t)
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
