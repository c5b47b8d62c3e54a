//go:build traefik

package controller

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/proto"
)

// bigHouse has as many routes as the product: per service thirty on records, ten public, thirty abilities.
func bigHouse(url string) []*proto.Manifest {
	var all []*proto.Manifest
	for _, service := range []string{"booking", "contacts", "forms", "settings", "webhooks"} {
		var lines []string
		for i := range 10 {
			noun := fmt.Sprintf("/%s-noun-%d", service, i)
			lines = append(lines, "GET "+noun, "POST "+noun, "GET "+noun+"/{id}", "PATCH "+noun+"/{id}", "POST "+noun+"/{id}/act",
				fmt.Sprintf("POST /public/%s/act-%d public app=%s", service, i, service))
		}
		for i := range 30 {
			lines = append(lines, fmt.Sprintf("GET /abilities/svc/%s-ability-number-%d", service, i), fmt.Sprintf("POST /abilities/svc/%s-ability-number-%d/run", service, i))
		}
		all = append(all, manifest(service, url, lines...))
	}
	return all
}

// BenchmarkGateway compares requests through the gateway with direct ones, for several kinds of path.
func BenchmarkGateway(b *testing.B) {
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"id":"0199c0de-0000-7000-8000-000000000000","name":"Jan Peeters"}`)
	}))
	defer direct.Close()
	g := startGateway(b, nil)
	for _, m := range bigHouse(direct.URL) {
		g.publish(m)
	}
	for _, path := range []string{"/v1/booking-noun-0", "/v1/webhooks-noun-9/0199c0de-0000-7000-8000-000000000000/act", "/v1/public/forms/act-3", "/v1/abilities/svc/settings-ability-number-29/run", "/v1/unknown"} {
		for name, base := range map[string]string{"direct": direct.URL, "gateway": g.base} {
			b.Run(name+path, func(b *testing.B) {
				before := g.cpu()
				client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
				b.RunParallel(func(pb *testing.PB) {
					for pb.Next() {
						res, err := client.Get(base + path)
						require.NoError(b, err)
						_, _ = io.Copy(io.Discard, res.Body)
						res.Body.Close()
					}
				})
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "req/s")
				b.ReportMetric(float64((g.cpu()-before).Microseconds())/float64(b.N), "traefik-µs/op")
			})
		}
	}
}

// cpu is the processor time that Traefik has used.
func (g *gateway) cpu() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", g.traefik.Process.Pid))
	require.NoError(g.t, err)
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, err := strconv.Atoi(f[11])
	require.NoError(g.t, err)
	system, err := strconv.Atoi(f[12])
	require.NoError(g.t, err)
	return time.Duration(user+system) * 10 * time.Millisecond
}

func BenchmarkConfig(b *testing.B) {
	ms := bigHouse("http://127.0.0.1:1")
	for b.Loop() {
		Config(ms, Apps{}, testOptions)
	}
}
