package relay

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"frontdesk/libs/db"
	"frontdesk/proto"
)

// The simulation lets two relays, a log, the tables of the owner and a reader live through drawn histories, step by step, in memory. The
// decisions are those of the package (machine, verify, firstMissing, repairOf); what the statements do to the tables is told anew here, in
// one function each, and relay_test.go runs the statements themselves.

const (
	records  = proto.PageTopic            // of settings, compacted
	commands = proto.SettingsCommandTopic // several publish on it, and settings has to handle each once
	schema   = "settings"
)

// Without SIMULATE the same histories are drawn each time; `make histories` draws as many others as it says.
const histories, seed = "10000", "1"

func TestEachCommittedEventHasItsEffectOnceAndInTheOrderOfItsRecord(t *testing.T) {
	set := func(name, value string) {
		f := flag.Lookup(name)
		before := f.Value.String()
		t.Cleanup(func() { _ = f.Value.Set(before) })
		if err := f.Value.Set(value); err != nil {
			t.Fatal(err)
		}
	}
	if n := os.Getenv("SIMULATE"); n != "" {
		set("rapid.checks", n)
	} else {
		set("rapid.checks", histories)
		set("rapid.seed", seed)
	}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.happens(rapid.SampledFrom(happenings).Draw(t, "what"))
		}
		w.settle()
		w.compare()
	})
}

// happenings are drawn evenly; a relay's step stands there several times.
var happenings = []string{"commit", "commit", "commit", "step", "step", "step", "step", "step", "step", "round", "round", "consume", "consume",
	"crash", "freeze", "late", "minutes", "days", "down", "cut", "power", "anew", "backup", "restore"}

// world is everything that lasts longer than a process.
type world struct {
	*rapid.T
	now time.Time
	tables
	saved *tables
	log   map[Partition]*simLog
	// outages is how often connections broke: a relay notices when it calls the next time.
	outages int
	uid     int
	relays  [2]*process
	copy    map[string]int64 // the reader's copy of the records
	// handled are the commands that the reader acted on, in their order, and committed those that it has to.
	handled, committed []string
	lossy              bool // messages were lost, so a later command may have overtaken one that is sent again
	position           map[Partition]place
	group              map[Partition]int64
}

// tables are the owner's.
type tables struct {
	rows      []*simRow
	seq       int64
	published map[Partition]own
	holder    *process
	until     time.Time
	checkedAt time.Time
	lost      map[string]int64 // topics whose state has to be published, and since when
	versions  map[string]int64
}

type simRow struct {
	db.Message
	seq    int64
	sent   bool
	sentAt time.Time
	at     Partition
	offset int64
}

type simLog struct {
	first, end int64
	messages   []simMessage
	down       bool
}

type simMessage struct {
	Stored
	uid int
}

// place is the reader's position, and the message in front of it.
type place struct {
	next int64
	uid  int
}

func newWorld(t *rapid.T) *world {
	w := &world{T: t, now: time.Unix(1_800_000_000, 0), log: map[Partition]*simLog{}, copy: map[string]int64{}, position: map[Partition]place{}, group: map[Partition]int64{}}
	w.tables = tables{published: map[Partition]own{}, lost: map[string]int64{}, versions: map[string]int64{}}
	for _, p := range partitions {
		w.log[p] = &simLog{}
	}
	for i := range w.relays {
		w.relays[i] = w.process()
	}
	return w
}

var partitions = []Partition{{records, 0}, {records, 1}, {commands, 0}}

func partitionsOf(topic string) int { return map[string]int{records: 2, commands: 1}[topic] }

func (w *world) happens(what string) {
	w.now = w.now.Add(200 * time.Millisecond)
	some := func() *process { return w.relays[rapid.IntRange(0, 1).Draw(w.T, "relay")] }
	somewhere := func() Partition {
		return rapid.SampledFrom(partitions).Draw(w.T, "partition")
	}
	switch what {
	case "commit":
		w.commit(rapid.SampledFrom([]string{"a", "b", "c"}).Draw(w.T, "key"), rapid.Bool().Draw(w.T, "command"))
	case "step":
		some().step()
	case "round":
		some().round()
	case "consume":
		w.consume(rapid.IntRange(1, 5).Draw(w.T, "messages"))
	case "crash":
		w.relays[rapid.IntRange(0, 1).Draw(w.T, "relay")] = w.process()
	case "freeze": // and its claim ends, while it believes to have it
		w.now = w.now.Add(claimLasts + time.Second)
	case "late": // it freezes between its claim and its messages, another one takes over, and it dies before it can repair anything
		i := rapid.IntRange(0, 1).Draw(w.T, "relay")
		for w.relays[i].step(); len(w.relays[i].steps) > 1; {
			w.relays[i].step()
		}
		w.now = w.now.Add(claimLasts + time.Second)
		for range 4 {
			w.relays[1-i].round()
		}
		if w.relays[i].step(); rapid.Bool().Draw(w.T, "dies") {
			w.relays[i] = w.process()
		}
	case "minutes":
		w.now = w.now.Add(keepSent + time.Minute)
	case "days": // behind a check, as there is one every half a minute
		for range 4 {
			w.now = w.now.Add(checkEvery + time.Second)
			w.relays[0].round()
		}
		w.now = w.now.Add(4 * 24 * time.Hour)
		w.compact()
	case "down":
		l := w.log[somewhere()]
		l.down = !l.down
		w.outages++
	case "cut":
		w.cut(somewhere())
	case "power": // of the host on which all of them run
		for _, p := range partitions {
			w.cut(p)
		}
		w.relays[0], w.relays[1] = w.process(), w.process()
	case "anew":
		topic := somewhere().Topic
		for p, l := range w.log {
			if p.Topic == topic {
				*l = simLog{down: l.down}
				delete(w.group, p)
			}
		}
		w.outages, w.lossy = w.outages+1, true
	case "backup":
		s := w.tables.clone()
		w.saved = &s
	case "restore":
		w.restore()
	}
}

// cut loses the newest messages of a partition.
func (w *world) cut(p Partition) {
	l := w.log[p]
	if n := min(rapid.IntRange(0, 4).Draw(w.T, "messages"), len(l.messages)); n > 0 {
		l.end = l.messages[len(l.messages)-n].Offset
		l.messages = l.messages[:len(l.messages)-n]
		l.first = min(l.first, l.end)
		w.lossy = true
	}
	w.outages++
}

func (x tables) clone() tables {
	x.rows = slices.Clone(x.rows)
	for i, r := range x.rows {
		c := *r
		x.rows[i] = &c
	}
	x.published, x.lost, x.versions = maps.Clone(x.published), maps.Clone(x.lost), maps.Clone(x.versions)
	return x
}

func (w *world) add(topic, key, value string) {
	w.seq++
	w.rows = append(w.rows, &simRow{Message: db.Message{Topic: topic, Key: key, Value: []byte(value)}, seq: w.seq})
}

func (w *world) commit(key string, command bool) {
	if command {
		id := fmt.Sprintf("%s#%d", key, w.seq+1)
		if slices.Contains(w.committed, id) || slices.Contains(w.handled, id) {
			id += fmt.Sprint("'", w.uid, len(w.committed)) // the sequence went back to a backup
		}
		w.committed = append(w.committed, id)
		w.add(commands, key, id)
		return
	}
	w.versions[key]++
	w.add(records, key, fmt.Sprint(w.versions[key]))
}

func version(m db.Message) (v int64) {
	_, _ = fmt.Sscan(string(m.Value), &v)
	return v
}

// compact drops what topics may drop: of records what was replaced a week ago, and commands of a week ago.
func (w *world) compact() {
	for p, l := range w.log {
		if l.down {
			continue
		}
		newest := map[string]int64{}
		for _, m := range l.messages {
			newest[m.Key] = m.Offset
		}
		l.messages = slices.DeleteFunc(l.messages, func(m simMessage) bool {
			old := w.now.Sub(m.At) > proto.KeepAll && m.Offset < l.end-1
			w.lossy = w.lossy || old && p.Topic == commands && m.Offset >= w.position[p].next
			return old && (p.Topic == commands || newest[m.Key] > m.Offset)
		})
		if p.Topic == commands {
			l.first = l.end
			if len(l.messages) > 0 {
				l.first = l.messages[0].Offset
			}
		}
	}
}

// restore brings the schema back to its backup and together with its topics, as resync does while no replica runs.
func (w *world) restore() {
	if w.saved == nil {
		return
	}
	w.tables = w.saved.clone()
	for i := range w.relays {
		w.relays[i] = w.process()
	}
	w.published, w.lost, w.holder, w.until = map[Partition]own{}, map[string]int64{}, nil, time.Time{}
	w.rows = slices.DeleteFunc(w.rows, func(r *simRow) bool { return r.Topic == records })
	known := map[string]bool{}
	for _, r := range w.rows {
		r.sent, known[string(r.Value)] = false, true
	}
	for _, id := range w.handled {
		known[id] = true
	}
	for p, l := range w.log {
		for _, m := range l.messages {
			if v := version(m.Message); p.Topic == records && m.Key != proto.StateKey && v > w.versions[m.Key] {
				w.versions[m.Key] = v + 1
			}
		}
	}
	for key, v := range w.copy {
		w.versions[key] = max(w.versions[key], v) // the copy may hold what a lossy log does not
	}
	w.committed = slices.DeleteFunc(w.committed, func(id string) bool { return !known[id] }) // of the others there is only the log
	w.publishState()
}

func (w *world) publishState() {
	for _, key := range slices.Sorted(maps.Keys(w.versions)) {
		w.add(records, key, fmt.Sprint(w.versions[key]))
	}
}

// consume lets the reader take so many messages of each partition, as bus.Consumer does.
func (w *world) consume(most int) {
	for p, l := range w.log {
		if l.down {
			continue
		}
		at := w.position[p]
		if i := slices.IndexFunc(l.messages, func(m simMessage) bool { return m.Offset == at.next-1 }); at.next > l.end || i >= 0 && l.messages[i].uid != at.uid {
			at = place{}
		}
		n := 0
		for _, m := range l.messages {
			if m.Offset < at.next || n == most {
				continue
			}
			n++
			at = place{m.Offset + 1, m.uid}
			switch what := string(m.Value); {
			case p.Topic == commands && !slices.Contains(w.handled, what):
				w.handled = append(w.handled, what)
			case p.Topic == records && m.Key != proto.StateKey:
				w.copy[m.Key] = max(w.copy[m.Key], version(m.Message))
			}
		}
		w.position[p], w.group[p] = at, at.next
	}
}

// settle lets everything come to an end: the log is there, and one relay runs.
func (w *world) settle() {
	for _, l := range w.log {
		l.down = false
	}
	w.relays[0], w.relays[1] = w.process(), w.process()
	for quiet, n := 0, 0; quiet < 3; n++ {
		if n == 200 {
			w.Fatalf("the relay never comes to an end: %s", w)
		}
		w.now = w.now.Add(checkEvery + time.Second)
		for range 4 { // verified, it sends at once
			w.relays[0].round()
		}
		if quiet++; slices.ContainsFunc(w.rows, func(r *simRow) bool { return !r.sent }) || len(w.lost) > 0 {
			quiet = 0
		}
	}
	for range 50 {
		w.consume(math.MaxInt)
	}
}

// compare holds what was committed against what came of it.
func (w *world) compare() {
	if !maps.Equal(w.versions, w.copy) {
		w.Fatalf("the copy has %v of %v: %s", w.copy, w.versions, w)
	}
	// A reader that comes later sees the log alone.
	last := map[string]int64{}
	for p, l := range w.log {
		for _, m := range l.messages {
			if p.Topic == records && m.Key != proto.StateKey {
				last[m.Key] = version(m.Message)
			}
		}
	}
	if !maps.Equal(w.versions, last) {
		w.Fatalf("the log ends with %v of %v: %s", last, w.versions, w)
	}
	for _, id := range w.committed {
		if !slices.Contains(w.handled, id) {
			w.Fatalf("the command %s was never handled: %s", id, w)
		}
	}
	for _, key := range []string{"a", "b", "c"} {
		of := func(all []string) (some []string) {
			for _, id := range all {
				if strings.HasPrefix(id, key+"#") {
					some = append(some, id)
				}
			}
			return some
		}
		if !w.lossy && w.saved == nil && !slices.Equal(of(w.committed), of(w.handled)) {
			w.Fatalf("the commands about %s were %v and are handled as %v", key, of(w.committed), of(w.handled))
		}
	}
}

func (w *world) String() string {
	var b strings.Builder
	for _, r := range w.rows {
		fmt.Fprintf(&b, "\nrow %d %s/%s=%s sent %v at %v:%d", r.seq, r.Topic, r.Key, r.Value, r.sent, r.at, r.offset)
	}
	for _, p := range partitions {
		fmt.Fprintf(&b, "\nlog %v %d-%d published %d:", p, w.log[p].first, w.log[p].end, w.published[p].Offset)
		for _, m := range w.log[p].messages {
			fmt.Fprintf(&b, " %d:%s=%s", m.Offset, m.Key, m.Value)
		}
	}
	return b.String()
}

// process is a relay: its memory, and the steps that are left of its round. Between two steps it may die or freeze.
type process struct {
	*machine
	w           *world
	steps       []func()
	outages     int
	connections int64
}

func (w *world) process() *process { return &process{machine: newMachine(), w: w, outages: w.outages} }

var errAway = errors.New("no leader")

func (p *process) step() {
	if len(p.steps) == 0 {
		p.begin()
		return
	}
	next := p.steps[0]
	p.steps = p.steps[1:]
	next()
}

func (p *process) round() {
	for p.step(); len(p.steps) > 0; {
		p.step()
	}
}

func (p *process) then(steps ...func()) { p.steps = append(steps, p.steps...) }

// begin is the claim, and the plan before it.
func (p *process) begin() {
	w := p.w
	plan := p.plan(w.now, p.Connections())
	var waiting []*row
	for _, r := range w.rows {
		if r.sent || len(waiting) == 3 {
			continue
		}
		left := slices.ContainsFunc(p.leftOut(), func(x Partition) bool {
			of := p.partitions[x].of
			return x.Topic == r.Topic && (of == 0 || db.PartitionOf(r.Key, of) == x.Number)
		})
		if !left {
			waiting = append(waiting, &row{Message: r.Message, seq: r.seq})
		}
	}
	due := w.now.Sub(w.checkedAt) > checkEvery
	if w.holder != p && w.until.After(w.now) || !p.repairs(plan) && !due && len(waiting) == 0 {
		return
	}
	w.holder, w.until = p, w.now.Add(claimLasts)
	if plan = p.claimed(plan, due, w.now); p.repairs(plan) {
		p.then(func() { p.repair(plan) })
		return
	}
	p.then(func() {
		before := p.Connections()
		for i, at := range p.Append(context.Background(), messages(waiting)) {
			waiting[i].placed = at
		}
		sent, _ := p.appended(waiting, w.now)
		through := p.through(before, p.Connections())
		p.then(func() { p.mark(waiting, sent, through) })
	})
}

func messages(rows []*row) (all []db.Message) {
	for _, r := range rows {
		all = append(all, r.Message)
	}
	return all
}

func (p *process) release(checked bool) {
	if p.w.holder == p {
		p.w.until = time.Time{}
		if checked {
			p.w.checkedAt = p.w.now
		}
	}
}

func (p *process) mark(rows, sent []*row, through bool) {
	w := p.w
	mine := w.holder == p
	if mine {
		for _, x := range sent {
			for _, r := range w.rows {
				if r.seq == x.seq && !r.sent {
					r.sent, r.sentAt, r.at, r.offset = true, w.now, x.partition(), x.placed.Offset
				}
			}
		}
	}
	all := mine
	last, first := newestOf(sent)
	for at, x := range last {
		if old, there := w.published[at]; mine && (!there || through && old.follows(first[at], owned(at.Topic, schema))) {
			w.published[at] = own{at, x.placed.Offset, x.Digest(), w.now}
		} else {
			all = false
		}
	}
	p.stored(rows, mine, all)
	p.release(false)
}

func (p *process) repair(plan plan) {
	w := p.w
	connections := p.Connections()
	if p.doubtful != nil {
		w.sendNewestAgain(p.doubtful)
		p.doubtful = nil
	}
	published := w.known()
	parts := p.included(plan, published)
	bounds, _ := p.Bounds(context.Background(), parts)
	var verified []Partition
	for _, at := range parts {
		p.then(func() {
			b, led := bounds[at]
			var f finding
			var err error
			if x, sent := published[at]; led && sent {
				f, err = verify(context.Background(), p, schema, x, b, w.now)
			}
			if !led || err != nil {
				p.hold(at, w.now)
				return
			}
			p.then(func() {
				if x, sent := published[at]; sent && p.repairPartition(x.published, f) != nil {
					p.hold(at, w.now)
					return
				}
				p.verified(at)
				verified = append(verified, at)
			})
		})
	}
	p.steps = append(p.steps, func() {
		p.checked(plan, connections)
		p.release(plan.whole)
	}, func() { w.publishLost() }, func() { w.prune(verified) })
}

// known is what the tables say of each partition.
func (w *world) known() map[Partition]known {
	all := map[Partition]known{}
	for at, x := range w.published {
		k := known{published: x}
		for _, r := range w.rows {
			if !r.sent || r.at != at {
				continue
			}
			if r.offset > x.Offset && !r.sentAt.Before(x.SentAt) {
				k.marked = append(k.marked, r.offset)
			}
			if n := k.newest; n == nil || r.sentAt.After(n.SentAt) || r.sentAt.Equal(n.SentAt) && r.offset > n.Offset {
				k.newest = &own{at, r.offset, r.Digest(), r.sentAt}
			}
		}
		all[at] = k
	}
	return all
}

func (p *process) repairPartition(published own, f finding) error {
	w, at := p.w, published.Partition
	if f.missing == nil {
		tail := []db.Message{}
		for _, m := range f.tail {
			tail = append(tail, m.Message)
		}
		w.sendNewestAgain(tail)
		if _, still := w.published[at]; still {
			w.published[at] = f.newest
		}
		return nil
	}
	var kept []*simRow
	for _, r := range w.rows {
		if r.sent && r.at == at {
			kept = append(kept, r)
		}
	}
	slices.SortStableFunc(kept, func(a, b *simRow) int {
		if c := a.sentAt.Compare(b.sentAt); c != 0 {
			return c
		}
		return int(a.offset - b.offset)
	})
	bounds, _ := p.Bounds(context.Background(), []Partition{at})
	first, err := firstMissing(slices.IndexFunc(kept, func(r *simRow) bool { return r.offset == f.missing.Offset }), func(i int) (bool, error) {
		r := kept[slices.IndexFunc(kept, func(r *simRow) bool { return r.offset == kept[i].offset })]
		return stands(context.Background(), p, own{Partition: at, Offset: r.offset, Digest: r.Digest(), SentAt: r.sentAt}, bounds[at], w.now)
	})
	if err != nil {
		return err
	}
	delete(w.published, at)
	for _, r := range kept[first:] {
		r.sent = false
	}
	if repairOf(first, proto.TopicNamed(at.Topic)) == publishing {
		w.uid++
		w.lost[at.Topic] = int64(w.uid)
	}
	return nil
}

func (w *world) sendNewestAgain(about []db.Message) {
	for _, m := range about {
		var newest *simRow
		for _, r := range w.rows {
			if r.Topic == m.Topic && r.Key == m.Key {
				newest = r
			}
		}
		if newest != nil {
			newest.sent = false
		}
	}
}

func (w *world) publishLost() {
	if len(w.lost) == 0 {
		return
	}
	w.publishState()
	clear(w.lost)
	w.add(records, proto.StateKey, "marker")
}

func (w *world) prune(verified []Partition) {
	for _, at := range verified {
		consumed := int64(math.MaxInt64)
		if at.Topic == commands {
			consumed = w.group[at]
		}
		age := func(r *simRow) time.Duration { return w.now.Sub(r.sentAt) }
		for _, r := range w.rows {
			if r.sent && r.at == at && consumed < math.MaxInt64 && age(r) > sendAgain {
				r.sent = false
			}
		}
		w.rows = slices.DeleteFunc(w.rows, func(r *simRow) bool { return r.sent && r.at == at && age(r) > keepSent && r.offset < consumed })
	}
}

// The log as a process reaches it.

func (p *process) Connections() int64 { return p.connections }

// call is a request to the brokers, over a new connection if the one before broke.
func (p *process) call() {
	if p.outages != p.w.outages {
		p.outages = p.w.outages
		p.connections++
	}
}

func (p *process) Append(_ context.Context, batch []db.Message) []Placed {
	p.call()
	placed, failed := make([]Placed, len(batch)), map[Partition]error{}
	for i, m := range batch {
		of := partitionsOf(m.Topic)
		at := Partition{m.Topic, db.PartitionOf(m.Key, of)}
		l := p.w.log[at]
		placed[i] = Placed{Partition: at.Number, Of: of, Err: failed[at]}
		if l.down {
			placed[i].Err = errAway
		}
		if placed[i].Err == nil {
			p.w.uid++
			placed[i].Offset = l.end
			l.messages = append(l.messages, simMessage{Stored{Message: m, Offset: l.end, At: p.w.now}, p.w.uid})
			l.end++
			if rapid.IntRange(0, 9).Draw(p.w.T, "answer") == 9 {
				placed[i].Err = errAway // it is there, and its sender does not know
			}
		}
		failed[at] = placed[i].Err
	}
	return placed
}

func (p *process) Restore(context.Context) error { return nil }

func (p *process) Bounds(_ context.Context, of []Partition) (map[Partition]Bounds, error) {
	p.call()
	out := map[Partition]Bounds{}
	for _, x := range of {
		if l := p.w.log[x]; !l.down {
			out[x] = Bounds{l.first, l.end}
		}
	}
	return out, nil
}

func (p *process) Read(_ context.Context, x Partition, from int64, n int) (all []Stored, err error) {
	p.call()
	l := p.w.log[x]
	if l.down {
		return nil, errAway
	}
	for _, m := range l.messages {
		if m.Offset >= from && len(all) < n {
			all = append(all, m.Stored)
		}
	}
	return all, nil
}

func (p *process) Committed(context.Context, string, []Partition) (map[Partition]int64, error) {
	return nil, errors.New("prune asks the world itself")
}

// follows is what mark asks in SQL: it reports whether messages from the offset first on may replace the one in the table published. On an owned topic there must be
// nothing between them: it would never be looked at.
func (x own) follows(first int64, owned bool) bool {
	return first == x.Offset+1 || !owned && first > x.Offset
}
