package live

import (
	"encoding/json"
	"fmt"
	"slices"

	"frontdesk/libs/db"
	"frontdesk/libs/op"
)

// mostOfType is how many records of one type a window names. If more have changed, listeners get the type alone.
const mostOfType = 20

// window collects changes for a moment, so that a change that two topics tell, or a record that changes several times, is one message.
type window struct {
	types map[string]*bucket
	order []string
}

// bucket is what changed of one type. Without records there were too many.
type bucket struct {
	records []change
	many    bool
	all     []byte // the message with the type alone
}

func (w *window) empty() bool { return len(w.order) == 0 }

func (w *window) add(c change) {
	b := w.types[c.Type]
	if b == nil {
		if w.types == nil {
			w.types = map[string]*bucket{}
		}
		b = &bucket{all: change{Type: c.Type}.text()}
		w.types[c.Type] = b
		w.order = append(w.order, c.Type)
	}
	i := slices.IndexFunc(b.records, func(x change) bool { return x.ID == c.ID })
	switch {
	case i >= 0:
		b.records[i] = merge(b.records[i], c)
	case !b.many && len(b.records) < mostOfType:
		b.records = append(b.records, c)
	default:
		// Only what says who may read the type is kept.
		b.records, b.many = []change{{Type: c.Type, permission: c.permission}}, true
	}
}

// merge makes one change of two of the same record.
func merge(a, b change) change {
	a.Version, a.Gone, a.moves = max(a.Version, b.Version), a.Gone || b.Gone, a.moves || b.moves
	if b.Actor != "" {
		a.Actor = b.Actor
	}
	for _, name := range b.Changed {
		if !slices.Contains(a.Changed, name) {
			a.Changed = append(slices.Clone(a.Changed), name)
		}
	}
	if first, second := a.mine, b.mine; first != nil && second != nil {
		a.mine = func(who db.Actor) bool { return first(who) || second(who) }
	} else {
		a.mine = nil
	}
	return a
}

// message is a change as text, who gets how much of it, and the number of its window.
type message struct {
	change
	whole, all []byte
	window     int
}

// messages are the changes in the order in which their types came.
func (w *window) messages(number int) []message {
	var out []message
	for _, name := range w.order {
		b := w.types[name]
		for _, c := range b.records {
			out = append(out, message{c, c.text(), b.all, number})
		}
	}
	return out
}

// textFor is what a listener gets of messages.
func textFor(who db.Actor, messages []message) (text []byte) {
	told := "" // the type that was told alone last; messages of one type stand together
	for _, m := range messages {
		switch m.seenBy(who) {
		case itsRecord:
			text = append(text, m.whole...)
		case itsType:
			if told != m.Type {
				text = append(text, m.all...)
			}
			told = m.Type
		}
	}
	return text
}

// text is the change as an event.
func (c change) text() []byte {
	data, err := json.Marshal(c)
	if err != nil {
		panic(fmt.Sprint("live: a change is not JSON: ", err)) // texts, numbers and truth values always are
	}
	return op.Event("change", data)
}
