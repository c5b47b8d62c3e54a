package relay

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// state is where a partition stands; doc.go draws them.
type state string

const (
	// sending: what waits is sent.
	sending state = "sending"
	// held: the partition took no message, or its newest one could not be verified. It is left out until that is verified, because a
	// new message would hide that the log has lost some.
	held state = "held"
	// open: it was held and is verified. The next batch tries it.
	open state = "open"
	// lost: the log does not have a message that it has acknowledged. The rows from there on are let wait again, slice by slice. Until all of them do, the
	// partition is left out: what is sent would overtake those that do not wait yet, and hide that they are lost.
	lost state = "lost"
	// publishing: the log does not even have the oldest row that is kept. The state of all records is published behind the rows.
	publishing state = "publishing"
)

const (
	// firstHold doubles with each hold of a partition, up to longestHold.
	firstHold   = 100 * time.Millisecond
	longestHold = 2 * time.Second
	// restPerLook bounds the load of looks that find only rows of held partitions: each reads all of them.
	restPerLook = 20
)

// machine is what one process remembers of its sending, and decides by it. It reads no clock, no table and no log, so a simulation
// runs the same decisions as the relay. A process that starts knows nothing.
type machine struct {
	partitions map[Partition]*partition
	// of is how many partitions a topic has.
	of map[string]int
	// doubtful are messages that this process may have appended after its claim had ended, behind newer ones of their keys.
	doubtful []db.Message
	// connections is the count over which the whole log was verified last; -1 until it is. Nothing is sent before it is, and nothing is tried
	// before notBefore.
	connections int64
	notBefore   time.Time
}

// partition is sending, held, open or lost for this process.
type partition struct {
	state state
	of    int // partitions of the topic; 0 if that is not known
	pause time.Duration
	until time.Time
}

func newMachine() *machine {
	return &machine{partitions: map[Partition]*partition{}, of: map[string]int{}, connections: -1}
}

// closed reports whether nothing may be sent to the partition.
func (x *partition) closed() bool { return x != nil && (x.state == held || x.state == lost) }

func (m *machine) at(p Partition) *partition {
	if m.partitions[p] == nil {
		m.partitions[p] = &partition{state: sending, of: m.of[p.Topic]}
	}
	return m.partitions[p]
}

// plan is what has to be verified: all partitions, or some.
type plan struct {
	whole bool
	some  []Partition
}

// plan is made before the claim: what the round verifies before anything is sent. ok is false while nothing may be tried.
func (m *machine) plan(now time.Time, connections int64) (p plan, ok bool) {
	if p.whole = m.connections != connections; p.whole && !now.After(m.notBefore) {
		return p, false
	}
	for name, x := range m.partitions {
		if x.closed() && now.After(x.until) {
			p.some = append(p.some, name)
		}
	}
	return p, true
}

// begun adds to the plan of a round, once it has its claim, the partitions in which another process has begun to repair a loss.
func (m *machine) begun(p plan, published map[Partition]own) plan {
	for at, x := range published {
		if x.next != nil && !m.partitions[at].closed() {
			p.some = append(p.some, at)
		}
	}
	return p
}

// behind is what has to be verified between a batch and its marks: all partitions, if a connection was made meanwhile, because the log may
// have lost something in front of the batch; and those in which the batch does not follow the newest message. In a topic of this service a relay may have
// put messages between the two that it has not marked.
func (m *machine) behind(sent []*row, published map[Partition]own, schema string, connections int64) plan {
	p := plan{whole: m.connections != connections}
	_, first := newestOf(sent)
	for at, offset := range first {
		if x, there := published[at]; there && (offset <= x.Offset || owned(at.Topic, schema) && offset > x.Offset+1) {
			p.some = append(p.some, at)
		}
	}
	return p
}

// standing are the rows of a batch that may be marked: not those of partitions that are held now, in which messages in front of the
// batch were lost, or in which messages that nobody has marked lie behind its first one: they may be older. Such rows wait, and are sent again.
func (m *machine) standing(sent []*row, r repaired) []*row {
	last, first := newestOf(sent)
	return slices.DeleteFunc(sent, func(x *row) bool {
		at := x.partition()
		end := r.tails[at]
		return m.partitions[at].closed() || slices.Contains(r.lost, at) || end > 0 && (end > last[at].placed.Offset || x.placed.Offset < first[at])
	})
}

// verifies reports whether there is something to verify or to repair.
func (m *machine) verifies(p plan) bool { return p.whole || len(p.some) > 0 || m.doubtful != nil }

// includes reports whether the plan verifies a partition.
func (p plan) includes(x Partition) bool {
	return p.whole || slices.Contains(p.some, x) || slices.Contains(p.some, Partition{x.Topic, -1})
}

// restores reports whether topics that are missing have to be made first.
func (p plan) restores() bool {
	return p.whole || slices.ContainsFunc(p.some, func(x Partition) bool { return x.Number < 0 })
}

// included are the partitions that a plan verifies: those in which this service has published, and the closed ones.
func (m *machine) included(p plan, published map[Partition]own) (all []Partition) {
	for x := range published {
		if p.includes(x) {
			all = append(all, x)
		}
	}
	for x := range m.partitions {
		if _, sent := published[x]; !sent && x.Number >= 0 && m.partitions[x].closed() && p.includes(x) {
			all = append(all, x)
		}
	}
	slices.SortFunc(all, func(a, b Partition) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
	})
	return all
}

// leftOut are the closed partitions.
func (m *machine) leftOut() (all []Partition) {
	for name, x := range m.partitions {
		if x.closed() {
			all = append(all, name)
		}
	}
	return all
}

// rest is the pause behind a look at the outbox that took so long and found nothing to send.
func (m *machine) rest(took time.Duration) time.Duration {
	if len(m.leftOut()) == 0 {
		return 0
	}
	return min(restPerLook*took, longestHold)
}

// appended takes where the rows of a batch stand now. It holds partitions that took one not, and returns the rows that were sent, and
// the failures that are new.
func (m *machine) appended(rows []*row, now time.Time) (sent []*row, failed []error) {
	for _, x := range rows {
		if x.placed.Of > 0 {
			m.of[x.Topic] = x.placed.Of
		}
		if x.placed.Err == nil {
			sent = append(sent, x)
		} else if m.hold(x.partition(), now) {
			failed = append(failed, fmt.Errorf("send to topic %s, partition %d: %w", x.Topic, x.placed.Partition, x.placed.Err))
		}
	}
	for _, x := range sent {
		for _, p := range []Partition{x.partition(), {x.Topic, -1}} {
			if s := m.partitions[p]; s != nil && s.state == open {
				s.state = sending
			}
		}
	}
	return sent, failed
}

// over takes that a round has ended, whether the claim was this process's until then, and what it has appended. If it was not, the batch may stand
// behind newer messages, and what was verified was compared with less than another process has published since.
func (m *machine) over(mine bool, appended []*row) {
	if mine {
		return
	}
	m.connections = -1
	for _, x := range appended {
		m.doubtful = append(m.doubtful, x.Message)
	}
}

// hold leaves a partition out, for longer each time, and reports whether that is new.
func (m *machine) hold(p Partition, now time.Time) (fresh bool) {
	x := m.at(p)
	if x.state == held && !now.After(x.until) {
		return false
	}
	if fresh = x.state == sending; fresh {
		x.pause = firstHold / 2
	}
	x.state, x.of, x.pause = held, m.of[p.Topic], min(2*x.pause, longestHold)
	x.until = now.Add(x.pause)
	return fresh
}

// unfinished takes that the log has lost something, and that not all rows wait again that have to. The next slices follow in a short while, in which the
// other partitions have their turn.
func (m *machine) unfinished(p Partition, now time.Time) {
	x := m.at(p)
	x.state, x.of, x.pause, x.until = lost, m.of[p.Topic], firstHold, now.Add(firstHold)
}

// repairing reports whether the rows of a loss do not all wait again yet.
func (m *machine) repairing() bool {
	for _, x := range m.partitions {
		if x.state == lost {
			return true
		}
	}
	return false
}

// verified takes that the log has all that a partition was given, or that what it has not waits again.
func (m *machine) verified(p Partition) {
	if x := m.at(p); x.closed() {
		x.state = open
	}
}

// checked takes that everything of the plan was verified, or is held.
func (m *machine) checked(p plan, connections int64) {
	for name := range m.partitions {
		if name.Number < 0 && p.restores() {
			m.verified(name) // its topic is there now, and has nothing to lose
		}
	}
	if p.whole {
		m.connections = connections
	}
}

// failed takes that a plan could not be carried out.
func (m *machine) failed(p plan, now time.Time) {
	m.connections, m.notBefore = -1, now.Add(longestHold)
	for _, x := range p.some {
		m.hold(x, now)
	}
}

// newestOf are the last of the rows in each partition, and the first of those in front of them without a gap.
func newestOf(sent []*row) (last map[Partition]*row, first map[Partition]int64) {
	last, first = map[Partition]*row{}, map[Partition]int64{}
	for _, x := range sent {
		p := x.partition()
		if before := last[p]; before == nil || before.placed.Offset+1 != x.placed.Offset {
			first[p] = x.placed.Offset
		}
		last[p] = x
	}
	return last, first
}

// repairOf is how a loss is repaired: by the rows that are kept, from the first one that the log has not, or if it has not the oldest of them by
// the state of all records too. Commands have no state.
func repairOf(oldest bool, topic proto.Topic) state {
	if oldest && topic.Compacted {
		return publishing
	}
	return lost
}
