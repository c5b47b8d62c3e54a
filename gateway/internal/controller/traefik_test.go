//go:build traefik

package controller

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/freeport"
	"frontdesk/libs/trust"
	"frontdesk/proto"
)

// These tests run the real Traefik, which TRAEFIK_BIN names, and the controller against a broker in
// memory: go test -tags traefik ./gateway/...

// gateway is a running one with what stands around it.
type gateway struct {
	t        testing.TB
	settings Settings
	base     string
	bus      *bus.Bus
	presence *bus.Table[*proto.Presence]
	log      string
	traefik  *exec.Cmd
}

func startGateway(t testing.TB, env map[string]string) *gateway {
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(0))
	require.NoError(t, err)
	t.Cleanup(broker.Close)

	dir := t.TempDir()
	vars := map[string]string{
		"SVC_HTTP_LISTEN": freeport.Address(), "SVC_TRAEFIK_API": freeport.Address(),
		"SVC_LISTEN": freeport.Address(), "SVC_ADMIN_LISTEN": freeport.Address(),
		"SVC_DATA_DIR": dir, "KAFKA_BROKERS": broker.ListenAddrs()[0], "SVC_PUBLIC_KEYS": strings.Join(ring.Strings(), ","),
	}
	vars["SVC_GATEWAY_URL"] = "http://" + vars["SVC_HTTP_LISTEN"]
	for k, v := range env {
		vars[k] = v
	}
	s, err := SettingsFrom(func(name string) string { return vars[name] })
	require.NoError(t, err)
	template, err := os.ReadFile(filepath.Join("..", "..", "traefik.yml"))
	require.NoError(t, err)

	g := &gateway{t: t, settings: s, base: vars["SVC_GATEWAY_URL"], bus: bus.New(s.Brokers, bus.Login{}), log: filepath.Join(dir, "traefik.log")}
	t.Cleanup(func() { g.bus.Close() })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- New(s).Run(ctx, string(template)) }()
	t.Cleanup(func() { cancel(); require.NoError(t, <-done) })
	require.Eventually(t, func() bool { return status("http://"+s.AdminListen+"/livez") == 200 }, 10*time.Second, 10*time.Millisecond)

	g.startTraefik()
	t.Cleanup(func() {
		g.stopTraefik()
		if said, err := os.ReadFile(g.log); t.Failed() && err == nil {
			t.Logf("traefik.log:\n%s", said)
		}
	})
	require.Eventually(t, func() bool { return status("http://"+s.AdminListen+"/readyz") == 200 }, 30*time.Second, 10*time.Millisecond, "traefik and controller agree")
	g.presence = bus.NewTable(g.bus, proto.PresenceTopic, decodePresence)
	go g.presence.Run(ctx)
	return g
}

func (g *gateway) startTraefik() {
	bin := os.Getenv("TRAEFIK_BIN")
	require.NotEmpty(g.t, bin, "TRAEFIK_BIN has to name Traefik's binary")
	f, err := os.OpenFile(g.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	require.NoError(g.t, err)
	defer f.Close()
	g.traefik = exec.Command(bin, "--configFile="+g.settings.staticFile())
	g.traefik.Stdout, g.traefik.Stderr = f, f
	g.traefik.Env = append(os.Environ(), "GOGC=400", "GOMEMLIMIT=512MiB")
	g.traefik.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(g.t, g.traefik.Start())
}

func (g *gateway) stopTraefik() {
	_ = g.traefik.Process.Kill()
	_ = g.traefik.Wait()
}

func status(url string) int {
	res, err := http.Get(url)
	if err != nil {
		return 0
	}
	res.Body.Close()
	return res.StatusCode
}

// send sends a message with the signature of a service.
func (g *gateway) send(service string, m db.Message) {
	g.t.Helper()
	b := bus.New(g.settings.Brokers, bus.Login{})
	defer b.Close()
	b.Trust = trust.New(service, masterOf(service), ring)
	require.NoError(g.t, b.Send(context.Background(), []db.Message{m}))
}

// publish puts a manifest on its topic and waits until the gateway has it in force.
func (g *gateway) publish(m *proto.Manifest) {
	value, err := protobuf.Marshal(m)
	require.NoError(g.t, err)
	before := g.hash()
	g.send(m.Service, db.Message{Topic: proto.ManifestTopic, Key: m.Service, Value: value})
	require.Eventually(g.t, func() bool { return g.hash() != before && status("http://"+g.settings.AdminListen+"/readyz") == 200 }, 10*time.Second, 5*time.Millisecond)
}

func (g *gateway) hash() string {
	res, err := http.Get("http://" + g.settings.AdminListen + "/config")
	require.NoError(g.t, err)
	defer res.Body.Close()
	b, _ := io.ReadAll(res.Body)
	_, after, _ := strings.Cut(string(b), "/_gateway/")
	return after[:min(16, len(after))]
}

// switchApp publishes a version of the apps and waits for the gateway to announce it, as PATCH /apps
// does. It returns how long that took.
func (g *gateway) switchApp(version int64, id string, on bool) time.Duration {
	data, err := json.Marshal(map[string]any{"apps": []App{{ID: id, Name: id, Enabled: on}}})
	require.NoError(g.t, err)
	value, err := protobuf.Marshal(&proto.Envelope{Id: uuid.NewString(), Kind: proto.KindAppsUpdated, RecordId: "apps", Version: version, Data: data})
	require.NoError(g.t, err)
	start := time.Now()
	g.send("settings", db.Message{Topic: proto.AppsTopic, Key: "apps", Value: value})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	require.True(g.t, g.presence.Wait(ctx, func() bool {
		for _, p := range g.presence.All() {
			if p.GetService() == "gateway" && p.GetAppsVersion() >= version {
				return true
			}
		}
		return false
	}), "the gateway announces version %d", version)
	return time.Since(start)
}

// do sends a request with the headers given in turn, and reads the answer.
func (g *gateway) do(method, path string, body io.Reader, headers ...string) (*http.Response, string) {
	g.t.Helper()
	r, err := http.NewRequest(method, g.base+path, body)
	require.NoError(g.t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(g.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(g.t, err)
	return res, string(b)
}

func (g *gateway) refused(res *http.Response, body string, status int, code string) {
	g.t.Helper()
	require.Equal(g.t, status, res.StatusCode, body)
	var b errorBody
	require.NoError(g.t, json.Unmarshal([]byte(body), &b), body)
	require.Equal(g.t, code, b.Code)
	require.Equal(g.t, status, b.Data.Status)
	require.Equal(g.t, res.Header.Get("X-Request-Id"), b.Data.RequestID)
	require.NotEmpty(g.t, b.Data.RequestID)
}

// service answers with what it got, and as it is told to.
func service(t testing.TB, name string) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/contacts/{id}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"service": name, "headers": r.Header, "uri": r.RequestURI, "host": r.Host})
	})
	mux.HandleFunc("GET /v1/contacts", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `"`+strings.Repeat("a long list ", 500)+`"`)
	})
	mux.HandleFunc("POST /v1/contacts", func(w http.ResponseWriter, r *http.Request) {
		n, _ := io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		fmt.Fprintf(w, "the service's own 413 after %d", n)
	})
	mux.HandleFunc("GET /v1/exports/contacts.csv", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv")
		_, _ = io.WriteString(w, "first\n")
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-time.After(5 * time.Second):
		}
		_, _ = io.WriteString(w, "last\n")
	})
	mux.HandleFunc("GET /v1/contacts/down", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = io.WriteString(w, "the service's own 503")
	})
	mux.HandleFunc("POST /v1/booking/book", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusCreated) })
	mux.HandleFunc("GET /manage", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<p>manage") })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func houseAt(t testing.TB, g *gateway) (contacts, booking *httptest.Server) {
	contacts, booking = service(t, "contacts"), service(t, "booking")
	g.publish(manifest("contacts", contacts.URL, "GET /contacts", "POST /contacts", "GET /contacts/{id}", "GET /exports/contacts.csv stream", "GET /contacts/down"))
	g.publish(manifest("booking", booking.URL, "POST /booking/book public app=booking", "page /manage app=booking"))
	return contacts, booking
}

func TestTraefikServesWhatTheServicesPublish(t *testing.T) {
	g := startGateway(t, nil)
	contacts, booking := houseAt(t, g)

	t.Run("a request reaches its service unchanged", func(t *testing.T) {
		res, body := g.do("GET", "/v1/contacts/a%2Fb%20c?x=1&y=%2F", nil, "Host", "ignored")
		require.Equal(t, 200, res.StatusCode, body)
		require.Contains(t, body, `"uri":"/v1/contacts/a%2Fb%20c?x=1\u0026y=%2F"`)
		require.Contains(t, body, `"service":"contacts"`)
	})

	t.Run("the forwarded address is the peer, whatever the visitor claims", func(t *testing.T) {
		_, body := g.do("GET", "/v1/contacts/1", nil, "X-Forwarded-For", "1.2.3.4", "X-Real-Ip", "5.6.7.8", "X-Forwarded-Host", "evil",
			"X-Forwarded-Proto", "https", "Connection", "X-Forwarded-For, X-Real-Ip")
		var got struct {
			Headers http.Header `json:"headers"`
		}
		require.NoError(t, json.Unmarshal([]byte(body), &got))
		chain := strings.Split(strings.Join(got.Headers["X-Forwarded-For"], ", "), ", ")
		require.Equal(t, []string{"127.0.0.1"}, chain)
		require.Equal(t, "127.0.0.1", got.Headers.Get("X-Real-Ip"))
		require.Equal(t, "http", got.Headers.Get("X-Forwarded-Proto"))
		require.Empty(t, got.Headers.Get("X-Forwarded-Host"))
	})

	t.Run("answers carry security headers", func(t *testing.T) {
		res, _ := g.do("GET", "/v1/contacts/1", nil)
		require.Equal(t, "nosniff", res.Header.Get("X-Content-Type-Options"))
		require.Equal(t, "DENY", res.Header.Get("X-Frame-Options"))
		require.Empty(t, res.Header.Get("Strict-Transport-Security"))
		require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
	})

	t.Run("long answers are compressed", func(t *testing.T) {
		res, body := g.do("GET", "/v1/contacts", nil, "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", res.Header.Get("Content-Encoding"))
		z, err := gzip.NewReader(strings.NewReader(body))
		require.NoError(t, err)
		plain, err := io.ReadAll(z)
		require.NoError(t, err)
		require.Len(t, plain, 6002)
	})

	t.Run("a stream arrives as it is written", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, "GET", g.base+"/v1/exports/contacts.csv", nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer res.Body.Close()
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "first\n", line)
	})

	t.Run("other origins may use public routes only", func(t *testing.T) {
		preflight := []string{"Origin", "https://a.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "content-type"}
		res, _ := g.do("OPTIONS", "/v1/booking/book", nil, preflight...)
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, res.Header.Get("Access-Control-Allow-Methods"), "POST")
		require.Contains(t, res.Header.Get("Access-Control-Allow-Headers"), "Idempotency-Key")
		require.Empty(t, res.Header.Get("Access-Control-Allow-Credentials"))

		res, _ = g.do("POST", "/v1/booking/book", strings.NewReader("{}"), "Origin", "https://a.example")
		require.Equal(t, 201, res.StatusCode)
		require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"))
		require.Contains(t, res.Header.Get("Access-Control-Expose-Headers"), "Retry-After")

		res, _ = g.do("OPTIONS", "/v1/contacts", nil, preflight...)
		require.Empty(t, res.Header.Get("Access-Control-Allow-Origin"))
	})

	t.Run("unknown paths are no route", func(t *testing.T) {
		for _, path := range []string{"/", "/v1", "/v1/", "/v1/nothing", "/v1/contacts/1/2", "/unavailable", "/too-large", "/unknown/v1/x", "/_gateway/0"} {
			res, body := g.do("GET", path, nil)
			g.refused(res, body, 404, "svc_no_route")
		}
		res, body := g.do("GET", "/nowhere", nil, "Accept", "text/html")
		require.Equal(t, 404, res.StatusCode)
		require.Contains(t, body, "<h1>")
	})

	t.Run("what a service says stays as it is", func(t *testing.T) {
		res, body := g.do("GET", "/v1/contacts/down", nil)
		require.Equal(t, 503, res.StatusCode)
		require.Equal(t, "the service's own 503", body)
		require.Equal(t, "9", res.Header.Get("Retry-After"))
		res, body = g.do("POST", "/v1/contacts", bytes.NewReader(make([]byte, 33<<20)))
		require.Equal(t, 413, res.StatusCode)
		require.Equal(t, fmt.Sprintf("the service's own 413 after %d", 33<<20), body)
		res, _ = g.do("PUT", "/v1/contacts/1", nil)
		require.Equal(t, 405, res.StatusCode)
	})

	t.Run("a body that is far too large is refused", func(*testing.T) {
		res, body := g.do("POST", "/v1/contacts", bytes.NewReader(make([]byte, 36<<20)))
		g.refused(res, body, 413, "svc_too_large")
	})

	t.Run("an app that is off has no routes, and is back with them", func(t *testing.T) {
		g.switchApp(1, "booking", false)
		res, body := g.do("POST", "/v1/booking/book", strings.NewReader("{}"), "Origin", "https://a.example")
		g.refused(res, body, 404, "svc_no_route")
		require.Equal(t, "*", res.Header.Get("Access-Control-Allow-Origin"), "a widget can read why")
		res, _ = g.do("GET", "/manage", nil)
		require.Equal(t, 404, res.StatusCode)
		res, _ = g.do("GET", "/v1/contacts/1", nil)
		require.Equal(t, 200, res.StatusCode)
		g.switchApp(2, "booking", true)
		res, _ = g.do("POST", "/v1/booking/book", strings.NewReader("{}"))
		require.Equal(t, 201, res.StatusCode)
	})

	t.Run("no stale answer follows the announcement, and other apps see no error", func(t *testing.T) {
		stop, failures := make(chan struct{}), make(chan int, 1)
		go func() {
			bad := 0
			for {
				select {
				case <-stop:
					failures <- bad
					return
				default:
					if status(g.base+"/v1/contacts/1") != 200 {
						bad++
					}
				}
			}
		}()
		var slowest time.Duration
		for version := int64(3); version < 43; version++ {
			on := version%2 == 0
			slowest = max(slowest, g.switchApp(version, "booking", on))
			res, _ := g.do("POST", "/v1/booking/book", strings.NewReader("{}"))
			if on {
				require.Equal(t, 201, res.StatusCode)
			} else {
				require.Equal(t, 404, res.StatusCode)
			}
		}
		close(stop)
		require.Zero(t, <-failures)
		t.Logf("the slowest of 40 switches took %s", slowest)
	})

	t.Run("a service that is down is unavailable, in our shape", func(t *testing.T) {
		contacts.CloseClientConnections()
		contacts.Close()
		res, body := g.do("GET", "/v1/contacts/1", nil)
		g.refused(res, body, 503, "svc_unavailable")
		require.NotEmpty(t, res.Header.Get("Retry-After"))
		booking.CloseClientConnections()
		booking.Close()
		res, body = g.do("GET", "/manage", nil, "Accept", "text/html")
		require.Equal(t, 503, res.StatusCode)
		require.Contains(t, body, "<h1>")
	})

	t.Run("the access log has neither queries nor credentials", func(t *testing.T) {
		g.do("GET", "/v1/contacts/1?search=hidden-query", nil, "Authorization", "Basic aGlkZGVuOmhpZGRlbg==", "Cookie", "svc_session=hidden-cookie", "X-Request-Id", "find-me-again")
		var log string
		require.Eventually(t, func() bool {
			b, err := os.ReadFile(g.log)
			require.NoError(t, err)
			log = string(b)
			return strings.Contains(log, "find-me-again")
		}, 5*time.Second, 20*time.Millisecond)
		for _, secret := range []string{"hidden", "aGlkZGVu", "/v1/contacts/1"} {
			require.NotContains(t, log, secret)
		}
		// What deploy/SECURITY.md says of it, and what Traefik adds to each line.
		of := []string{"ClientAddr", "ClientHost", "request_User-Agent", "request_X-Request-Id", "RequestMethod", "RequestHost", "RequestProtocol", "RequestContentSize", "RouterName",
			"ServiceName", "ServiceAddr", "OriginStatus", "OriginDuration", "DownstreamStatus", "DownstreamContentSize", "Duration", "Overhead", "StartUTC", "TraceId",
			"SpanId", "downstream_X-Request-Id", "origin_X-Request-Id", "entryPointName", "level", "msg", "time"}
		for line := range strings.Lines(log) {
			var held map[string]any
			if require.NoError(t, json.Unmarshal([]byte(line), &held), line); held["RequestMethod"] != nil {
				require.Subset(t, of, slices.Collect(maps.Keys(held)), line)
			}
		}
		require.NotContains(t, log, `"level":"error"`)
	})

	t.Run("the page shows it all", func(t *testing.T) {
		res, err := http.Get("http://" + g.settings.AdminListen + "/routes")
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		for _, part := range []string{"In force", "contacts-rest", g.hash(), "booking", "gateway"} {
			require.Contains(t, string(b), part)
		}
	})
}

func TestOnlyReplicasThatAreReadyGetRequests(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil)
	type replica struct {
		*httptest.Server
		ready, alive atomic.Bool
		got          atomic.Int64
	}
	start := func() *replica {
		r := &replica{}
		r.ready.Store(true)
		r.alive.Store(true)
		r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			switch req.URL.Path {
			case readyPath, livePath:
				if !r.alive.Load() || req.URL.Path == readyPath && !r.ready.Load() {
					w.WriteHeader(http.StatusServiceUnavailable)
				}
			default:
				r.got.Add(1)
			}
		}))
		// A request on a kept connection that ends at that moment may have been read: it is refused instead of tried again.
		r.Config.SetKeepAlivesEnabled(false)
		t.Cleanup(r.Close)
		return r
	}
	one, two := start(), start()
	g.publish(manifest("contacts", one.URL+","+two.URL, "GET /contacts", "POST /contacts"))
	calls := func(n int, status int) (answers int) {
		for range n {
			if res, _ := g.do("POST", "/v1/contacts", strings.NewReader("a body")); res.StatusCode == status {
				answers++
			}
		}
		return answers
	}
	require.Equal(t, 20, calls(20, 200))
	require.Positive(t, one.got.Load())
	require.Positive(t, two.got.Load())

	one.ready.Store(false)
	require.Eventually(t, func() bool { before := one.got.Load(); return calls(10, 200) == 10 && one.got.Load() == before }, 5*time.Second, 50*time.Millisecond)
	// The one that stops says so before the gateway sees that the one that has begun is ready.
	two.ready.Store(false)
	require.Eventually(t, func() bool {
		before := one.got.Load()
		require.Equal(t, 10, calls(10, 200), "while none is ready those answer that serve")
		return one.got.Load() > before
	}, 5*time.Second, 50*time.Millisecond)
	one.alive.Store(false)
	two.alive.Store(false)
	require.Eventually(t, func() bool { return calls(1, 503) == 1 }, 5*time.Second, 50*time.Millisecond)
	res, body := g.do("GET", "/v1/contacts?url=/elsewhere", nil, "Accept", "text/html")
	g.refused(res, body, 503, "svc_unavailable")
	require.Equal(t, "2", res.Header.Get("Retry-After"))
	two.alive.Store(true)
	two.ready.Store(true)
	require.Eventually(t, func() bool { return calls(1, 200) == 1 }, 5*time.Second, 50*time.Millisecond)

	one.alive.Store(true)
	one.ready.Store(true)
	require.Eventually(t, func() bool { before := one.got.Load(); calls(2, 200); return one.got.Load() > before }, 5*time.Second, 50*time.Millisecond)
	one.Close()
	require.Equal(t, 20, calls(20, 200), "a request that reaches nobody goes to the other replica, before anybody was asked")
}

func TestWhatMayBeRepeatedGoesToAnotherReplicaWhenItsOwnDies(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil)
	var died atomic.Int64
	// Reads a request whole and ends without a word, as a process does that is killed.
	dies := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == readyPath || r.URL.Path == livePath {
			return
		}
		died.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}))
	t.Cleanup(dies.Close)
	long := strings.Repeat("a long answer ", 1<<17)
	lives := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Path", r.RequestURI)
		if r.URL.Path == "/v1/contacts" && r.Method == http.MethodGet {
			_, _ = io.WriteString(w, long)
		}
		if r.Method == http.MethodPost {
			_, _ = io.Copy(w, r.Body)
		}
	}))
	t.Cleanup(lives.Close)
	g.publish(manifest("contacts", dies.URL+","+lives.URL, "GET /contacts", "POST /contacts replays", "GET /contacts/{id}", "POST /marketing/confirm public"))

	for range 10 {
		res, body := g.do("GET", "/v1/contacts?x=a%2Fb", nil)
		require.Equal(t, 200, res.StatusCode, body)
		require.Equal(t, "/v1/contacts?x=a%2Fb", res.Header.Get("X-Path"))
		require.Len(t, body, len(long))
		res, _ = g.do("HEAD", "/v1/contacts/a%2Fb", nil)
		require.Equal(t, 200, res.StatusCode)
		require.Equal(t, "/v1/contacts/a%2Fb", res.Header.Get("X-Path"))
	}
	require.Positive(t, died.Load())

	died.Store(0)
	sent := strings.Repeat("a long body ", 1<<17)
	for range 10 {
		res, body := g.do("POST", "/v1/contacts", strings.NewReader(sent), "Idempotency-Key", "k")
		require.Equal(t, 200, res.StatusCode, body)
		require.True(t, body == sent, "the other replica gets the whole body")
	}
	require.Positive(t, died.Load())

	for what, call := range map[string]func() (*http.Response, string){
		"no key": func() (*http.Response, string) { return g.do("POST", "/v1/contacts", strings.NewReader("a body")) },
		"an empty key": func() (*http.Response, string) {
			return g.do("POST", "/v1/contacts", strings.NewReader("a body"), "Idempotency-Key", "")
		},
		"a key, but no length": func() (*http.Response, string) {
			return g.do("POST", "/v1/contacts", io.MultiReader(strings.NewReader("a body")), "Idempotency-Key", "k")
		},
		"a key that is unread": func() (*http.Response, string) {
			return g.do("POST", "/v1/marketing/confirm", strings.NewReader("a body"), "Idempotency-Key", "k")
		},
	} {
		died.Store(0)
		refused := 0
		for range 10 {
			if res, body := call(); res.StatusCode != 200 {
				g.refused(res, body, 503, "svc_unavailable")
				refused++
			}
		}
		require.Positive(t, refused, what)
		require.EqualValues(t, refused, died.Load(), "%s: what may have changed something is never repeated", what)
	}
}

func TestTraefikSendsTraces(t *testing.T) {
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
	got := make(chan string, 100)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var b []byte
		if z, err := gzip.NewReader(r.Body); err == nil {
			b, _ = io.ReadAll(z)
		}
		select {
		case got <- r.URL.Path + " " + string(b):
		default:
		}
	}))
	defer collector.Close()
	g := startGateway(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.URL})
	houseAt(t, g)
	g.do("GET", "/v1/contacts/1?search=hidden-query", nil)
	for {
		select {
		case spans := <-got:
			require.True(t, strings.HasPrefix(spans, "/v1/traces "))
			require.NotContains(t, spans, "hidden-query")
			if strings.Contains(spans, "/v1/contacts/1") {
				return
			}
		case <-time.After(10 * time.Second):
			t.Fatal("no span of the request arrived")
		}
	}
}

func TestTraefikComesBackWithTheNewestConfiguration(t *testing.T) {
	g := startGateway(t, nil)
	houseAt(t, g)
	g.stopTraefik()
	value, err := protobuf.Marshal(&proto.Envelope{Id: uuid.NewString(), Version: 5, Data: []byte(`{"apps":[{"id":"booking"}]}`)})
	require.NoError(t, err)
	g.send("settings", db.Message{Topic: proto.AppsTopic, Key: "apps", Value: value})
	require.Eventually(t, func() bool { return status("http://"+g.settings.AdminListen+"/readyz") == 503 }, 10*time.Second, 10*time.Millisecond)
	g.startTraefik()
	require.Eventually(t, func() bool { return status("http://"+g.settings.AdminListen+"/readyz") == 200 }, 30*time.Second, 10*time.Millisecond)
	require.Equal(t, 404, status(g.base+"/manage"))
	require.Equal(t, 200, status(g.base+"/v1/contacts/1"))
}
