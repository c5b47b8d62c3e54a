package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"sync"
)

// calls are those that run in this process and whose client has a session, so that a notification can name them.
type calls struct {
	mu      sync.Mutex
	running map[string]*context.CancelFunc
}

// begin returns the context of a call, which ends with that of its request or by a notification, and what has to be called at its end.
func (c *calls) begin(r *http.Request, id json.RawMessage) (context.Context, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	session := r.Header.Get(sessionHeader)
	if session == "" {
		return ctx, cancel
	}
	key := nameOf(session, id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.running == nil {
		c.running = map[string]*context.CancelFunc{}
	}
	c.running[key] = &cancel
	return ctx, func() {
		cancel()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.running[key] == &cancel { // else the client has used the id again
			delete(c.running, key)
		}
	}
}

// end ends a call, and reports whether it runs here.
func (c *calls) end(call string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel := c.running[call]
	if cancel != nil {
		(*cancel)()
	}
	return cancel != nil
}

// nameOf names a call of a session, for this process and the others. It tells nothing of the session.
func nameOf(session string, id json.RawMessage) string {
	sum := sha256.Sum256([]byte(session + " " + string(id)))
	return hex.EncodeToString(sum[:])
}

// Cancel ends a call, if it runs in this process.
func (a *Adapter) Cancel(call string) { a.calls.end(call) }

// cancelled ends the call that a notification says is cancelled, whichever replica it runs in.
func (a *Adapter) cancelled(r *http.Request, m message) error {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	session := r.Header.Get(sessionHeader)
	if m.Method != "notifications/cancelled" || session == "" || json.Unmarshal(m.Params, &params) != nil || params.RequestID == nil {
		return nil
	}
	call := nameOf(session, params.RequestID)
	if a.calls.end(call) || a.Elsewhere == nil {
		return nil
	}
	return a.Elsewhere(r.Context(), call)
}
