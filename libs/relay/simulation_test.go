package relay

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	set("rapid.nofailfile", "true") // decisions that change draw otherwise, so the history itself is what is kept
	if n := os.Getenv("SIMULATE"); n != "" {
		set("rapid.checks", n)
	} else {
		set("rapid.checks", histories)
		set("rapid.seed", seed)
	}
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, func(_ string, from []string) int { return rapid.IntRange(0, len(from)-1).Draw(t, "choice") })
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			w.happens(rapid.SampledFrom(happenings).Draw(t, "what"))
		}
		w.settle()
		w.compare()
	})
}

// A history that has failed once is stored in testdata, as the failure printed it: a line for each thing that happened, and what was chosen in it.
// Where a line says nothing the first choice is made.
func TestHistoriesThatHaveFailedOncePass(t *testing.T) {
	files, err := filepath.Glob("testdata/*.history")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".history"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			var chosen []string
			w := newWorld(t, func(what string, from []string) int {
				i := slices.IndexFunc(chosen, func(c string) bool { return strings.HasPrefix(c, what+" ") })
				if i < 0 {
					return 0
				}
				c := strings.TrimPrefix(chosen[i], what+" ")
				require.Contains(t, from, c)
				chosen = slices.Delete(chosen, i, i+1)
				return slices.Index(from, c)
			})
			for line := range strings.Lines(string(text)) {
				what, choices, _ := strings.Cut(strings.TrimSpace(line), ": ")
				if chosen = strings.Split(choices, ", "); what == settling {
					break
				}
				require.Contains(t, happenings, what)
				w.happens(what)
			}
			w.settle()
			w.compare()
		})
	}
}

// settling is what a history says of its end.
const settling = "settle"

// choose returns the index of what the history chooses.
func (w *world) choose(what string, from []string) int {
	i := w.chosen(what, from)
	w.history[len(w.history)-1] = append(w.history[len(w.history)-1], what+" "+from[i])
	return i
}

var numbers = strings.Split("0 1 2 3 4 5 6 7 8 9", " ")

// upTo chooses a number.
func (w *world) upTo(most int, what string) int { return w.choose(what, numbers[:most+1]) }

func (w *world) whether(what string) bool { return w.choose(what, []string{"no", "yes"}) == 1 }

func (w *world) key() string { return keys[w.choose("key", keys)] }

func (w *world) partition(of []Partition) Partition {
	names := make([]string, len(of))
	for i, p := range of {
		names[i] = fmt.Sprint(p.Topic, "/", p.Number)
	}
	return of[w.choose("partition", names)]
}

// happenings are drawn evenly; a relay's step stands there several times.
var happenings = []string{"commit", "commit", "commit", "step", "step", "step", "step", "step", "step", "round", "round", "consume", "consume",
	"others", "crash", "freeze", "late", "minutes", "days", "down", "failover", "cut", "cut", "power", "anew", "emptied", "backup", "restore", "flicker", "overtaken", "put back"}

// world is everything that lasts longer than a process.
type world struct {
	failing interface{ Fatalf(string, ...any) }
	chosen  func(what string, from []string) int
	history [][]string // what happened, and what was chosen in it
	now     time.Time
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
	position map[Partition]stand
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
	repairing map[Partition]bool // some rows of a loss wait again, and some do not yet
	lost      map[string]int64   // topics whose state has to be published, and since when
	versions  map[string]int64
}

type simRow struct {
	db.Message
	seq    int64
	sent   bool
	sentAt time.Time
	at     place
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

// stand is the reader's position, and the message in front of it.
type stand struct {
	next int64
	uid  int
}

func newWorld(t interface{ Fatalf(string, ...any) }, chosen func(string, []string) int) *world {
	w := &world{failing: t, chosen: chosen, now: time.Unix(1_800_000_000, 0), log: map[Partition]*simLog{}, copy: map[string]int64{}, position: map[Partition]stand{}, group: map[Partition]int64{}}
	w.tables = tables{published: map[Partition]own{}, repairing: map[Partition]bool{}, lost: map[string]int64{}, versions: map[string]int64{}}
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
	w.history = append(w.history, []string{what})
	w.now = w.now.Add(firstHold / 3)
	some := func() *process { return w.relays[w.upTo(1, "relay")] }
	somewhere := func() Partition { return w.partition(partitions) }
	switch what {
	case "commit":
		w.commit(w.key(), w.whether("command"))
	case "step":
		some().step()
	case "round":
		some().round()
	case "consume":
		w.consume(1 + w.upTo(4, "more"))
	case "crash":
		w.crash(w.upTo(1, "relay"))
	case "others": // publish on the topics that are not this service's
		at := w.partition(partitions[2:])
		if l := w.log[at]; !l.down {
			w.append(l, db.Message{Topic: at.Topic, Key: "other", Value: []byte("theirs")})
		}
	case "freeze": // and its claim ends, while it believes to have it
		w.now = w.now.Add(claimLasts + time.Second)
	case "late": // it freezes between its claim and its messages, another one takes over, and it dies before it can repair anything
		i := w.upTo(1, "relay")
		w.untilAppending(i)
		w.commit(w.key(), false)
		for range 4 {
			w.relays[1-i].round()
		}
		if w.relays[i].step(); w.whether("dies") {
			w.crash(i)
		}
		if w.whether("goes on") {
			w.commit(w.key(), false)
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
		w.commit(w.key(), at.Topic == commands)
		for range 3 {
			p.round()
		}
		w.cut(at)
		l.down = false
		p.round()
	case "overtaken": // one freezes between its claim and its messages, and appends them between those of another one and their verification
		i := w.upTo(1, "relay")
		w.untilAppending(i)
		w.commit(w.key(), false)
		w.outages++
		w.untilAppending(1 - i)
		w.relays[1-i].step()
		w.relays[i].step()
		w.crash(i)
		w.relays[1-i].round()
	case "put back": // one freezes between its claim and its commands, and appends them when the log has lost some that another one has sent
		i := w.upTo(1, "relay")
		w.commit(w.key(), true)
		for range 4 {
			w.relays[1-i].round()
		}
		w.commit(w.key(), true)
		w.untilAppending(i)
		for range 4 {
			w.relays[1-i].round()
		}
		w.cut(partitions[3])
		w.relays[i].step()
	case "flicker": // a broker that lags leads the partition while a relay appends to it, and is gone before that is verified
		at, p := somewhere(), some()
		w.commit(w.key(), at.Topic == commands)
		for range 2 {
			p.round()
		}
		w.commit(w.key(), at.Topic == commands)
		p.step()
		w.cut(at)
		p.step()
		w.log[at].down, w.outages = true, w.outages+1
		p.round()
		w.log[at].down = false
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

// untilAppending lets a relay go on until it is about to append, as a rule, and freeze there until its claim is over.
func (w *world) untilAppending(i int) {
	for w.relays[i].step(); len(w.relays[i].steps) > 1; {
		w.relays[i].step()
	}
	w.now = w.now.Add(claimLasts + time.Second)
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
	w.now = w.now.Add(time.Millisecond) // nothing is appended twice in one
	l.messages = append(l.messages, simMessage{Stored{Message: m, Offset: l.end, At: w.now}, w.uid})
	l.end++
}

// cut loses the newest messages of a partition. Others may publish in their places.
func (w *world) cut(p Partition) {
	l := w.log[p]
	if !l.down {
		w.outages++
	}
	if n := min(w.upTo(4, "messages"), len(l.messages)); n > 0 {
		l.end = l.messages[len(l.messages)-n].Offset
		l.messages = l.messages[:len(l.messages)-n]
		l.first = min(l.first, l.end)
		w.lossy = true
	}
	w.ahead = w.ahead || p.Topic == commands && w.group[p] > l.end
	if !owned(p.Topic, schema) {
		for range w.upTo(5, "others") {
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
	x.published, x.repairing, x.lost, x.versions = maps.Clone(x.published), maps.Clone(x.repairing), maps.Clone(x.lost), maps.Clone(x.versions)
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
	w.published, w.repairing, w.lost, w.holder, w.until = map[Partition]own{}, map[Partition]bool{}, map[string]int64{}, nil, time.Time{}
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
			at = stand{}
		}
		n := 0
		for _, m := range l.messages {
			if m.Offset < at.next || n == most {
				continue
			}
			n++
			at = stand{m.Offset + 1, m.uid}
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
	w.history = append(w.history, []string{settling})
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
			w.fail("the relay never comes to an end")
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
		w.fail("the copy has %v of %v", w.copy, w.versions)
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
		w.fail("the log ends with %v of %v", last, w.versions)
	}
	for _, id := range w.committed {
		if !slices.Contains(w.handled, id) && !slices.Contains(w.pruned, id) {
			w.fail("the command %s was never handled", id)
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
			w.fail("the commands about %s were %v and are handled as %v", key, of(w.committed), of(w.handled))
		}
	}
}

// fail ends the history, and shows it as testdata keeps it.
func (w *world) fail(format string, args ...any) {
	w.failing.Fatalf("%s: %s", fmt.Sprintf(format, args...), w)
}

func (w *world) String() string {
	var b strings.Builder
	for _, h := range w.history {
		what := h[0]
		if len(h) > 1 {
			what += ": " + strings.Join(h[1:], ", ")
		}
		fmt.Fprint(&b, "\n", what)
	}
	for _, r := range w.rows {
		fmt.Fprintf(&b, "\nrow %d %s/%s=%s sent %v at %v:%d", r.seq, r.Topic, r.Key, r.Value, r.sent, r.at.Partition, r.at.Offset)
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
	plan.whole = plan.whole || due
	if plan = p.begun(plan, published); p.verifies(plan) {
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
	p.over(p.w.holder == p, nil)
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
					r.sent, r.sentAt, r.at = true, w.now, placeOf(x)
				}
			}
		}
		last, _ := newestOf(sent)
		for at, x := range last {
			if old, there := w.published[at]; !there || old.Offset < x.placed.Offset {
				w.published[at] = own{place: placeOf(x), Digest: x.Digest(), SentAt: w.now, next: old.next}
			}
		}
	}
	p.over(mine, rows)
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
	r, left := repaired{tails: map[Partition]int64{}}, simSlices
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
			repaired := func(done bool, err error) {
				if err != nil {
					p.hold(at, w.now)
					return
				}
				if !done {
					p.unfinished(at, w.now)
					return
				}
				p.verified(at)
				if r.settled = append(r.settled, at); f.missing {
					r.lost = append(r.lost, at)
				}
				if len(f.tail) > 0 {
					r.tails[at] = f.newest.Offset
				}
			}
			p.then(func() {
				switch {
				case f.missing:
					p.sendLostAgain(x, &left, repaired)
				case sent:
					repaired(true, p.settle(x, f))
				default:
					repaired(true, nil)
				}
			})
		})
	}
	p.then(append(steps, func() {
		p.checked(plan, connections)
		r.settled = r.settledIf(w.holder == p)
		then(r)
	}, func() { w.publishLost() }, func() {
		consumed := maps.Clone(w.group)
		p.then(func() { w.prune(r.settled, consumed) })
	})...)
}

// move is the statement's: nothing moves if another process has moved it.
func (w *world) move(from own, to *own) error {
	switch x, there := w.published[from.Partition]; {
	case !there || x.place != from.place || !bytes.Equal(x.Digest, from.Digest):
		return errMoved
	case to == nil:
		delete(w.published, from.Partition)
	default:
		w.published[from.Partition] = *to
	}
	return nil
}

func (p *process) settle(published own, f finding) error {
	w, tail := p.w, []db.Message{}
	for _, m := range f.tail {
		tail = append(tail, m.Message)
	}
	w.sendNewestAgain(tail)
	if f.newest.Offset == published.Offset {
		return nil
	}
	return w.whileMine(p, func() error { return w.move(published, &f.newest) })
}

// sendLostAgain lets the rows of a loss wait again, in as many slices as are left to the round, each of them a step.
func (p *process) sendLostAgain(published own, left *int, then func(done bool, err error)) {
	w := p.w
	next := func(published own) {
		p.then(func() { p.sendLostAgain(published, left, then) })
	}
	if published.next == nil {
		first, err := p.firstLost(published)
		if err == nil {
			err = w.whileMine(p, func() error { return w.move(published, &first) })
		}
		if err != nil {
			then(false, err)
			return
		}
		next(first)
		return
	}
	if *left == 0 {
		then(false, nil)
		return
	}
	*left--
	var done bool
	if err := w.whileMine(p, func() (err error) { done, err = w.slice(&published); return err }); err != nil || done || *left == 0 {
		then(done, err)
		return
	}
	next(published)
}

func (w *world) whileMine(p *process, f func() error) error {
	if w.holder != p {
		return errMoved
	}
	return f()
}

// sent are the rows that were sent to a partition and are kept, in their order.
func (w *world) sent(at Partition) (all []*simRow) {
	for _, r := range w.rows {
		if r.sent && r.at.Partition == at {
			all = append(all, r)
		}
	}
	slices.SortStableFunc(all, func(a, b *simRow) int { return a.since().compare(b.since()) })
	return all
}

func (r *simRow) since() since { return since{r.sentAt, r.at.Offset} }

func (r *simRow) own() own { return own{place: r.at, Digest: r.Digest(), SentAt: r.sentAt} }

func (s since) compare(b since) int {
	return cmp.Or(s.SentAt.Compare(b.SentAt), cmp.Compare(s.Offset, b.Offset))
}

func (p *process) firstLost(published own) (own, error) {
	w, at := p.w, published.Partition
	rows := map[since]*simRow{}
	bounds, _ := p.Bounds(context.Background(), []Partition{at})
	first, err := firstMissing(published.SentAt, func(from time.Time) (group []since, err error) {
		for _, r := range w.sent(at) {
			if !r.sentAt.Before(from) && (len(group) == 0 || r.sentAt.Equal(group[0].SentAt)) {
				group, rows[r.since()] = append(group, r.since()), r
			}
		}
		return group, nil
	}, func(s since) (bool, error) {
		x := rows[s].own()
		x.SentAt = w.now
		return stands(context.Background(), p, x, bounds[at], w.now)
	})
	if first != nil {
		published = rows[*first].own()
	}
	published.next = &since{published.SentAt, published.Offset}
	return published, err
}

// simSlice is how many rows wait again in a step, and simSlices how many steps of that a round has time for.
const simSlice, simSlices = 1, 2

// slice is what a transaction does: rows wait again, and published moves.
func (w *world) slice(published *own) (done bool, err error) {
	at, was := published.Partition, *published
	w.repairing[at] = true
	n := 0
	var last *own
	published.next = nil
	for _, r := range w.sent(at) {
		switch s := r.since(); {
		case s.compare(since{was.SentAt, was.Offset}) < 0:
			x := r.own()
			last = &x
		case s.compare(*was.next) < 0:
		case n == simSlice:
			published.next = &s
			return false, w.move(was, published)
		default:
			r.sent = false
			n++
		}
	}
	delete(w.repairing, at)
	if repairOf(last == nil, proto.TopicNamed(at.Topic)) == publishing {
		w.lose(at.Topic)
	}
	return true, w.move(was, last)
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
			if !sent || l.down || x.next != nil {
				continue
			}
			if still, err := stands(context.Background(), w.process(), x, Bounds{l.first, l.end}, w.now); err != nil || !still {
				continue
			}
		}
		age := func(r *simRow) time.Duration { return w.now.Sub(r.sentAt) }
		for _, r := range w.rows {
			if r.sent && r.at.Partition == at && consumed < math.MaxInt64 && age(r) > sendAgain {
				r.sent = false
			}
		}
		w.rows = slices.DeleteFunc(w.rows, func(r *simRow) bool {
			gone := r.sent && r.at.Partition == at && age(r) > keepSent && r.at.Offset < consumed
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
			p.w.fail("a message is sent to %v, which is held", at)
		}
		if p.w.holder == p && p.w.repairing[at] {
			p.w.fail("a message is sent to %v while rows of a loss do not wait yet", at)
		}
		placed[i] = Placed{Partition: at.Number, Of: of, Err: failed[at]}
		if l.down {
			placed[i].Err = errAway
		}
		if placed[i].Err == nil {
			placed[i].Offset = l.end
			p.w.append(l, m)
			placed[i].At = p.w.now
			if p.w.upTo(9, "answer") == 9 {
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

func placeOf(x *row) place { return place{x.partition(), x.placed.Offset, x.placed.At} }
