package panel

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// adminPorts are a panel over admin ports, each of an instance of the service in front of it; nil for one that is gone. The first one of
// a service has the newest sign.
func adminPorts(t *testing.T, services []string, handlers ...http.HandlerFunc) *Panel {
	t.Helper()
	var instances []Instance
	known := map[string]bool{}
	var names []string
	for i, h := range handlers {
		s := httptest.NewServer(h)
		t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
		if h == nil {
			s.Close()
		}
		instances = append(instances, Instance{Name: s.URL, Service: services[i], AdminURL: s.URL, Seen: noon.Add(-time.Duration(i) * time.Second)})
		if !known[services[i]] {
			names = append(names, services[i])
		}
		known[services[i]] = true
	}
	return New(Source{Services: names, Gateway: func() Gateway { return Gateway{} }, Instances: func() []Instance { return slices.Clone(instances) }})
}

func (p *Panel) answer(method, path string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	p.Handler().ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w
}

func hangs(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

const oneParked = `{"items":[{"id":7,"topic":"contacts.contact","offset":3,"key":"k","error":"it is bad","parked_at":"2026-06-01T12:00:00Z"}]}`

func TestThePageOfParkedMessagesComesWithinItsTimeThoughInstancesHang(t *testing.T) {
	t.Parallel()
	listed := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(oneParked)) }
	p := adminPorts(t, []string{"booking", "contacts", "contacts", "forms"}, hangs, hangs, listed, hangs)
	began := time.Now()
	body := p.answer("GET", "/parked-messages").Body.String()
	require.Less(t, time.Since(began), 5*time.Second, "the page asks for itself anew after that")
	require.Contains(t, body, "Replay 7…", "the other replica of contacts answers")
	require.Contains(t, body, "no instance of the service answers", "booking and forms")
}

func TestASlowReplayIsToldAsSuchAndAskedOfNobodyElse(t *testing.T) {
	t.Parallel()
	var replays atomic.Int64
	slow := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			replays.Add(1)
			<-r.Context().Done()
		}
		_, _ = w.Write([]byte(oneParked))
	}
	p := adminPorts(t, []string{"contacts", "contacts"}, slow, slow)
	p.replayLasts = 100 * time.Millisecond
	w := p.answer("POST", "/parked-messages/contacts/7/replay")
	require.EqualValues(t, 1, replays.Load())
	require.Equal(t, http.StatusGatewayTimeout, w.Code)
	require.Contains(t, w.Body.String(), "may have been handled")
	require.NotContains(t, w.Body.String(), "It stays parked")
}

func TestAReplayThatReachedNobodyGoesToTheNextInstance(t *testing.T) {
	t.Parallel()
	replayed := func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write([]byte(oneParked))
	}
	p := adminPorts(t, []string{"contacts", "contacts"}, nil, replayed)
	w := p.answer("POST", "/parked-messages/contacts/7/replay")
	require.Equal(t, http.StatusSeeOther, w.Code)
}
