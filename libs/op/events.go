package op

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strconv"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"frontdesk/libs/db"
)

// AddEvents is Add for a GET whose answer is a stream of server-sent events, which lasts as long as its caller listens and may
// listen. listen pushes to the feed what who may see, from its return until leave is called; it gives ids to events if a listener who comes back
// can go on behind Feed.After.
//
// Each second the caller's credential is looked up again, which does not count as a use of it. The stream ends with the event "end",
// whose data has a reason: "session" if the credential has ended, "rights" if the caller may do or see other things than before,
// "stopping" if the process stops. A browser then connects again by itself. A comment is sent if nothing else was for 20 s. A client who
// takes nothing for stalledAfter is cut off.
//
// A person has streamsEach streams in a process, else svc_rate_limited, and a process maxStreams, else svc_unavailable.
func AddEvents(s *Set, o Op, listen func(who db.Actor, f *Feed) (leave func())) {
	e := newEntry(s, o, reflect.TypeFor[followed](), reflect.TypeFor[None]())
	e.Events, e.Media = true, "text/event-stream"
	open, _ := otel.Meter("frontdesk").Int64UpDownCounter("frontdesk.streams.open", metric.WithUnit("{stream}"), metric.WithDescription("streams of server-sent events that are open"))
	e.bindTo(func(ctx context.Context, r *request, in any) (any, error) {
		leave, err := s.streams.Enter(strconv.FormatInt(r.actor.UserID, 10), s.RateFactor > 0)
		if err != nil {
			return nil, err
		}
		open.Add(ctx, 1, metric.WithAttributes(attribute.String("op", o.ID)))
		return &stream{Entry: e, request: r, ctx: ctx, listen: listen, after: cmp.Or(r.http.Header.Get("Last-Event-ID"), in.(*followed).After), leave: func() {
			leave()
			open.Add(context.WithoutCancel(ctx), -1, metric.WithAttributes(attribute.String("op", o.ID)))
		}}, nil
	})
}

// lookAgain is after how long the caller's credential is looked up again.
const lookAgain = time.Second

// EndStreams ends all streams of server-sent events, so that the server can stop. The set takes no new ones from then on.
func (s *Set) EndStreams() { s.endOnce.Do(func() { close(s.ended) }) }

// stream is the answer of AddEvents. send writes it, once.
type stream struct {
	*Entry
	request *request
	ctx     context.Context
	listen  func(who db.Actor, f *Feed) (leave func())
	after   string
	leave   func()
}

// followed is the input of AddEvents.
type followed struct {
	After string `json:"after,omitempty" doc:"The id of the last event that the caller has had. The header Last-Event-ID, which a browser sends when it connects again, goes before it."`
}

// missedEvents is what a listener gets in place of events that it was too slow for.
var missedEvents = Event("ready", []byte("{}"))

func (s *stream) send(w http.ResponseWriter) error {
	defer s.leave()
	out := http.NewResponseController(w)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("X-Accel-Buffering", "no") // for a proxy in front of the gateway
	w.WriteHeader(http.StatusOK)
	if s.request.http.Method == http.MethodHead {
		return nil
	}
	unhurried(w)
	var last time.Time
	write := func(text []byte) bool {
		last = time.Now()
		_ = out.SetWriteDeadline(last.Add(stalledAfter))
		_, err := w.Write(text)
		return err == nil && out.Flush() == nil
	}
	// Those whose stream ended together do not connect again together.
	if !write(fmt.Appendf(nil, "retry: %d\n\n", 2000+rand.N(3000))) {
		return nil
	}
	feed := newFeed(s.after)
	defer s.listen(s.request.actor, feed)()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		open := true
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.set.ended:
			write(ended("stopping"))
			return nil
		case <-feed.wake:
			if text := feed.take(); len(text) > 0 {
				open = write(text)
			}
		case <-again.C:
			if reason := s.changed(); reason != "" {
				write(ended(reason))
				return nil
			}
			if time.Since(last) >= heartbeat {
				open = write([]byte(":\n\n"))
			}
		}
		if !open {
			return nil
		}
	}
}

func ended(reason string) []byte { return Event("end", fmt.Appendf(nil, `{"reason":%q}`, reason)) }

// changed is why the stream's caller may not go on listening as before, or empty.
func (s *stream) changed() string {
	before := s.request.actor
	now, err := s.set.auth.Again(before)
	if err != nil {
		return "session"
	}
	r := *s.request
	r.actor = now
	if s.allowed(&r) != nil || now.Own != before.Own || !maps.Equal(now.Capabilities, before.Capabilities) {
		return "rights"
	}
	return ""
}
