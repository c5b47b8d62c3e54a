package mcp

import (
	"context"
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
	key := session + " " + string(id)
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

// cancelled ends the call that a notification says is cancelled.
func (c *calls) cancelled(r *http.Request, m message) {
	var params struct {
		RequestID json.RawMessage `json:"requestId"`
	}
	if m.Method != "notifications/cancelled" || json.Unmarshal(m.Params, &params) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.running[r.Header.Get(sessionHeader)+" "+string(params.RequestID)]; cancel != nil {
		(*cancel)()
	}
}
