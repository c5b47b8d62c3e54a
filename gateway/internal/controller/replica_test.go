//go:build traefik

package controller

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

// twice is a service with two replicas that are ready.
func twice(t *testing.T, h http.HandlerFunc) (baseURLs string) {
	var urls []string
	for range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != readyPath {
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
	g.publish(manifest("settings", twice(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}), "GET /live stream", "page /mcp stream"))
	for _, path := range []string{"/v1/live", "/mcp"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, g.base+path, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(r)
		require.NoError(t, err, path)
		line, err := bufio.NewReader(res.Body).ReadString('\n')
		require.NoError(t, err, path)
		require.Equal(t, "first\n", line)
		cancel()
		_ = res.Body.Close()
	}
}

// endless is a body without a length. sent counts what was taken of it.
type endless struct{ sent atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.sent.Add(int64(len(p)))
	return len(p), nil
}

func TestABodyWithoutALengthFillsNoDisk(t *testing.T) {
	t.Parallel()
	g := startGateway(t, nil)
	var reached atomic.Int64
	g.publish(manifest("forms", twice(t, func(_ http.ResponseWriter, r *http.Request) {
		reached.Add(1)
		_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20)) // as a service does
	}), "POST /forms/{id}/submit public replays", "page /f/"))
	for name, call := range map[string]struct{ method, path string }{"a page": {"GET", "/f/1"}, "a call with a key": {"POST", "/v1/forms/1/submit"}} {
		body := &endless{}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, call.method, g.base+call.path, body)
		require.NoError(t, err)
		r.Header.Set("Idempotency-Key", "k")
		res, err := http.DefaultClient.Do(r)
		if err == nil { // else the connection was cut before the answer could be read
			require.Equal(t, http.StatusRequestEntityTooLarge, res.StatusCode, name)
			_ = res.Body.Close()
		}
		require.Less(t, body.sent.Load(), int64(2*proto.MostBody), name)
	}
	require.Zero(t, reached.Load())
}
