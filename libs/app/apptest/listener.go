package apptest

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Listener reads a stream of server-sent events.
type Listener struct {
	t     testing.TB
	heard chan Heard
}

// Heard is one event of a stream. Its zero value is the end of the stream.
type Heard struct {
	// ID is the last id that the stream gave until then.
	ID    string
	Event string
	Data  map[string]any
	At    time.Time
}

// Listen opens a stream of server-sent events, which is closed when the test ends.
func (c *Client) Listen(path string) *Listener {
	c.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	c.t.Cleanup(cancel)
	res, err := http.DefaultClient.Do(c.request(ctx, http.MethodGet, path, nil))
	require.NoError(c.t, err)
	c.t.Cleanup(func() { _ = res.Body.Close() })
	require.Equal(c.t, 200, res.StatusCode)
	require.Equal(c.t, "text/event-stream; charset=utf-8", res.Header.Get("Content-Type"))
	l := &Listener{t: c.t, heard: make(chan Heard, 1000)}
	go func() {
		defer close(l.heard)
		ReadEvents(res.Body, func(h Heard) { l.heard <- h })
	}()
	return l
}

// ReadEvents calls heard with each event of a stream until it ends.
func ReadEvents(stream io.Reader, heard func(Heard)) {
	var h Heard
	id := ""
	for lines := bufio.NewScanner(stream); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch {
		case name == "event":
			h.Event = value
		case name == "data":
			_ = json.Unmarshal([]byte(value), &h.Data) // who reads Data finds nothing
		case name == "id":
			id = value
		case name == "" && h.Event != "":
			h.ID, h.At = id, time.Now()
			heard(h)
			h = Heard{}
		}
	}
}

// Next waits for the next event, or for the end of the stream, for 15 seconds at most.
func (l *Listener) Next() Heard {
	l.t.Helper()
	select {
	case h := <-l.heard:
		return h
	case <-time.After(15 * time.Second):
		require.Fail(l.t, "nothing was heard for 15 s")
		return Heard{}
	}
}

// Until reads on until an event of this name about this kind of record, which may be empty, and returns it.
func (l *Listener) Until(event, kind string) Heard {
	l.t.Helper()
	for {
		h := l.Next()
		require.NotEmpty(l.t, h.Event, "the stream ended")
		if h.Event == event && (kind == "" || h.Data["type"] == kind) {
			return h
		}
	}
}
