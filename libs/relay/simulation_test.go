package relay

import (
	"bytes"
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
	manifest = proto.ManifestTopic        // compacted too, and others publish their own keys on it
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
	"others", "crash", "freeze", "late", "minutes", "days", "down", "failover", "cut", "cut", "power", "anew", "emptied", "backup", "restore"}

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
	// ahead: the log has lost what the reader had consumed, and the reader has not been back since. pruned are the commands that went meanwhile.
	ahead    bool
	pruned   []string
	forgot   bool // a relay died before it could repair what it had put behind newer messages, which nobody sees in a topic of several
	position map[Partition]place
	group    map[Partition]int64
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

var partitions = []Partition{{records, 0}, {records, 1}, {manifest, 0}, {commands, 0}}

func partitionsOf(topic string) int {
	return map[string]int{records: 2, manifest: 1, commands: 1}[topic]
}

// The keys of records; the last one is the manifest's.
var keys = []string{"a", "b", "c", "m"}

func topicOf(key string) string {
	if key == "m" {
		return manifest
	}
	return records
}

// isRecord reports whether a message has a record of the owner.
func isRecord(m db.Message) bool { return m.Topic != commands && slices.Contains(keys, m.Key) }

func (w *world) happens(what string) {
	w.now = w.now.Add(firstHold / 3)
	some := func() *process { return w.relays[rapid.IntRange(0, 1).Draw(w.T, "relay")] }
	somewhere := func() Partition {
		return rapid.SampledFrom(partitions).Draw(w.T, "partition")
	}
	switch what {
	case "commit":
		w.commit(rapid.SampledFrom(keys).Draw(w.T, "key"), rapid.Bool().Draw(w.T, "command"))
	case "step":
		some().step()
	case "round":
		some().round()
	case "consume":
		w.consume(rapid.IntRange(1, 5).Draw(w.T, "messages"))
	case "crash":
		w.crash(rapid.IntRange(0, 1).Draw(w.T, "relay"))
	case "others": // publish on the topics that are not this service's
		at := rapid.SampledFrom(partitions[2:]).Draw(w.T, "partition")
		if l := w.log[at]; !l.down {
			w.append(l, db.Message{Topic: at.Topic, Key: "other", Value: []byte("theirs")})
		}
	case "freeze": // and its claim ends, while it believes to have it
		w.now = w.now.Add(claimLasts + time.Second)
	case "late": // it freezes between its claim and its messages, another one takes over, and it dies before it can repair anything
		i := rapid.IntRange(0, 1).Draw(w.T, "relay")
		for w.relays[i].step(); len(w.relays[i].steps) > 1; {
			w.relays[i].step()
		}
		w.now = w.now.Add(claimLasts + time.Second)
		w.commit(rapid.SampledFrom(keys).Draw(w.T, "key"), false)
		for range 4 {
			w.relays[1-i].round()
		}
		if w.relays[i].step(); rapid.Bool().Draw(w.T, "dies") {
			w.crash(i)
		}
		if rapid.Bool().Draw(w.T, "the other goes on") {
			w.commit(rapid.SampledFrom(keys).Draw(w.T, "key"), false)
			w.relays[1-i].round()
		}
	case "minutes":
		w.now = w.now.Add(keepSent + time.Minute)
	case "days":
		w.checks()
		w.now = w.now.Add(4 * 24 * time.Hour)
		w.compact()
	case "down":
		l := w.log[somewhere()]
		if l.down = !l.down; l.down {
			w.outages++ // what was connected to its leader is cut off. Another one leads it later, and that may be connected already.
		}
	case "failover": // to a broker that lags, while a relay has something for the partition
		at, p := somewhere(), some()
		l := w.log[at]
		l.down, w.outages = true, w.outages+1
		w.commit(rapid.SampledFrom(keys).Draw(w.T, "key"), at.Topic == commands)
		for range 3 {
			p.round()
		}
		w.cut(at)
		l.down = false
		p.round()
	case "cut":
		w.cut(somewhere())
	case "power": // of the host on which all of them run
		for _, p := range partitions {
			w.cut(p)
		}
		w.crash(0)
		w.crash(1)
	case "anew":
		topic := somewhere().Topic
		for p, l := range w.log {
			if p.Topic == topic {
				*l = simLog{down: l.down}
				delete(w.group, p)
				w.ahead = w.ahead && p.Topic != commands
			}
		}
		w.outages, w.lossy = w.outages+1, true
	case "emptied": // an administrator deletes all messages of a partition, of which the newest own one is young when the next check finds it gone
		at := somewhere()
		if l := w.log[at]; !l.down && w.now.Sub(w.published[at].SentAt) < keepSent {
			l.first, l.messages, w.lossy = l.end, nil, true
			w.outages++
			w.checks()
		}
	case "backup":
		s := w.tables.clone()
		w.saved = &s
	case "restore":
		w.restore()
	}
}

// checks are the next ones: there is one every half a minute.
func (w *world) checks() {
	for range 4 {
		w.now = w.now.Add(checkEvery + time.Second)
		w.relays[0].round()
	}
}

// crash ends a relay and starts another one.
func (w *world) crash(i int) {
	p := w.relays[i]
	w.forgot = w.forgot || p.doubtful != nil || len(p.steps) > 0 && w.holder != p
	w.relays[i] = w.process()
}

func (w *world) append(l *simLog, m db.Message) {
	w.uid++
	l.messages = append(l.messages, simMessage{Stored{Message: m, Offset: l.end, At: w.now}, w.uid})
	l.end++
}

// cut loses the newest messages of a partition. Others may publish in their places.
func (w *world) cut(p Partition) {
	l := w.log[p]
	if !l.down {
		w.outages++
	}
	if n := min(rapid.IntRange(0, 4).Draw(w.T, "messages"), len(l.messages)); n > 0 {
		l.end = l.messages[len(l.messages)-n].Offset
		l.messages = l.messages[:len(l.messages)-n]
		l.first = min(l.first, l.end)
		w.lossy = true
	}
	w.ahead = w.ahead || p.Topic == commands && w.group[p] > l.end
	if !owned(p.Topic, schema) {
		for range rapid.IntRange(0, 5).Draw(w.T, "others") {
			w.append(l, db.Message{Topic: p.Topic, Key: "other", Value: []byte("theirs")})
		}
	}
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
	w.add(topicOf(key), key, fmt.Sprint(w.versions[key]))
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
	w.rows = slices.DeleteFunc(w.rows, func(r *simRow) bool { return r.Topic != commands })
	known := map[string]bool{}
	for _, r := range w.rows {
		r.sent, known[string(r.Value)] = false, true
	}
	for _, id := range w.handled {
		known[id] = true
	}
	for _, l := range w.log {
		for _, m := range l.messages {
			if v := version(m.Message); isRecord(m.Message) && v > w.versions[m.Key] {
				w.versions[m.Key] = v + 1
			}
		}
	}
	for key, v := range w.copy {
		w.versions[key] = max(w.versions[key], v) // the copy may hold what a lossy log does not
	}
	w.committed = slices.DeleteFunc(w.committed, func(id string) bool { return !known[id] }) // of the others there is only the log
	w.publishState(records)
	w.publishState(manifest)
}

func (w *world) publishState(topic string) {
	for _, key := range slices.Sorted(maps.Keys(w.versions)) {
		if topicOf(key) == topic {
			w.add(topic, key, fmt.Sprint(w.versions[key]))
		}
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
			case p.Topic == commands && m.Key != "other" && !slices.Contains(w.handled, what):
				w.handled = append(w.handled, what)
			case isRecord(m.Message):
				w.copy[m.Key] = max(w.copy[m.Key], version(m.Message))
			}
		}
		w.position[p], w.group[p] = at, at.next
		w.ahead = w.ahead && p.Topic != commands
	}
}

// settle lets everything come to an end: the log is there, and one relay runs.
func (w *world) settle() {
	for _, l := range w.log {
		l.down = false
	}
	for i, p := range w.relays { // each finishes what it had begun, and repairs what came of it
		w.now = w.now.Add(claimLasts + time.Second)
		for range 3 {
			p.round()
		}
		w.crash(i)
	}
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
	if v, there := w.versions["m"]; there && w.forgot {
		w.copy["m"] = v
	}
	if !maps.Equal(w.versions, w.copy) {
		w.Fatalf("the copy has %v of %v: %s", w.copy, w.versions, w)
	}
	// A reader that comes later sees the log alone.
	last := map[string]int64{}
	for _, l := range w.log {
		for _, m := range l.messages {
			if isRecord(m.Message) {
				last[m.Key] = version(m.Message)
			}
		}
	}
	if v, there := w.versions["m"]; there && w.forgot {
		last["m"] = v
	}
	if !maps.Equal(w.versions, last) {
		w.Fatalf("the log ends with %v of %v: %s", last, w.versions, w)
	}
	for _, id := range w.committed {
		if !slices.Contains(w.handled, id) && !slices.Contains(w.pruned, id) {
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
	plan, ok := p.plan(w.now, p.Connections())
	if !ok {
		return
	}
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
	if w.holder != p && w.until.After(w.now) || !p.verifies(plan) && !due && len(waiting) == 0 {
		return
	}
	w.holder, w.until = p, w.now.Add(claimLasts)
	published := maps.Clone(w.published)
	if plan.whole = plan.whole || due; p.verifies(plan) {
		p.then(func() { p.repair(plan, published, func(repaired) { p.release(plan.whole) }) })
		return
	}
	p.then(func() {
		for i, at := range p.Append(context.Background(), messages(waiting)) {
			waiting[i].placed = at
		}
		sent, _ := p.appended(waiting, w.now)
		mark := func(r repaired) { p.mark(waiting, p.standing(sent, r)) }
		if behind := p.behind(sent, published, schema, p.Connections()); p.verifies(behind) {
			p.then(func() { p.repair(behind, published, mark) })
		} else {
			p.then(func() { mark(repaired{}) })
		}
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

func (p *process) mark(rows, sent []*row) {
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
		last, _ := newestOf(sent)
		for at, x := range last {
			if old, there := w.published[at]; !there || old.Offset < x.placed.Offset {
				w.published[at] = own{at, x.placed.Offset, x.Digest(), w.now}
			}
		}
	}
	p.stored(rows, mine)
	p.release(false)
}

// repair calls then with what became of the partitions.
func (p *process) repair(plan plan, published map[Partition]own, then func(repaired)) {
	w := p.w
	connections := p.Connections()
	if p.doubtful != nil {
		w.sendNewestAgain(p.doubtful)
		p.doubtful = nil
	}
	parts := p.included(plan, published)
	bounds, _ := p.Bounds(context.Background(), parts)
	r := repaired{tails: map[Partition]int64{}}
	var steps []func()
	for _, at := range parts {
		steps = append(steps, func() {
			b, led := bounds[at]
			var f finding
			var err error
			x, sent := published[at]
			if led && sent {
				f, err = verify(context.Background(), p, schema, x, b, w.now)
			}
			if !led || err != nil {
				p.hold(at, w.now)
				return
			}
			p.then(func() {
				if sent && p.repairPartition(x, f) != nil {
					p.hold(at, w.now)
					return
				}
				p.verified(at)
				if r.settled = append(r.settled, at); f.missing {
					r.lost = append(r.lost, at)
				}
				if len(f.tail) > 0 {
					r.tails[at] = f.newest.Offset
				}
			})
		})
	}
	p.then(append(steps, func() {
		p.checked(plan, connections)
		then(r)
	}, func() { w.publishLost() }, func() {
		consumed := maps.Clone(w.group)
		p.then(func() { w.prune(r.settled, consumed) })
	})...)
}

// move is the statement's: nothing moves if another process has moved it.
func (w *world) move(from own, to *own) error {
	switch x, there := w.published[from.Partition]; {
	case !there || x.Offset != from.Offset || !bytes.Equal(x.Digest, from.Digest):
		return errMoved
	case to == nil:
		delete(w.published, from.Partition)
	default:
		w.published[from.Partition] = *to
	}
	return nil
}

func (p *process) repairPartition(published own, f finding) error {
	w, at := p.w, published.Partition
	if !f.missing {
		tail := []db.Message{}
		for _, m := range f.tail {
			tail = append(tail, m.Message)
		}
		w.sendNewestAgain(tail)
		if f.newest.Offset == published.Offset {
			return nil
		}
		return w.move(published, &f.newest)
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
	first, err := firstMissing(slices.IndexFunc(kept, func(r *simRow) bool { return r.offset == published.Offset }), func(i int) (bool, error) {
		r := kept[slices.IndexFunc(kept, func(r *simRow) bool { return r.offset == kept[i].offset })]
		return stands(context.Background(), p, own{Partition: at, Offset: r.offset, Digest: r.Digest(), SentAt: w.now}, bounds[at], w.now)
	})
	if err != nil {
		return err
	}
	var last *own
	if first > 0 {
		r := kept[first-1]
		last = &own{at, r.offset, r.Digest(), r.sentAt}
	}
	if err := w.move(published, last); err != nil {
		return err
	}
	for _, r := range kept[first:] {
		r.sent = false
	}
	if repairOf(first, proto.TopicNamed(at.Topic)) == publishing {
		w.lose(at.Topic)
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
		} else if proto.TopicNamed(m.Topic).Compacted {
			w.lose(m.Topic)
		}
	}
}

func (w *world) lose(topic string) {
	w.uid++
	w.lost[topic] = int64(w.uid)
}

func (w *world) publishLost() {
	if len(w.lost) == 0 {
		return
	}
	for _, topic := range slices.Sorted(maps.Keys(w.lost)) {
		w.publishState(topic)
	}
	clear(w.lost)
	w.add(records, proto.StateKey, "marker")
}

func (w *world) prune(settled []Partition, group map[Partition]int64) {
	for _, at := range settled {
		consumed := int64(math.MaxInt64)
		if at.Topic == commands {
			consumed = group[at]
			x, sent := w.published[at]
			l := w.log[at]
			if !sent || l.down {
				continue
			}
			if still, err := stands(context.Background(), w.process(), x, Bounds{l.first, l.end}, w.now); err != nil || !still {
				continue
			}
		}
		age := func(r *simRow) time.Duration { return w.now.Sub(r.sentAt) }
		for _, r := range w.rows {
			if r.sent && r.at == at && consumed < math.MaxInt64 && age(r) > sendAgain {
				r.sent = false
			}
		}
		w.rows = slices.DeleteFunc(w.rows, func(r *simRow) bool {
			gone := r.sent && r.at == at && age(r) > keepSent && r.offset < consumed
			if gone && w.ahead {
				w.pruned = append(w.pruned, string(r.Value))
			}
			return gone
		})
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
		if s := p.partitions[at]; s != nil && s.state == held {
			p.w.Fatalf("a message is sent to %v, which is held: %s", at, p.w)
		}
		placed[i] = Placed{Partition: at.Number, Of: of, Err: failed[at]}
		if l.down {
			placed[i].Err = errAway
		}
		if placed[i].Err == nil {
			placed[i].Offset = l.end
			p.w.append(l, m)
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
