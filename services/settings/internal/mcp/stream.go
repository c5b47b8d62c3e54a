package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"frontdesk/libs/fault"
)

const (
	// streamsOfOne is how many streams a credential may have open in a process, streamsOfAll how many there may be.
	streamsOfOne, streamsOfAll = 8, 512
	// settled is for how long no further change must come before a stream looks at the tools.
	settled = 100 * time.Millisecond
	// beat is how often a stream sends a line, so that what lies between does not close it.
	beat = 20 * time.Second
)

// watch calls change each time the abilities that are open to a caller differ from those of the fingerprint seen, and then from
// those of the call before. It returns when ctx ends, the process stops or the credential is no longer good. Watching is no use of the
// credential.
func (a *Adapter) watch(ctx context.Context, c caller, seen string, change func(caller)) {
	for {
		changed := a.Changed()
		// What changed before the channel was made is seen here.
		now, err := a.Auth.Again(c.actor)
		if err != nil {
			return
		}
		c.actor = now
		if open := a.fingerprint(c); open != seen {
			seen = open
			change(c)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.Stopping:
			return
		case <-changed:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settled):
		}
	}
}

// fingerprint is another text when other abilities are open to the caller.
func (a *Adapter) fingerprint(c caller) string {
	var b strings.Builder
	for _, x := range a.visible(c) {
		b.WriteString(x.GetName() + "\n")
	}
	return b.String()
}

// keep keeps the tools of a server of the library up to date, which notifies its subscriber, and ends the subscription when watch
// does.
func (a *Adapter) keep(ctx context.Context, end func(), c caller, seen string, s *sdk.Server) {
	defer end()
	offered := names(a.toolsOf(c))
	a.watch(ctx, c, seen, func(now caller) {
		s.RemoveTools(offered...)
		tools := a.toolsOf(now)
		for _, t := range tools {
			s.AddTool(t.Tool, t.handle)
		}
		offered = names(tools)
	})
}

// listen serves the stream of a session: server-sent events, each a notification that the tools have changed.
func (a *Adapter) listen(w http.ResponseWriter, r *http.Request, c caller) error {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return fault.New(http.StatusNotAcceptable, "svc_not_acceptable", "This answers with text/event-stream.")
	}
	if r.Header.Get(sessionHeader) == "" {
		return notAllowed(w, "A stream belongs to a session.", http.MethodPost)
	}
	leave, err := a.streams.Enter(c.actor.Credential, true)
	if err != nil {
		return err
	}
	defer leave()
	unlimited(w)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	var mu sync.Mutex
	say := func(text string) {
		mu.Lock()
		defer mu.Unlock()
		control := http.NewResponseController(w)
		// A client that takes nothing must not hold the stream for good.
		_ = control.SetWriteDeadline(time.Now().Add(beat / 2))
		_, _ = io.WriteString(w, text)
		_ = control.Flush()
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	say(": open\n\n")
	var beating sync.WaitGroup
	defer beating.Wait()
	beating.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(beat):
				say(": \n\n")
			}
		}
	})
	a.watch(ctx, c, a.fingerprint(c), func(caller) {
		say(fmt.Sprintf("event: message\ndata: %s\n\n", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
	})
	cancel()
	return nil
}
