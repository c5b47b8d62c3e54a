package bus

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"
)

const (
	// heartbeat is how often a replica asks the group whether another one has joined or left. So it bounds how long the
	// partitions of a replica that leaves wait, and how long a replica that joins waits for its own.
	heartbeat = 300 * time.Millisecond
	// sessionTimeout is the silence after which the group gives the partitions of a replica to the others. Brokers refuse less
	// than 6 s unless they are configured otherwise.
	sessionTimeout = 8 * time.Second
	// rebalanceTimeout is how long the group waits for its members when one joins or leaves.
	rebalanceTimeout = 5 * time.Second
	// finishWithin bounds the transaction that runs when a partition has to be given up. It is less than rebalanceTimeout.
	finishWithin = 3 * time.Second
	// leaveWithin bounds how long a stop waits for the group, whose brokers may be gone.
	leaveWithin = finishWithin + 3*time.Second
	// commitEvery is how often the positions are committed to the group. The embedded broker syncs its disk for each partition of
	// a commit, which takes 1 to 3 ms.
	commitEvery = 2 * time.Second
	// watchEvery is how often the leader of the group looks for partitions that it has not dealt. The answer comes from a cache.
	watchEvery = 2 * time.Second
	// joinBackoff is the pause before joining again after an error.
	joinBackoff = 300 * time.Millisecond
)

// Run follows all topics until ctx ends, as one member of the service's consumer group. It goes on after outages of brokers and
// databases. When it returns, no handler runs any more: the transaction that ran when ctx ended has had a few seconds to commit.
func (c *Consumer) Run(ctx context.Context) {
	c.prepare()
	defer c.observe()()
	dealt := &dealer{Consumer: c}
	dealt.anew.Store(true)
	group, err := kafka.NewConsumerGroup(kafka.ConsumerGroupConfig{
		ID:                c.DB.Schema,
		Brokers:           c.Bus.brokers,
		Topics:            c.topics(),
		Dialer:            c.Bus.login.Dialer(c.Member, connectWithin),
		GroupBalancers:    []kafka.GroupBalancer{dealt},
		HeartbeatInterval: heartbeat,
		SessionTimeout:    sessionTimeout,
		RebalanceTimeout:  rebalanceTimeout,
		JoinGroupBackoff:  joinBackoff,
		Timeout:           3 * time.Second,
	})
	if err != nil {
		slog.ErrorContext(ctx, "consumer cannot start", "error", err)
		return
	}
	for {
		gen, err := group.Next(ctx)
		if ctx.Err() != nil {
			break
		}
		if errors.Is(err, kafka.RebalanceInProgress) {
			continue
		}
		if err != nil {
			slog.WarnContext(ctx, "consumer joins its group again", "error", err)
			dealt.anew.Store(true)
			continue
		}
		c.generations.Add(ctx, 1)
		leads := dealt.take(gen.MemberID)
		gen.Start(func(ended context.Context) {
			// This context ends with the generation, not with Run's: leaving the group ends the generation, and a generation that
			// ended before would join again.
			ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
			defer context.AfterFunc(ended, cancel)()
			c.generation(ctx, gen, leads)
		})
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		_ = group.Close()
	}()
	select {
	case <-left:
	case <-time.After(leaveWithin):
		slog.WarnContext(ctx, "consumer stopped without leaving its group")
	}
}

func (c *Consumer) topics() []string {
	topics := make([]string, len(c.Follows))
	for i, f := range c.Follows {
		topics[i] = f.Topic
	}
	return topics
}

// leave ends the membership that this replica lost with its connection. The group would wait for it for several seconds, which
// is all that an error costs.
func (c *Consumer) leave(ctx context.Context, member string) error {
	_, err := c.Bus.client.LeaveGroup(ctx, &kafka.LeaveGroupRequest{GroupID: c.DB.Schema, Members: []kafka.LeaveGroupRequestMember{{ID: member}}})
	return err
}

// replace ends the memberships of a killed process of this replica's name, like leave. It succeeds once at most in the life of
// a process: two replicas of one name would end each other's memberships again and again. While the group waits for its members
// to join, those of this name may be about to, and a dead one delays it by rebalanceTimeout only.
func (c *Consumer) replace(ctx context.Context) error {
	res, err := c.Bus.client.DescribeGroups(ctx, &kafka.DescribeGroupsRequest{GroupIDs: []string{c.DB.Schema}})
	if err != nil {
		return err
	}
	for _, g := range res.Groups {
		if g.Error != nil {
			return g.Error
		}
		if g.GroupState == "PreparingRebalance" {
			continue
		}
		for _, m := range g.Members {
			if m.ClientID == c.Member {
				_ = c.leave(ctx, m.MemberID)
			}
		}
	}
	return nil
}

// generation follows the partitions that the group assigned to this replica until ctx ends. leads is nil unless this replica
// has dealt the partitions; it ends the generation when there are others than those, so that they are dealt again.
func (c *Consumer) generation(ctx context.Context, gen *kafka.Generation, leads map[string]int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := newProgress(gen)
	var lines sync.WaitGroup
	for _, f := range c.Follows {
		assigned := gen.Assignments[f.Topic]
		n := min(len(assigned), AtOnce())
		for i := range n {
			l := &line{Consumer: c, follow: f, progress: p}
			for ; i < len(assigned); i += n {
				l.partitions = append(l.partitions, assigned[i].ID)
			}
			lines.Go(func() { l.run(ctx) })
		}
	}
	commit, watch := time.NewTicker(commitEvery), time.NewTicker(watchEvery)
	defer commit.Stop()
	defer watch.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-commit.C:
			p.commit(ctx, gen)
		case <-watch.C:
			if leads != nil && c.changed(ctx, leads) {
				cancel()
			}
		}
	}
	lines.Wait()
	p.commit(ctx, gen)
}

// changed reports whether the topics have other partitions than those that were dealt, by number per topic. Topics that only other members
// follow, which are of another version, are theirs to watch.
func (c *Consumer) changed(ctx context.Context, dealt map[string]int) bool {
	topics := c.topics()
	partitions, err := c.partitions(ctx, topics)
	own := maps.Clone(dealt)
	maps.DeleteFunc(own, func(topic string, _ int) bool { return !slices.Contains(topics, topic) })
	return err == nil && !maps.Equal(perTopic(partitions), own)
}

// partitions are those of the topics that exist.
func (c *Consumer) partitions(ctx context.Context, topics []string) ([]kafka.Partition, error) {
	res, err := c.Bus.client.Metadata(ctx, &kafka.MetadataRequest{Topics: topics})
	if err != nil {
		return nil, err
	}
	var partitions []kafka.Partition
	for _, t := range res.Topics {
		partitions = append(partitions, t.Partitions...)
	}
	return partitions, nil
}

func perTopic(partitions []kafka.Partition) map[string]int {
	n := map[string]int{}
	for _, p := range partitions {
		n[p.Topic]++
	}
	return n
}

// progress is how far the partitions of a generation are handled, and how far the group knows it.
type progress struct {
	mu              sync.Mutex
	next, committed map[string]offsets
}

func newProgress(gen *kafka.Generation) *progress {
	p := &progress{next: map[string]offsets{}, committed: map[string]offsets{}}
	for topic, assigned := range gen.Assignments {
		p.next[topic], p.committed[topic] = offsets{}, offsets{}
		for _, a := range assigned {
			p.committed[topic][a.ID] = a.Offset
		}
	}
	return p
}

func (p *progress) moved(topic string, to offsets) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.Copy(p.next[topic], to)
}

// commit writes the positions that have moved to the group. They are for tools and for the owners of commands: what is
// consumed next is decided by the table position alone, so a failed commit is repeated with the next one.
func (p *progress) commit(ctx context.Context, gen *kafka.Generation) {
	p.mu.Lock()
	news := map[string]map[int]int64{}
	for topic, next := range p.next {
		for partition, offset := range next {
			if p.committed[topic][partition] == offset {
				continue
			}
			if news[topic] == nil {
				news[topic] = map[int]int64{}
			}
			news[topic][partition] = offset
		}
	}
	p.mu.Unlock()
	if len(news) == 0 {
		return
	}
	if err := gen.CommitOffsets(news); err != nil {
		slog.DebugContext(ctx, "positions are committed again", "error", err)
		return
	}
	for topic, offsets := range news { // only this goroutine uses committed
		maps.Copy(p.committed[topic], offsets)
	}
}

// finishing is a context for a transaction that must not be cut off when ctx ends: it ends a few seconds later.
func finishing(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(finishWithin, cancel) })
	return work, func() { stop(); cancel() }
}

// dealer deals the partitions of all topics to the members of the group that follow them, as evenly as possible and equally
// for equal members. kafka-go calls it in the replica that leads the group.
type dealer struct {
	*Consumer
	// anew is set while this replica is no member: kafka-go forgets a membership after an error.
	anew atomic.Bool
	// replaced is set once the memberships of a killed process of this name were ended. Only the goroutine that joins uses it.
	replaced bool

	mu    sync.Mutex
	last  string         // the membership of the last generation
	dealt map[string]int // partitions per topic
}

func (d *dealer) ProtocolName() string { return "frontdesk" }

// UserData is what a member says about itself, which is nothing. kafka-go calls it right before it joins, so this is the time
// at which a former membership has to be gone.
func (d *dealer) UserData() ([]byte, error) {
	if !d.anew.Swap(false) {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	d.mu.Lock()
	last := d.last
	d.mu.Unlock()
	for range 2 { // the first request may use a connection of before an outage
		if last != "" && d.leave(ctx, last) == nil {
			break
		}
		if last == "" && (d.replaced || d.replace(ctx) == nil) {
			d.replaced = true
			break
		}
	}
	return nil, nil
}

// AssignGroups gives each partition to the member with the fewest. Partitions of a topic are dealt one after another, so each
// topic is spread evenly too.
func (d *dealer) AssignGroups(members []kafka.GroupMember, partitions []kafka.Partition) kafka.GroupMemberAssignments {
	if len(partitions) == 0 {
		// kafka-go passes no partition of any topic while one topic does not exist.
		partitions = d.existing(members)
	}
	members, partitions = slices.Clone(members), slices.Clone(partitions)
	slices.SortFunc(members, func(a, b kafka.GroupMember) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(partitions, func(a, b kafka.Partition) int { return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.ID, b.ID)) })
	out, sizes := kafka.GroupMemberAssignments{}, make([]int, len(members))
	for _, m := range members {
		out[m.ID] = map[string][]int{}
	}
	for _, p := range partitions {
		to := -1
		for i, m := range members {
			if slices.Contains(m.Topics, p.Topic) && (to < 0 || sizes[i] < sizes[to]) {
				to = i
			}
		}
		if to >= 0 {
			sizes[to]++
			mine := out[members[to].ID]
			mine[p.Topic] = append(mine[p.Topic], p.ID)
		}
	}
	d.mu.Lock()
	d.dealt = perTopic(partitions)
	d.mu.Unlock()
	return out
}

// existing are the partitions of the topics of all members that exist.
func (d *dealer) existing(members []kafka.GroupMember) []kafka.Partition {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	var topics []string
	for _, m := range members {
		topics = append(topics, m.Topics...)
	}
	slices.Sort(topics)
	partitions, err := d.partitions(ctx, slices.Compact(topics))
	if err != nil {
		slog.WarnContext(ctx, "partitions are dealt later", "error", err)
	}
	return partitions
}

// take returns the number of partitions per topic that were dealt since the last call, or nil if none were. member is the
// membership of the generation that begins.
func (d *dealer) take(member string) map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	dealt := d.dealt
	d.dealt, d.last = nil, member
	return dealt
}
