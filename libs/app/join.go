package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
)

// Room is the part of a service that one package keeps: its own tables, and all that works on them.
type Room struct {
	Name string // of the package
	Parts
}

// Join makes the parts of a service of its rooms, which are given from the ground up: a room uses rooms before it only. The first one is the
// service itself, with what belongs to no room: the operations, which all rooms declare into one set, and the App.
//
// Rooms that follow one topic handle each of its events in one transaction, from the ground up, each in the name of the event's actor. The
// topic stands where the lowest of them has it, so the order of the rooms is the order of locks. A person is forgotten from the top down:
// a room finds the rows of lower rooms that its own belong to, and publishes the end of its own before a cascade deletes them.
//
// What two rooms declare alike (a table, a topic's records, a job, a gauge, a page …) is an error that names both.
func Join(rooms ...Room) (*Parts, error) {
	all := &Parts{Ready: map[string]func() error{}, Personal: Personal{Holds: map[string]Holds{}}}
	owners := owners{}
	topics := map[string][]followed{}
	for _, r := range rooms {
		owners.claim(r)
		all.Ops, all.App, all.Admin = cmp.Or(r.Ops, all.Ops), cmp.Or(r.App, all.App), cmp.Or(r.Admin, all.Admin)
		for _, f := range r.Follows {
			if topics[f.Topic] == nil {
				all.Follows = append(all.Follows, bus.Follow{Topic: f.Topic})
			}
			topics[f.Topic] = append(topics[f.Topic], followed{r.Name, f})
		}
		all.Jobs = append(all.Jobs, r.Jobs...)
		all.Workers = append(all.Workers, r.Workers...)
		all.Tables = append(all.Tables, r.Tables...)
		all.Run = append(all.Run, r.Run...)
		all.Gauges = append(all.Gauges, r.Gauges...)
		all.PagePaths = append(all.PagePaths, r.PagePaths...)
		all.Published = append(all.Published, r.Published...)
		all.Sealed = append(all.Sealed, r.Sealed...)
		maps.Copy(all.Ready, r.Ready)
		maps.Copy(all.Personal.Holds, r.Personal.Holds)
	}
	for i, f := range all.Follows {
		all.Follows[i] = oneFollow(topics[f.Topic])
	}
	all.Pages = joinPages(rooms)
	all.Personal.Forget = joinForget(rooms)
	all.Restored = joinRestored(rooms)
	return all, owners.err()
}

// owners are the rooms by what they declare.
type owners map[string][]string

func (o owners) claim(r Room) {
	add := func(kind, name string) { o[kind+" "+name] = append(o[kind+" "+name], r.Name) }
	if r.Ops != nil {
		add("the set of", "operations")
	}
	if r.App != nil {
		add("the", "app")
	}
	if r.Admin != nil {
		add("the", "admin pages")
	}
	for _, f := range r.Follows {
		add("topic twice in one room", r.Name+" "+f.Topic)
		if f.Keys != nil {
			add("keys of", f.Topic)
		}
	}
	for _, j := range r.Jobs {
		add("job", j.Name)
	}
	for _, w := range r.Workers {
		add("worker", w.Name)
	}
	for _, t := range r.Tables {
		add("copy of", t.Topic())
	}
	for _, g := range r.Gauges {
		add("gauge", g.Name)
	}
	for _, p := range r.PagePaths {
		add("page", p.GetPath())
	}
	for _, p := range r.Published {
		add("records of", strings.TrimSpace(p.Topic+" "+p.name))
	}
	for _, s := range r.Sealed {
		add("sealed column", s.Table+"."+s.Column)
	}
	for name := range r.Ready {
		add("condition", name)
	}
	for table := range r.Personal.Holds {
		add("table", table)
	}
}

func (o owners) err() error {
	var twice []string
	for _, what := range slices.Sorted(maps.Keys(o)) {
		if len(o[what]) > 1 {
			twice = append(twice, what+" by "+strings.Join(o[what], " and "))
		}
	}
	if twice == nil {
		return nil
	}
	return errors.New("app: declared more than once: " + strings.Join(twice, ", "))
}

// followed is a topic as a room follows it.
type followed struct {
	room string
	bus.Follow
}

// oneFollow makes one follow of those of several rooms for the same topic.
func oneFollow(rooms []followed) bus.Follow {
	if len(rooms) == 1 {
		return rooms[0].Follow
	}
	one := bus.Follow{Topic: rooms[0].Topic, Handle: func(ctx context.Context, tx *db.Tx, e bus.Event) error {
		who, history := tx.Who, tx.History
		for _, r := range rooms {
			tx.Who, tx.History = who, history // the room before may have acted for somebody else
			if err := r.Handle(ctx, tx, e); err != nil {
				return fmt.Errorf("%s: %w", r.room, err)
			}
		}
		return nil
	}}
	for _, r := range rooms {
		if r.Keys != nil {
			one.Keys = r.Keys
		}
		one.Lock, one.Later = both(one.Lock, r.Lock), both(one.Later, r.Later)
	}
	return one
}

// ofEvents is a function of a follow about several events.
type ofEvents = func(ctx context.Context, tx *db.Tx, events []bus.Event) error

// both does one after the other; either may be nil.
func both(first, then ofEvents) ofEvents {
	switch {
	case first == nil:
		return then
	case then == nil:
		return first
	}
	return func(ctx context.Context, tx *db.Tx, events []bus.Event) error {
		if err := first(ctx, tx, events); err != nil {
			return err
		}
		return then(ctx, tx, events)
	}
}

// joinPages serves each room's paths by its handler; nil if no room has pages.
func joinPages(rooms []Room) http.Handler {
	pages := http.NewServeMux()
	var last http.Handler
	n := 0
	for _, r := range rooms {
		if r.Pages == nil {
			continue
		}
		last = r.Pages
		n++
		for _, p := range r.PagePaths {
			pages.Handle(p.GetPath(), r.Pages)
		}
	}
	if n < 2 {
		return last
	}
	return pages
}

func joinForget(rooms []Room) func(ctx context.Context, tx *db.Tx, p *erasure.Person) ([]uuid.UUID, error) {
	if !slices.ContainsFunc(rooms, func(r Room) bool { return r.Personal.Forget != nil }) {
		return nil
	}
	return func(ctx context.Context, tx *db.Tx, p *erasure.Person) (ids []uuid.UUID, err error) {
		for _, r := range slices.Backward(rooms) {
			if r.Personal.Forget == nil {
				continue
			}
			records, err := r.Personal.Forget(ctx, tx, p)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
			ids = append(ids, records...)
		}
		return ids, nil
	}
}

func joinRestored(rooms []Room) func(ctx context.Context) ([]string, error) {
	if !slices.ContainsFunc(rooms, func(r Room) bool { return r.Restored != nil }) {
		return nil
	}
	return func(ctx context.Context) (did []string, err error) {
		for _, r := range rooms {
			if r.Restored == nil {
				continue
			}
			lines, err := r.Restored(ctx)
			if did = append(did, lines...); err != nil {
				return did, fmt.Errorf("%s: %w", r.Name, err)
			}
		}
		return did, nil
	}
}
