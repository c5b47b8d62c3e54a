// Package webhookstest is what tests of several rooms share: somebody else's receiver, and the calls that most of them make.
package webhookstest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// Receiver is somebody else's server. It keeps what it gets.
type Receiver struct {
	*httptest.Server
	mu     sync.Mutex
	got    []Request
	answer func(n int, r Request) (status int, body string)
}

// Request is one that a receiver got.
type Request struct {
	Header http.Header
	Body   string
}

// sent is what the body of a request says.
type sent struct {
	Event      string         `json:"event"`
	ID         string         `json:"id"`
	OccurredAt string         `json:"occurred_at"`
	Data       map[string]any `json:"data"`
}

// JSON is the body.
func (r Request) JSON() (v sent) {
	if err := json.Unmarshal([]byte(r.Body), &v); err != nil {
		panic(err)
	}
	return v
}

// Listen starts a receiver, which answers with 200 until it is told another answer.
func Listen(t *testing.T) *Receiver {
	t.Helper()
	r := &Receiver{answer: func(int, Request) (int, string) { return 200, "thanks" }}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		r.mu.Lock()
		got := Request{req.Header, string(body)}
		r.got = append(r.got, got)
		n, answer := len(r.got), r.answer
		r.mu.Unlock()
		status, text := answer(n, got)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}))
	t.Cleanup(r.Close)
	return r
}

// All is what has come so far.
func (r *Receiver) All() []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// Answers has the receiver answer its n-th request by f.
func (r *Receiver) Answers(f func(n int, r Request) (int, string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = f
}

// Says has the receiver answer with a status.
func (r *Receiver) Says(status int) {
	r.Answers(func(int, Request) (int, string) { return status, http.StatusText(status) })
}

// crowd counts the requests in flight. It holds the first ones until so many as are waited for are there, so that their number
// does not depend on the speed of the machine.
type crowd struct {
	Most  int // at a time
	mu    sync.Mutex
	now   int
	waits int
	there chan struct{}
}

// Gather waits for n requests at a time.
func Gather(n int) *crowd { return &crowd{waits: n, there: make(chan struct{})} }

// Pass is called by each request.
func (c *crowd) Pass(t *testing.T) {
	c.mu.Lock()
	c.now++
	if c.now > c.Most {
		c.Most = c.now
		if c.Most == c.waits {
			close(c.there)
		}
	}
	c.mu.Unlock()
	select {
	case <-c.there:
	case <-t.Context().Done():
	}
	time.Sleep(5 * time.Millisecond)
	c.mu.Lock()
	c.now--
	c.mu.Unlock()
}
