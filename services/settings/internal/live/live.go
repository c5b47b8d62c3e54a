// Package live passes changes of records on to open screens, from the topics that all services publish on. One reader in a process
// serves all screens, and reads only while there is one. Writers pay nothing for it.
package live

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

const (
	// every is how long changes are collected before they are passed on.
	every = 100 * time.Millisecond
	// linger is how long the reader goes on without a listener, for the next screen.
	linger = 30 * time.Second
	// patience is how long a page waits for the reading to begin.
	patience = 100 * time.Millisecond
	// mostRecent is how many messages are kept for listeners who say where they were.
	mostRecent = 2000
)

// Live is the changes of this moment.
type Live struct {
	bus *bus.Bus
	on  func(app string) bool

	mu        sync.Mutex
	listeners map[*op.Feed]db.Actor
	changed   window
	reading   bool
	wanted    chan struct{} // filled when a listener comes, or will
	began     chan struct{} // closed when the reading begins

	// era names a reading without interruption, and passed is the number of windows passed on in it.
	era    string
	passed int
	// recent are the last messages, all of those of the windows after from.
	recent []message
	from   int
}

// New makes a Live whose Run has to run. on reports whether an app is on.
func New(b *bus.Bus, on func(app string) bool) *Live {
	return &Live{bus: b, on: on, listeners: map[*op.Feed]db.Actor{}, wanted: make(chan struct{}, 1), began: make(chan struct{})}
}

// Mark is where the stream is now, for a page that listens later and takes it as op.Feed.After: it hears what has changed since. The reading begins for
// it; if that takes longer than patience, the mark is empty.
func (l *Live) Mark(ctx context.Context) string {
	l.mu.Lock()
	began := l.began
	l.want()
	l.mu.Unlock()
	select {
	case <-began:
	case <-time.After(patience):
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reading {
		return ""
	}
	return l.mark()
}

// want has the reading begin, if it has not. l.mu is held.
func (l *Live) want() {
	if l.reading {
		return
	}
	select {
	case l.wanted <- struct{}{}:
	default:
	}
}

func (l *Live) mark() string { return l.era + "." + strconv.Itoa(l.passed) }

// since are the messages after a mark. It reports false for a mark of another reading, and if they are not kept any more.
func (l *Live) since(mark string) ([]message, bool) {
	era, number, _ := strings.Cut(mark, ".")
	had, err := strconv.Atoi(number)
	if err != nil || era != l.era || had < l.from || had > l.passed {
		return nil, false
	}
	i := slices.IndexFunc(l.recent, func(m message) bool { return m.window > had })
	if i < 0 {
		return nil, true
	}
	return l.recent[i:], true
}

// ready tells a screen that later changes will reach it. If it is not continued the screen reads again what it shows.
func (l *Live) ready(continued bool) []byte {
	return fmt.Appendf(nil, "id: %s\n%s", l.mark(), op.Event("ready", fmt.Appendf(nil, `{"continued":%t}`, continued)))
}

// Listen pushes to f what who may see of the changes since f.After, until leave is called.
func (l *Live) Listen(who db.Actor, f *op.Feed) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listeners[f] = who
	if l.reading {
		missed, continued := l.since(f.After)
		f.Push(append(textFor(who, missed), l.ready(continued)...))
	}
	l.want()
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.listeners, f)
	}
}

// Run reads the topics while there are listeners, until ctx ends.
func (l *Live) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.wanted:
			l.read(ctx)
		}
	}
}

// read reads until nobody has listened for a while.
func (l *Live) read(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	var tailing sync.WaitGroup
	tailing.Go(func() { l.bus.Tail(ctx, topics, l.begin, l.collect) })
	defer tailing.Wait()
	defer cancel()
	tick := time.NewTicker(every)
	defer tick.Stop()
	for heard := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if l.pass() {
				heard = now
			} else if now.Sub(heard) > linger && l.rest() {
				return
			}
		}
	}
}

// begin tells all listeners that changes reach them from now on.
func (l *Live) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.reading {
		close(l.began)
	}
	l.reading, l.changed = true, window{}
	l.era, l.passed, l.recent, l.from = rand.Text(), 0, nil, 0
	for f := range l.listeners {
		f.Push(l.ready(false))
	}
}

// rest marks the reading as ended, unless somebody listens again.
func (l *Live) rest() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.listeners) > 0 {
		return false
	}
	l.reading, l.began = false, make(chan struct{})
	return true
}

// collect adds the changes of an event to the window.
func (l *Live) collect(e bus.Event) {
	changes := changesOf(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range changes {
		if c.app == "" || l.on(c.app) {
			l.changed.add(c)
		}
	}
}

// Approvals has all screens hear that some call waits for a person, or has ended: no topic has it when it can be read.
func (l *Live) Approvals() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed.add(change{Type: "approval"})
}

// pass gives the changes of the window to the listeners, and reports whether there are any listeners.
func (l *Live) pass() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.changed.empty() {
		l.passed++
		messages := l.changed.messages(l.passed)
		l.changed = window{}
		for f, who := range l.listeners {
			if text := textFor(who, messages); len(text) > 0 {
				f.Push(fmt.Appendf(text, "id: %s\n\n", l.mark())) // behind the last of them: who has had only some gets all again
			}
		}
		l.keep(messages)
	}
	return len(l.listeners) > 0
}

// keep keeps messages for listeners who come back.
func (l *Live) keep(messages []message) {
	l.recent = append(l.recent, messages...)
	if more := len(l.recent) - mostRecent; more > 0 {
		l.from = l.recent[more-1].window
		l.recent = slices.Delete(l.recent, 0, more)
	}
}
