package app

import (
	"context"
	"encoding/json"
	"net/http"
	"sync/atomic"
	"time"

	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// patience is how long a request waits for a process that has just begun. It is longer than the gateway needs to see that a
// process which was killed and is back is not ready: a refused read then goes to another replica.
const patience = time.Second

// door is the handler of the API. Until the service is open it refuses every request with 503 svc_unavailable, at once after the
// first second of the process, so that no caller hangs while the service waits for its database or brokers.
type door struct {
	inside atomic.Pointer[http.Handler]
	opened chan struct{}
	// early is over once a request waits no longer.
	early context.Context
	// waitsFor is what GET /readyz answers: the gateway chooses among the replicas that wait for nothing.
	waitsFor func() []waiting
	leaving  atomic.Bool
}

func newDoor(waitsFor func() []waiting) *door {
	early, over := context.WithCancel(context.Background())
	time.AfterFunc(patience, over)
	return &door{opened: make(chan struct{}), early: early, waitsFor: waitsFor}
}

func (d *door) open(h http.Handler) {
	d.inside.Store(&h)
	close(d.opened)
}

func (d *door) isOpen() bool { return d.inside.Load() != nil }

// leave begins to empty the connections, and returns after so long; requests are served as before. A server that closes an idle
// connection at the moment in which the gateway writes to it loses that request, and the gateway must not repeat it: it may have
// arrived. So each answer ends its connection first, and the gateway sees that the process is not ready any more.
func (d *door) leave(long time.Duration) {
	d.leaving.Store(true)
	time.Sleep(long)
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if d.leaving.Load() {
		w.Header().Set("Connection", "close")
	}
	switch r.URL.Path {
	case "/readyz":
		d.answerReady(w)
		return
	case "/livez":
		return
	}
	select {
	case <-d.opened:
	case <-d.early.Done():
	case <-r.Context().Done():
	}
	if h := d.inside.Load(); h != nil {
		(*h).ServeHTTP(w, r)
		return
	}
	op.WriteFault(r.Context(), fault.Unavailable(), w)
}

// waiting is a condition of readiness that does not hold, and the reason, such as the last error of a connection.
type waiting struct {
	For string `json:"for"`
	Why string `json:"why"`
}

// answerReady answers 200, or 503 with what the service waits for and why:
// {"ready": false, "waits_for": [{"for": "database", "why": "connection refused"}]}.
func (d *door) answerReady(w http.ResponseWriter) {
	waits := d.waitsFor()
	w.Header().Set("Content-Type", "application/json")
	if len(waits) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(struct {
		Ready    bool      `json:"ready"`
		WaitsFor []waiting `json:"waits_for,omitempty"`
	}{len(waits) == 0, waits})
}

func (d *door) server() *http.Server {
	return &http.Server{Handler: d, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: proto.BodyWithin,
		// From the header on; a download has a deadline for each write instead.
		WriteTimeout: proto.BodyWithin + time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
}
