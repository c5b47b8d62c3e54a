//go:build traefik

package controller

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// replicasOf is a service with so many replicas that are ready.
func replicasOf(t *testing.T, n int, h http.HandlerFunc) (baseURLs string) {
	var urls []string
	for range n {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != readyPath && r.URL.Path != livePath {
				h(w, r)
			}
		}))
		t.Cleanup(s.Close)
		urls = append(urls, s.URL)
	}
	return strings.Join(urls, ",")
}

// What may be repeated at another replica is kept whole, which a stream must never be.
func TestAStreamArrivesAsItIsWrittenAlsoFromTwoReplicas(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil)
	g.publish(manifest("settings", replicasOf(t, 2, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), "GET /live stream", "page /mcp stream"))
	for _, path := range []string{"GET /v1/live", "GET /mcp", "POST /mcp"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		method, address, _ := strings.Cut(path, " ")
		var body io.Reader
		if method == http.MethodPost {
			body = strings.NewReader("{}")
		}
		r, err := http.NewRequestWithContext(ctx, method, g.base+address, body)
		require.NoError(t, err)
		if body != nil {
			r.Header.Set("Mcp-Method", "subscriptions/listen")
		}
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err, path)
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(t, err, path)
		require.Equal(t, "first\n", line)
		cancel()
		_ = res.Body.Close()
	}
}

// A service may answer as soon as it has the body, before Traefik has seen that there is no more of it. That happens in one of 500 beside busy
// processors, so the test makes many of them.
func TestTheAnswerToAWriteArrivesWhole(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil)
	answer := strings.Repeat("0123456789", 900)
	at := replicasOf(t, 1, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		_, _ = io.WriteString(w, answer)
	})
	g.publish(manifest("contacts", at, "POST /contacts"))
	g.publish(manifest("settings", at, "page /mcp stream"))
	var calls errgroup.Group
	for i := range 16 {
		path := []string{"/v1/contacts", "/mcp"}[i%2]
		calls.Go(func() error {
			conn, err := net.Dial("tcp", strings.TrimPrefix(g.base, "http://"))
			if err != nil {
				return err
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			for range 250 {
				// Headers and body come apart, as many clients send them.
				for _, part := range []string{"POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n", "{}"} {
					if _, err := io.WriteString(conn, part); err != nil {
						return err
					}
				}
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					return err
				}
				got, err := io.ReadAll(res.Body)
				if err == nil && string(got) != answer {
					err = errors.New("another answer")
				}
				if err != nil {
					return fmt.Errorf("%s: %d, %d of %d bytes: %w", path, res.StatusCode, len(got), len(answer), err)
				}
			}
			return nil
		})
	}
	require.NoError(t, calls.Wait())
}

// endless is a body without a length. sent counts what was taken of it.
type endless struct{ sent atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.sent.Add(int64(len(p)))
	return len(p), nil
}

// A body that says no length passes the rule for those that do, and a service with two replicas may get it from a copy on the gateway's disk.
func TestABodyWithoutALengthIsRefusedInOurShapeAndFillsNoDisk(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	for n := 1; n <= 2; n++ {
		var kept atomic.Int64
		g := startGateway(t, nil)
		g.publish(manifest("forms", replicasOf(t, n, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				kept.Add(1)
				return
			}
			if _, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit)); err != nil { // as a service does
				w.Header().Set("X-Request-Id", "the-service")
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				_, _ = w.Write(fault.TooLarge(limit).Body("the-service"))
			}
		}), "POST /forms/{id}/submit public replays", "POST /forms", "GET /forms", "GET /submissions/public public", "GET /abilities/svc/list-forms/run", "page /f/", "page /_ui/forms/"))
		for _, request := range []string{"POST /v1/forms/1/submit", "POST /v1/forms", "GET /v1/forms", "GET /v1/submissions/public", "GET /v1/abilities/svc/list-forms/run", "GET /f/1", "GET /_ui/forms/x.js"} {
			for name, most := range map[string]int64{"36 MB": 36_000_000, "endless": 1 << 40} {
				method, path, _ := strings.Cut(request, " ")
				body := &endless{}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				r, err := http.NewRequestWithContext(ctx, method, g.base+path, io.LimitReader(body, most))
				require.NoError(t, err)
				r.Header.Set("Idempotency-Key", "k")
				res, err := http.DefaultClient.Do(r)
				require.NoError(t, err, "%s %s %d", request, name, n)
				said, err := io.ReadAll(res.Body)
				require.NoError(t, err)
				_ = res.Body.Close()
				require.Less(t, body.sent.Load(), int64(2*proto.MostBody), "%s %s %d", request, name, n)
				if n == 1 && method == http.MethodGet {
					require.Equal(t, http.StatusOK, res.StatusCode, "nobody reads the body of such a request")
					continue
				}
				g.refused(res, string(said), http.StatusRequestEntityTooLarge, "svc_too_large")
				require.Equal(t, method == http.MethodPost, res.Header.Get("X-Request-Id") == "the-service", "the service says its own limit")
			}
		}
		if n == 2 {
			require.Zero(t, kept.Load(), "a body that is kept whole is refused before a service is asked")
		}
	}
}

// An answer may be too large as well. The service's own words pass where the gateway keeps no body, and of an ability its sentence says so.
func TestAServicesOwnRefusalOfItsSizeStaysAsItIs(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil)
	g.publish(manifest("forms", replicasOf(t, 2, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
		_, _ = w.Write(fault.AnswerTooLarge(4 << 20).Body("the-service"))
	}), "GET /abilities/svc/list-forms/run", "POST /forms replays"))
	for _, request := range []string{"GET /v1/abilities/svc/list-forms/run", "POST /v1/forms"} {
		method, path, _ := strings.Cut(request, " ")
		res, body := g.do(method, path, strings.NewReader(""), "Idempotency-Key", "k")
		require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode)
		require.Contains(t, body, "Ask for less at once", request)
	}
}
