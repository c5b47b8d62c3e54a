package relay_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/libs/db"
	"frontdesk/libs/db/dbtest"
	"frontdesk/libs/relay"
	"frontdesk/libs/relay/relaytest"
	"frontdesk/proto"
)

// tell emits a bare message; its value says what it is.
func tell(t *testing.T, d *db.DB, topic, key, what string) {
	t.Helper()
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		return tx.EmitMessage(topic, key, &proto.Mail{Id: what})
	}))
}

// relaying runs a relay until stop.
func relaying(t *testing.T, r relay.Relay) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Run(ctx, func(err error) { t.Log(err) })
	}()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

func soon(t *testing.T, ok func() bool) {
	t.Helper()
	require.Eventually(t, ok, 20*time.Second, 5*time.Millisecond)
}

func waits(t *testing.T, d *db.DB) (n int) {
	t.Helper()
	require.NoError(t, d.Pool.QueryRow(t.Context(), `select count(*) from outbox where sent_at is null`).Scan(&n))
	return n
}

func partition(topic string) relay.Partition { return relay.Partition{Topic: topic} }

func TestAPartitionThatTakesNothingDelaysOnlyItself(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	var down atomic.Bool
	down.Store(true)
	stuck := relay.Partition{Topic: proto.ContactTopic, Number: db.PartitionOf("k0", 4)}
	log := &relaytest.Log{Partitions: 4, Refuse: func(p relay.Partition, _ db.Message) error {
		if down.Load() && p == stuck {
			return errors.New("no leader")
		}
		return nil
	}}
	relaying(t, relay.Relay{DB: d, Log: log})
	// More than a batch for the partition that is stuck.
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		for i := range 1200 {
			if err := tx.EmitMessage(stuck.Topic, "k0", &proto.Mail{Id: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}))
	for i := range 20 {
		tell(t, d, proto.AuditTopic, fmt.Sprint(i), "audit")
		tell(t, d, proto.ContactTopic, fmt.Sprint("k", i), "contact")
	}
	soon(t, func() bool {
		other := 0
		for p := range 4 {
			other += len(log.Messages(relay.Partition{Topic: proto.AuditTopic, Number: p}))
		}
		return other == 20 && len(log.Messages(relay.Partition{Topic: stuck.Topic, Number: (stuck.Number + 1) % 4})) > 0
	})
	require.Empty(t, log.Messages(stuck))
	down.Store(false)
	soon(t, func() bool { return waits(t, d) == 0 })
	next := 0
	for _, m := range log.Messages(stuck) {
		if m.Key == "k0" && next < 1200 {
			require.Contains(t, string(m.Value), fmt.Sprint(next), "in order, and once")
			next++
		}
	}
	require.Equal(t, 1200, next)
}

// Another process takes the claim after a flush has seen it free.
func TestAFlushWaitsForWhoTakesTheClaimBeforeIt(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	tell(t, d, proto.AuditTopic, "a", "waits")
	other, err := d.Pool.Begin(t.Context())
	require.NoError(t, err)
	defer other.Rollback(context.Background())
	_, err = other.Exec(t.Context(), `update relay set holder = gen_random_uuid(), until = clock_timestamp() + interval '10 s'`)
	require.NoError(t, err)

	log := &relaytest.Log{}
	flushed := make(chan error, 1)
	go func() { flushed <- (&relay.Relay{DB: d, Log: log}).Flush(context.WithoutCancel(t.Context())) }()
	soon(t, func() bool { return dbtest.Waiting(t, d) > 0 })
	require.NoError(t, other.Commit(t.Context()))
	select {
	case err := <-flushed:
		require.Fail(t, "the flush has ended", "%v, with %d rows that wait", err, waits(t, d))
	case <-time.After(300 * time.Millisecond):
	}
	_, err = d.Pool.Exec(t.Context(), `update relay set until = '-infinity'`)
	require.NoError(t, err)
	require.NoError(t, <-flushed)
	require.Zero(t, waits(t, d))
	require.Len(t, log.Messages(partition(proto.AuditTopic)), 1)
}

func TestWhoEndsRecordsNeverWaitsForTheRelayThatWaitsForThem(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	tell(t, d, proto.AuditTopic, "first", "waits")
	tell(t, d, proto.AuditTopic, "second", "waits")
	runs, flushed := 0, make(chan error, 1)
	require.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
		runs++
		tx.Tombstone(proto.AuditTopic, "second")
		if runs == 1 {
			go func() { flushed <- (&relay.Relay{DB: d, Log: log}).Flush(context.WithoutCancel(t.Context())) }()
			soon(t, func() bool { return len(flushed) > 0 || dbtest.Waiting(t, d) > 0 })
		}
		tx.Tombstone(proto.AuditTopic, "first")
		return nil
	}))
	require.Equal(t, 1, runs, "a deadlock is tried again, a second later")
	require.NoError(t, <-flushed)
	require.NoError(t, (&relay.Relay{DB: d, Log: log}).Flush(t.Context()))
	sent := log.Messages(partition(proto.AuditTopic))
	require.Len(t, sent, 4)
	require.Empty(t, append(sent[2].Value, sent[3].Value...), "what was sent before is followed by the tombstones")
}

// A test fails when PostgreSQL ends a deadlock in its database.
func TestRecordsEndInAnyOrderWhileTheyAreSentAndPruned(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	stop := relaying(t, relay.Relay{DB: d, Log: log})
	var tellers sync.WaitGroup
	for range 4 {
		tellers.Go(func() {
			for range 60 {
				keys := rand.Perm(30)
				assert.NoError(t, d.Do(t.Context(), func(tx *db.Tx) error {
					for _, key := range keys[:4] {
						tx.Tombstone(proto.AuditTopic, fmt.Sprint(key))
					}
					for _, key := range keys[4:] {
						if err := tx.EmitMessage(proto.AuditTopic, fmt.Sprint(key), &proto.Mail{Id: "told"}); err != nil {
							return err
						}
					}
					return nil
				}))
			}
		})
	}
	told := make(chan struct{})
	go func() { tellers.Wait(); close(told) }()
	for looking := true; looking; {
		select {
		case <-told:
			looking = false
		case <-time.After(5 * time.Millisecond):
			_, err := d.Pool.Exec(t.Context(), `update outbox set sent_at = sent_at - interval '1 hour' where seq in (select seq from outbox where sent_at is not null for update skip locked)`)
			require.NoError(t, err)
			_, err = d.Pool.Exec(t.Context(), `update relay set checked_at = '-infinity'`)
			require.NoError(t, err)
		}
	}
	soon(t, func() bool { return waits(t, d) == 0 })
	stop()
	sent := map[string]bool{}
	for _, m := range log.Messages(partition(proto.AuditTopic)) {
		sent[m.Key] = true
	}
	require.Len(t, sent, 30)
}

func TestASentRowStaysUntilItIsOldAndConsumed(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	stop := relaying(t, relay.Relay{DB: d, Log: log})
	tell(t, d, proto.AppsTopic, "apps", "record")
	tell(t, d, proto.AuditTopic, "a", "command")
	soon(t, func() bool { return waits(t, d) == 0 })
	stop()
	kept := func() (topics []string) {
		require.NoError(t, d.Pool.QueryRow(t.Context(), `select coalesce(array_agg(topic order by topic), '{}') from outbox`).Scan(&topics))
		return topics
	}
	require.Equal(t, []string{proto.AppsTopic, proto.AuditTopic}, kept())

	relaying(t, relay.Relay{DB: d, Log: log})()
	require.Len(t, kept(), 2, "not old yet")
	age := func(of string) {
		_, err := d.Pool.Exec(t.Context(), `update outbox set sent_at = now() - $1::interval where sent_at is not null`, of)
		require.NoError(t, err)
		_, err = d.Pool.Exec(t.Context(), `update relay set checked_at = '-infinity'`)
		require.NoError(t, err)
	}
	age("11 minutes")
	relaying(t, relay.Relay{DB: d, Log: log})
	soon(t, func() bool { return slices.Equal(kept(), []string{proto.AuditTopic}) })

	age("4 days")
	soon(t, func() bool { return len(log.Messages(partition(proto.AuditTopic))) == 2 && waits(t, d) == 0 })
	log.Commit("settings", partition(proto.AuditTopic), 2)
	age("11 minutes")
	soon(t, func() bool { return len(kept()) == 0 })
}

// Both were away for long. The reader is back first, and has passed the gap where the topic has dropped a command.
func TestAnOldCommandIsSentAgainThoughItsReaderIsBehindItsPlace(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	stop := relaying(t, relay.Relay{DB: d, Log: log})
	tell(t, d, proto.AuditTopic, "a", "command")
	soon(t, func() bool { return waits(t, d) == 0 })
	stop()
	log.Commit("settings", partition(proto.AuditTopic), 100)
	_, err := d.Pool.Exec(t.Context(), `update outbox set sent_at = now() - interval '8 days'`)
	require.NoError(t, err)
	relaying(t, relay.Relay{DB: d, Log: log})
	soon(t, func() bool { return len(log.Messages(partition(proto.AuditTopic))) == 2 })
}

// A relay whose claim has ended dies before it can repair what it has put behind newer messages, and another one sends on.
func TestAnOldMessageThatNobodyHasMarkedIsFollowedByTheNewestOfItsKey(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "settings", nil)
	log := &relaytest.Log{}
	relaying(t, relay.Relay{DB: d, Log: log})
	tell(t, d, proto.AppsTopic, "apps", "old")
	tell(t, d, proto.AppsTopic, "apps", "new")
	soon(t, func() bool { return waits(t, d) == 0 })
	log.Put(partition(proto.AppsTopic), log.Messages(partition(proto.AppsTopic))[0])
	tell(t, d, proto.AppsTopic, "other", "x")
	soon(t, func() bool { return strings.Join(log.Keys(proto.AppsTopic), " ") == "apps apps apps other apps" })
	require.Contains(t, string(log.Messages(partition(proto.AppsTopic))[4].Value), "new")
}

// The relay stood still for so long that the rows of the newer ones are no longer kept.
func TestAnOldMessageWhoseNewerOnesAreNotKeptIsFollowedByTheState(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "settings", nil)
	log := &relaytest.Log{}
	relaying(t, relay.Relay{DB: d, Log: log, PublishState: func(ctx context.Context, topic string) error {
		return d.Do(ctx, func(tx *db.Tx) error { return tx.EmitMessage(topic, "state", &proto.Mail{}) })
	}})
	tell(t, d, proto.AppsTopic, "apps", "old")
	tell(t, d, proto.AppsTopic, "apps", "new")
	soon(t, func() bool { return waits(t, d) == 0 })
	_, err := d.Pool.Exec(t.Context(), `delete from outbox`)
	require.NoError(t, err)
	log.Put(partition(proto.AppsTopic), log.Messages(partition(proto.AppsTopic))[0])
	_, err = d.Pool.Exec(t.Context(), `update relay set checked_at = '-infinity'`)
	require.NoError(t, err)
	soon(t, func() bool {
		return strings.Join(log.Keys(proto.AppsTopic), " ") == "apps apps apps state "+proto.StateKey
	})
}

func TestMessagesThatTheLogHasLostAreSentAgainInTheirOrder(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cut   int
		prune bool // the first five rows are no longer kept
		want  string
		state bool
	}{
		"the newest three":            {cut: 7, want: "0123456789 789~"},
		"all, with every row kept":    {cut: 0, want: "0123456789 0123456789S~", state: true},
		"more than what is kept":      {cut: 3, prune: true, want: "0123456789 56789S~", state: true},
		"as many as are kept":         {cut: 6, prune: true, want: "0123456789 6789~"},
		"nothing but the connections": {cut: 10, want: "0123456789 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dbtest.New(t, "settings", nil)
			publish := func(ctx context.Context, topic string) error {
				return d.Do(ctx, func(tx *db.Tx) error { return tx.EmitMessage(topic, "S", &proto.Mail{}) })
			}
			log := &relaytest.Log{}
			stop := relaying(t, relay.Relay{DB: d, Log: log, PublishState: publish})
			for i := range 10 {
				tell(t, d, proto.AppsTopic, fmt.Sprint(i), "x")
			}
			soon(t, func() bool { return waits(t, d) == 0 })
			stop()
			if c.prune {
				_, err := d.Pool.Exec(t.Context(), `delete from outbox where key < '5'`)
				require.NoError(t, err)
			}
			before := strings.Join(log.Keys(proto.AppsTopic), "")
			log.Cut(partition(proto.AppsTopic), c.cut)
			relaying(t, relay.Relay{DB: d, Log: log, PublishState: publish})
			want := strings.ReplaceAll(c.want, "~", proto.StateKey)
			all := func() string { return before + " " + strings.Join(log.Keys(proto.AppsTopic)[c.cut:], "") }
			soon(t, func() bool { return all() == want })
			time.Sleep(300 * time.Millisecond)
			require.Equal(t, want, all())
		})
	}
}

// slowly makes each row take a millisecond that is let wait again.
const slowly = `create function slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.001); return new; end $$;
	create trigger slowly before update on outbox for each row when (old.sent_at is not null and new.sent_at is null) execute function slowly()`

// One statement for all the rows would take longer than a round has.
func TestALossOfMoreRowsThanARoundHasTimeForIsRepairedSliceBySlice(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	on, entries, log := partition(proto.MailTopic), partition(proto.AuditTopic), &relaytest.Log{}
	const stand, all = 500, 5500
	sent := func(on relay.Partition, n int) {
		var last db.Message
		for i := range n {
			last = db.Message{Topic: on.Topic, Key: fmt.Sprint(i), Value: []byte("x")}
			log.Put(on, last)
		}
		_, err := d.Pool.Exec(t.Context(), `insert into outbox (topic, key, value, hash, partition, "offset", sent_at)
			select $1, n, 'x', 0, 0, n, now() - ($2 - n / 7) * interval '1 ms' from generate_series(0, $2 - 1) n`, on.Topic, n)
		require.NoError(t, err)
		_, err = d.Pool.Exec(t.Context(), `insert into published (topic, partition, "offset", digest, sent_at) select topic, partition, "offset", $1, sent_at from outbox order by seq desc limit 1`, last.Digest())
		require.NoError(t, err)
	}
	sent(on, all)
	sent(entries, 2)
	_, err := d.Pool.Exec(t.Context(), slowly)
	require.NoError(t, err)
	other := (&relay.Relay{DB: d, Log: &caller{Log: log}}).Sender()
	require.NoError(t, other.Round(t.Context()), "it has verified all, and notices nothing by its own connections")

	log.Cut(on, stand)
	log.Cut(entries, 0)
	for range 2 { // so that the next message does not show the loss by its place
		log.Put(entries, db.Message{Topic: entries.Topic, Key: "of another service"})
	}
	tell(t, d, on.Topic, "new", "x")
	tell(t, d, entries.Topic, "new", "x")
	tell(t, d, proto.AppsTopic, "elsewhere", "x")
	dies := (&relay.Relay{DB: d, Log: log}).Sender()
	require.NoError(t, dies.Round(t.Context()))
	began := waits(t, d)
	require.Greater(t, began, 2)
	require.Less(t, began, all-stand, "some rows do not wait yet")
	require.NoError(t, other.Round(t.Context()))
	require.Len(t, log.Keys(on.Topic), stand, "nothing overtakes them")
	require.Len(t, log.Keys(entries.Topic), 2, "nor those of a partition to which the first process did not come")
	require.Greater(t, waits(t, d), began, "it has gone on where the one before had come to")
	require.NoError(t, other.Round(t.Context()))
	require.Equal(t, []string{"elsewhere"}, log.Keys(proto.AppsTopic), "other partitions have their turn between")
	require.NoError(t, (&relay.Relay{DB: d, Log: log}).Flush(t.Context()))
	keys := log.Keys(on.Topic)
	require.Len(t, keys, all+1)
	for i, key := range keys[:all] {
		require.Equal(t, fmt.Sprint(i), key, "in their order, and once")
	}
	require.Equal(t, "new", keys[all])
	require.Equal(t, []string{"of another service", "of another service", "0", "1", "new"}, log.Keys(entries.Topic))
	require.NoError(t, (&relay.Relay{DB: d, Log: log}).Flush(t.Context()))
	require.Len(t, log.Keys(on.Topic), all+1)
}

func TestALossThatOnlyTheNextMessageShowsIsRepairedToo(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	relaying(t, relay.Relay{DB: d, Log: log})
	for i := range 5 {
		tell(t, d, proto.AuditTopic, fmt.Sprint(i), "x")
	}
	soon(t, func() bool { return waits(t, d) == 0 && len(log.Keys(proto.AuditTopic)) == 5 })
	log.Cut(partition(proto.AuditTopic), 2)
	tell(t, d, proto.AuditTopic, "5", "x")
	soon(t, func() bool { return strings.HasSuffix(strings.Join(log.Keys(proto.AuditTopic), ""), "2345") })
	require.Equal(t, "01", strings.Join(log.Keys(proto.AuditTopic)[:2], ""))
}

// caller is a process's own way to a log: it makes a new connection with its next batch, when the one before broke.
type caller struct {
	*relaytest.Log
	broken bool
	made   int64
}

func (c *caller) Append(ctx context.Context, batch []db.Message) []relay.Placed {
	if c.broken {
		c.broken, c.made = false, c.made+1
	}
	return c.Log.Append(ctx, batch)
}

func (c *caller) Connections() int64 { return c.made }

// A process sends over a connection that nobody has verified, and stands still. The log loses the message, and another process sends on over a
// connection of its own, by which the loss does not show.
func TestALossBehindWhatAnotherProcessHasVerifiedIsRepaired(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	first, second := &caller{Log: log}, &caller{Log: log}
	one, other := (&relay.Relay{DB: d, Log: first}).Sender(), (&relay.Relay{DB: d, Log: second}).Sender()
	rounds := func(of *relay.Sender, n int) {
		for range n {
			require.NoError(t, of.Round(t.Context()))
		}
	}
	for i := range 3 {
		tell(t, d, proto.AuditTopic, fmt.Sprint(i), "x")
	}
	rounds(one, 2)
	rounds(other, 1)
	tell(t, d, proto.AuditTopic, "3", "x")
	first.broken = true
	rounds(one, 1)
	require.Equal(t, "0123", strings.Join(log.Keys(proto.AuditTopic), ""))
	log.Cut(partition(proto.AuditTopic), 3)
	second.broken = true
	tell(t, d, proto.AuditTopic, "4", "x")
	rounds(other, 4)
	require.Equal(t, "012434", strings.Join(log.Keys(proto.AuditTopic), ""))
	require.Zero(t, waits(t, d))
}

// remade is a log of which a topic is made anew, and gets messages of others, when readers are asked how far they are.
type remade struct{ *relaytest.Log }

func (r remade) Committed(_ context.Context, _ string, of []relay.Partition) (map[relay.Partition]int64, error) {
	if len(r.Keys(of[0].Topic)) == 1 {
		r.Cut(of[0], 0)
		r.Put(of[0], db.Message{Topic: of[0].Topic, Key: "theirs"})
	}
	return map[relay.Partition]int64{of[0]: 1}, nil
}

func TestALossIsRepairedThoughTheNewestMessageIsPutBackAtItsVeryPlace(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	s, on := (&relay.Relay{DB: d, Log: log}).Sender(), partition(proto.AuditTopic)
	require.NoError(t, s.Round(t.Context()), "it verifies first")
	for _, key := range []string{"lost", "newest"} {
		tell(t, d, on.Topic, key, key)
		require.NoError(t, s.Round(t.Context()))
	}
	newest := log.Messages(on)[1]
	log.Cut(on, 0)
	log.Put(on, db.Message{Topic: on.Topic, Key: "of another service"})
	log.Put(on, newest) // by a relay whose claim has ended
	for range 2 {
		require.NoError(t, s.Round(t.Context()))
	}
	require.Equal(t, []string{"of another service", "newest", "lost", "newest"}, log.Keys(on.Topic))
}

func TestWhatReadersConsumedInThePlaceOfALostMessageDeletesNoRow(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := remade{&relaytest.Log{}}
	sender := (&relay.Relay{DB: d, Log: log}).Sender()
	tell(t, d, proto.AuditTopic, "ours", "x")
	require.NoError(t, sender.Round(t.Context()))
	require.NoError(t, sender.Round(t.Context()))
	_, err := d.Pool.Exec(t.Context(), `update outbox set sent_at = now() - interval '11 minutes'`)
	require.NoError(t, err)
	relaying(t, relay.Relay{DB: d, Log: log})
	soon(t, func() bool { return slices.Contains(log.Keys(proto.AuditTopic), "theirs") })
	_, err = d.Pool.Exec(t.Context(), `update relay set checked_at = '-infinity'`)
	require.NoError(t, err)
	soon(t, func() bool { return slices.Equal(log.Keys(proto.AuditTopic), []string{"theirs", "ours"}) })
}

func TestAFlushFailsWhileAMessageWaitsForAPartitionThatCannotBeVerified(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "settings", nil)
	log := &blind{Log: &relaytest.Log{}, to: partition(proto.AppsTopic)}
	r := &relay.Relay{DB: d, Log: log}
	tell(t, d, proto.AppsTopic, "a", "x")
	require.NoError(t, r.Flush(t.Context()))
	log.yes.Store(true)
	require.NoError(t, r.Flush(t.Context()), "nothing waits")
	tell(t, d, proto.AppsTopic, "b", "x")
	require.ErrorContains(t, r.Flush(t.Context()), "1 messages wait")
	log.yes.Store(false)
	require.NoError(t, r.Flush(t.Context()))
	require.Equal(t, []string{"a", "b"}, log.Keys(proto.AppsTopic))
}

// blind is a log of which one partition cannot be read.
type blind struct {
	*relaytest.Log
	to  relay.Partition
	yes atomic.Bool
}

func (b *blind) Read(ctx context.Context, p relay.Partition, from int64, n int) ([]relay.Stored, error) {
	if b.yes.Load() && p == b.to {
		return nil, errors.New("no leader")
	}
	return b.Log.Read(ctx, p, from, n)
}

func TestAPartitionThatCannotBeReadHidesNoLossOfAnotherOne(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "settings", nil)
	log := &blind{Log: &relaytest.Log{}, to: partition(proto.AppsTopic)}
	stop := relaying(t, relay.Relay{DB: d, Log: log})
	for i := range 6 {
		tell(t, d, proto.AppsTopic, fmt.Sprint(i), "x")
		tell(t, d, proto.SiteTopic, fmt.Sprint(i), "x")
	}
	soon(t, func() bool { return waits(t, d) == 0 })
	stop()
	all := func(topic string) string { return strings.Join(log.Keys(topic), "") }
	// Its newest message cannot be compared.
	log.yes.Store(true)
	log.Cut(partition(proto.SiteTopic), 4)
	relaying(t, relay.Relay{DB: d, Log: log})
	soon(t, func() bool { return strings.HasPrefix(all(proto.SiteTopic), "012345") })
	// Its end shows that it has lost some, but not from where on.
	log.Cut(partition(proto.AppsTopic), 4)
	log.Cut(partition(proto.SiteTopic), 4)
	soon(t, func() bool { return strings.HasPrefix(all(proto.SiteTopic), "012345") })
	require.Equal(t, "0123", all(proto.AppsTopic))
	log.yes.Store(false)
	soon(t, func() bool { return strings.HasPrefix(all(proto.AppsTopic), "012345") })
}

func TestARelayWhoseClaimEndedPutsNothingOldBehindTheNew(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "settings", nil)
	log := &relaytest.Log{}
	tell(t, d, proto.AppsTopic, "apps", "old")
	thaw := make(chan struct{})
	// The first process freezes between its claim and its message. Another one takes over when the claim ends.
	frozen := &freezing{Log: log, until: thaw, frozen: make(chan struct{})}
	first := relaying(t, relay.Relay{DB: d, Log: frozen})
	<-frozen.frozen
	_, err := d.Pool.Exec(t.Context(), `update relay set until = '-infinity'`)
	require.NoError(t, err)
	relaying(t, relay.Relay{DB: d, Log: log})
	soon(t, func() bool { return waits(t, d) == 0 })
	tell(t, d, proto.AppsTopic, "apps", "new")
	soon(t, func() bool { return len(log.Keys(proto.AppsTopic)) == 2 })
	close(thaw)
	soon(t, func() bool { return len(log.Keys(proto.AppsTopic)) >= 4 })
	first()
	all := log.Messages(partition(proto.AppsTopic))
	require.Contains(t, string(all[2].Value), "old")
	require.Contains(t, string(all[len(all)-1].Value), "new")
}

// A process freezes while it verifies, for longer than rows are kept, and thaws when the log has lost what another one has sent since.
func TestAProcessWhoseClaimEndedWhileItVerifiedPrunesNothing(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	log := &relaytest.Log{}
	other := (&relay.Relay{DB: d, Log: log}).Sender()
	send := func(key string) {
		tell(t, d, proto.AppsTopic, key, key)
		for waits(t, d) > 0 {
			require.NoError(t, other.Round(t.Context()))
		}
	}
	send("first")
	thaw := make(chan struct{})
	frozen := &verifying{freezing{Log: log, until: thaw, frozen: make(chan struct{})}}
	relaying(t, relay.Relay{DB: d, Log: frozen})
	<-frozen.frozen
	_, err := d.Pool.Exec(t.Context(), `update relay set until = '-infinity'`)
	require.NoError(t, err)
	send("lost")
	_, err = d.Pool.Exec(t.Context(), `update outbox set sent_at = now() - interval '11 minutes'`)
	require.NoError(t, err)
	log.Cut(partition(proto.AppsTopic), 1)
	close(thaw)
	soon(t, func() bool { return slices.Equal([]string{"first", "lost"}, log.Keys(proto.AppsTopic)) })
}

// verifying freezes when it is asked for bounds first.
type verifying struct{ freezing }

func (v *verifying) Bounds(ctx context.Context, of []relay.Partition) (map[relay.Partition]relay.Bounds, error) {
	v.once.Do(func() { close(v.frozen); <-v.until })
	return v.Log.Bounds(ctx, of)
}

func (v *verifying) Append(ctx context.Context, batch []db.Message) []relay.Placed {
	return v.Log.Append(ctx, batch)
}

type freezing struct {
	*relaytest.Log
	until, frozen chan struct{}
	once          sync.Once
}

func (f *freezing) Append(ctx context.Context, batch []db.Message) []relay.Placed {
	f.once.Do(func() { close(f.frozen); <-f.until })
	return f.Log.Append(ctx, batch)
}

// crashing is a log in which a process dies at a random step between the commit of a change and its publication: before it
// sends, in the middle of a batch, after the batch and before it stores that. Answers get lost, and brokers lose messages.
type crashing struct {
	*relaytest.Log
	rand *rand.Rand
	left *atomic.Int64
	die  context.CancelFunc
}

var errDied = errors.New("the process has died")

func (c *crashing) Append(ctx context.Context, batch []db.Message) []relay.Placed {
	step := c.rand.IntN(5)
	if c.left.Add(-1) < 0 {
		step = 4
	}
	n := len(batch)
	switch step {
	case 0:
		n = 0
	case 1:
		n = c.rand.IntN(len(batch) + 1)
	}
	placed := c.Log.Append(ctx, batch[:n])
	for range len(batch) - n {
		placed = append(placed, relay.Placed{Partition: -1, Err: errDied})
	}
	if step < 4 {
		c.die()
	}
	if step == 2 || step == 3 {
		for i := range placed {
			placed[i].Err = errDied
		}
	}
	return placed
}

func TestOfAThousandCrashesBetweenCommitAndPublicationNoneLosesOrReordersAnything(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "desk", nil)
	seed := time.Now().UnixNano()
	t.Log("seed", seed)
	log := &relaytest.Log{Partitions: 3}
	var left atomic.Int64
	left.Store(1000)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for replica := range 2 {
		running.Go(func() {
			r := rand.New(rand.NewPCG(uint64(seed), uint64(replica)))
			for ctx.Err() == nil {
				alive, die := context.WithCancel(ctx)
				(&relay.Relay{DB: d, Log: &crashing{log, r, &left, die}}).Run(alive, func(error) {})
				die()
			}
		})
	}
	keys, emitted := 7, 0
	for left.Load() > 0 {
		tell(t, d, proto.ContactTopic, fmt.Sprint(emitted%keys), fmt.Sprintf("%06d", emitted))
		if emitted++; emitted%20 == 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	soon(t, func() bool { return waits(t, d) == 0 })
	first := map[string]bool{}
	last := map[string]int{}
	for p := range 3 {
		for _, m := range log.Messages(relay.Partition{Topic: proto.ContactTopic, Number: p}) {
			what := string(m.Value)
			if first[what] {
				continue
			}
			first[what] = true
			var n int
			_, err := fmt.Sscanf(what[len(what)-6:], "%d", &n)
			require.NoError(t, err)
			if before, ok := last[m.Key]; ok {
				require.Equal(t, before+keys, n, "the next one of key %s", m.Key)
			} else {
				require.Equal(t, m.Key, fmt.Sprint(n))
			}
			last[m.Key] = n
		}
	}
	require.Len(t, first, emitted, "each committed message is in the log")
}

// Each of the relay's statements finds its rows by an index, however many are kept. The repair has seconds for all that it reads.
func TestNoStatementOfTheRelayReadsAllThatIsKept(t *testing.T) {
	t.Parallel()
	d := dbtest.New(t, "settings", nil)
	_, err := d.Pool.Exec(t.Context(), `insert into outbox (topic, key, value, hash, partition, "offset", sent_at, appended_at)
		select $1, 'k' || n, '', n, n % 100, -n, now() - n * interval '1 ms', now() from generate_series(1, 20000) n`, proto.AppsTopic)
	require.NoError(t, err)
	_, err = d.Pool.Exec(t.Context(), `analyze outbox`)
	require.NoError(t, err)
	log := &relaytest.Log{}
	stop := relaying(t, relay.Relay{DB: d, Log: log})
	for i := range 6 {
		tell(t, d, proto.AppsTopic, fmt.Sprint(i), "x")
	}
	soon(t, func() bool { return waits(t, d) == 0 })
	log.Put(partition(proto.AppsTopic), log.Messages(partition(proto.AppsTopic))[0])
	tell(t, d, proto.AppsTopic, "6", "x")
	soon(t, func() bool { return slices.Equal(log.Keys(proto.AppsTopic), strings.Split("0 1 2 3 4 5 0 6 0", " ")) })
	log.Cut(partition(proto.AppsTopic), 8)
	soon(t, func() bool { return len(log.Keys(proto.AppsTopic)) > 8 && waits(t, d) == 0 })
	stop()
	planned := map[string]int{}
	connections := d.Pool.AcquireAllIdle(t.Context())
	for _, conn := range connections {
		defer conn.Release()
	}
	for _, conn := range connections {
		type prepared struct {
			Name, Statement string
			Parameters      int
		}
		all, err := db.Rows[prepared](t.Context(), conn, `select name, statement, cardinality(parameter_types) as parameters from pg_prepared_statements where statement ~ '(from|update) outbox'`)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `set plan_cache_mode = force_generic_plan`)
		require.NoError(t, err)
		for _, x := range all {
			execute := `explain execute ` + pgx.Identifier{x.Name}.Sanitize()
			if x.Parameters > 0 {
				execute += `(null` + strings.Repeat(`, null`, x.Parameters-1) + `)`
			}
			rows, err := conn.Query(t.Context(), execute, pgx.QueryExecModeSimpleProtocol)
			require.NoError(t, err)
			lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			plan := strings.Join(lines, "\n")
			require.NotContains(t, plan, "Seq Scan on outbox", x.Statement)
			require.NotRegexp(t, `Index Cond: \(\(topic = \$1\) AND \(partition = \$2\)\)\s+Filter`, plan, "reads the whole partition: %s", x.Statement)
			planned[x.Statement]++
		}
	}
	require.Greater(t, len(planned), 5)
}
