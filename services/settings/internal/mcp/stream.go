package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
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
// those of the call before, and decided at first and each time an approval has ended. It returns when ctx ends, the process stops or the credential is no
// longer good. Watching is no use of the credential.
func (a *Adapter) watch(ctx context.Context, c caller, seen string, change, decided func(caller)) {
	for look := true; ; {
		changed, ended := a.Changed(), a.Decided()
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
		if look {
			decided(c)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.Stopping:
			return
		case <-changed:
		case <-ended:
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(settled):
		}
		select {
		case <-ended:
			look = true
		default:
			look = false
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

// keep keeps the tools of a server of the library up to date, and notifies its subscriber of changed tools and of approvals that have ended. It ends the
// subscription when watch does. The library knows the subscription when begun is closed.
func (a *Adapter) keep(ctx context.Context, end func(), c caller, seen string, s *sdk.Server, follows []uuid.UUID, begun <-chan struct{}) {
	defer end()
	told, offered := map[uuid.UUID]bool{}, names(a.toolsOf(c, ""))
	select {
	case <-ctx.Done():
		return
	case <-begun:
	}
	a.watch(ctx, c, seen, func(now caller) {
		s.RemoveTools(offered...)
		tools := a.toolsOf(now, "")
		for _, t := range tools {
			s.AddTool(t.Tool, t.handle)
		}
		offered = names(tools)
	}, func(now caller) {
		a.ended(ctx, now, "", follows, told, func(uri string) { _ = s.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) }) // its error is always nil
	})
}

// listen serves the stream of a session: server-sent events, each a notification that the tools have changed, or that an approval has ended which the session
// has subscribed to.
func (a *Adapter) listen(w http.ResponseWriter, r *http.Request, c caller) error {
	if !strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		return fault.New(http.StatusNotAcceptable, "svc_not_acceptable", "This answers with text/event-stream.")
	}
	session := r.Header.Get(sessionHeader)
	if session == "" {
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
	notify := func(method, params string) {
		say(fmt.Sprintf("event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\"%s}\n\n", method, params))
	}
	told := map[uuid.UUID]bool{}
	a.watch(ctx, c, a.fingerprint(c), func(caller) { notify("tools/list_changed", "") }, func(now caller) {
		a.ended(ctx, now, session, nil, told, func(uri string) { notify("resources/updated", `,"params":{"uri":"`+uri+`"}`) })
	})
	cancel()
	return nil
}
