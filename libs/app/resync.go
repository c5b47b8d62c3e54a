package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/relay"
	"frontdesk/proto"
)

const (
	// resyncSlice is how many keys of a topic are compared in one transaction.
	resyncSlice = 1000
	// leavesWithin is how long a replica that was killed stays in the consumer group, with room.
	leavesWithin = 20 * time.Second
)

// resyncTopics brings a service whose schema went back to a backup together with its topics, while none of its replicas runs:
//
//   - Messages that the service has consumed since the backup are history. They are handled again, without mails and news.
//   - People who were erased since the backup are erased again, as far as the topics still say so.
//   - Records whose topic holds a newer version get a version above that one, and all records are published as state.
//   - Records that the topic holds and the schema does not know end in tombstones.
//   - What may have gone out already is cancelled: see Parts.Restored.
//
// It writes what it did to out, a line each. A second run changes nothing more. After an error it has to be run again before
// the service starts.
var resyncTopics = beside("resync", (*runner).build, func(ctx context.Context, r *runner, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	for _, t := range r.tables() {
		running.Go(func() { t.Run(ctx) })
	}
	for !r.copied() {
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	y := &resync{runner: r, out: out, consumer: &bus.Consumer{Bus: r.kit.Bus, DB: r.kit.DB, Follows: r.follows()}}
	// A contact may serve as an example: version 4 in the backup, 7 in the log, and erased since.
	for _, step := range []struct {
		name string
		run  func(context.Context) error
	}{
		// First, because a replica would send the outbox of the backup, and move the positions that are read here.
		{"wait for the replicas to end", y.alone},
		// Before anything is emitted, because what waits now may have been sent: 4 must not follow 7, and no mail goes out again.
		{"settle the outbox", y.settleOutbox},
		// Before any message is handled, because that moves what the group has committed.
		{"find what was consumed since the backup", y.consumer.TakeAsHistory},
		// Before anything is published, because it must find the 7 of the log and no number of the backup.
		{"read the own topics", y.readTopics},
		// Before anything changes a record, because copies ignore a 5: from here on it is 8. What ended for good ends here too.
		{"raise versions", y.raiseVersions},
		// Before history, because its handlers find what the service believes that it has still to do.
		{"cancel what may have gone out", y.cancel},
		// Before the state is published, because the erasure is in it: nothing below may hold the person any more.
		{"handle history", y.consumer.CatchUp},
		// After history, because that may make records: only now is it known which ones of the log the schema has not.
		{"end records that are gone", y.endUnknown},
		// Last of what is sent, because copies drop what is not among it, behind the marker.
		{"publish all records", y.publish},
		// At the end, because keys of people are in it, and a run that failed reads the topics anew.
		{"tidy up", y.forgetTopics},
	} {
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
	}
	return nil
})

type resync struct {
	*runner
	consumer *bus.Consumer
	out      io.Writer
}

func (y *resync) say(format string, args ...any) {
	fmt.Fprintf(y.out, y.Name+": "+format+"\n", args...)
}

// alone returns when no replica is in the consumer group. It fails if one stays.
func (y *resync) alone(ctx context.Context) error {
	for until := time.Now().Add(leavesWithin); ; {
		n, err := y.kit.Bus.Members(ctx, y.kit.DB.Schema)
		if err != nil || n == 0 {
			return err
		}
		if time.Now().After(until) {
			return fmt.Errorf("%d of %s still run: stop all of them first", n, y.Name)
		}
		db.Sleep(ctx, 200*time.Millisecond)
	}
}

func (y *resync) settleOutbox(ctx context.Context) error {
	mails, commands, err := relay.SettleRestored(ctx, y.kit.DB)
	if mails > 0 {
		y.say("%d mails that waited in the outbox are dropped, because they may have been sent since the backup", mails)
	}
	if commands > 0 {
		y.say("%d commands and notes to other services are sent again; they act on none twice", commands)
	}
	return err
}

// topics are those on which the service publishes records.
func (y *resync) topics() []string {
	var all []string
	for _, p := range y.parts.Published {
		if !slices.Contains(all, p.Topic) {
			all = append(all, p.Topic)
		}
	}
	return all
}

// readTopics stores the newest version and the last message of each key of the own topics in the table logged.
func (y *resync) readTopics(ctx context.Context) error {
	if err := y.forgetTopics(ctx); err != nil {
		return err
	}
	for _, topic := range y.topics() {
		seen := map[string]bus.Record{}
		flush := func() error {
			defer clear(seen)
			return y.storeLogged(ctx, topic, seen)
		}
		err := y.kit.Bus.Records(ctx, topic, func(r bus.Record) error {
			r.Version = max(r.Version, seen[r.Key].Version)
			if seen[r.Key] = r; len(seen) < resyncSlice {
				return nil
			}
			return flush()
		})
		if err == nil {
			err = flush()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (y *resync) storeLogged(ctx context.Context, topic string, seen map[string]bus.Record) error {
	b := &pgx.Batch{}
	for _, r := range seen {
		b.Queue(`insert into logged (topic, key, version, kind, at) values ($1, $2, $3, $4, $5) on conflict (topic, key)
			do update set version = greatest(logged.version, excluded.version), kind = excluded.kind, at = excluded.at`, topic, r.Key, r.Version, r.Kind, r.At)
	}
	return y.kit.DB.Pool.SendBatch(ctx, b).Close()
}

func (y *resync) forgetTopics(ctx context.Context) error {
	_, err := y.kit.DB.Pool.Exec(ctx, `truncate logged`)
	return err
}

// lastEvents are the kinds of events that stay in a topic for good, as the end of a record.
var lastEvents = []string{proto.KindContactErased, proto.KindContactMergedAway}

// eachLogged calls f in a transaction of its own for each slice of the keys in a topic.
func (y *resync) eachLogged(ctx context.Context, topic string, f func(tx *db.Tx, keys []logged) error) error {
	for after := ""; ; {
		var slice []logged
		err := y.kit.DB.Do(ctx, func(tx *db.Tx) (err error) {
			tx.History = true
			slice, err = db.Rows[logged](ctx, tx, `select key, version, kind from logged where topic = $1 and key > $2 order by key limit $3`, topic, after, resyncSlice)
			if err != nil || len(slice) == 0 {
				return err
			}
			return f(tx, slice)
		})
		if err != nil || len(slice) == 0 {
			return err
		}
		after = slice[len(slice)-1].Key
	}
}

// logged is a row of the table of the same name.
type logged struct {
	Key     string
	Version int64
	Kind    string
}

// raiseVersions gives records that are older than their topic the next version, ends those that must not come back, and lets
// identity columns go on behind every number that was given out.
func (y *resync) raiseVersions(ctx context.Context) error {
	for _, topic := range y.topics() {
		raised, ended := 0, 0
		err := y.eachLogged(ctx, topic, func(tx *db.Tx, keys []logged) error {
			versions, gone := map[string]int64{}, []string{}
			for _, k := range keys {
				versions[k.Key] = k.Version
				if k.Kind == "" {
					gone = append(gone, k.Key)
				}
			}
			for _, p := range recordsOf(topic, y.parts.Published) {
				n, err := p.raise(ctx, tx, versions)
				if err != nil {
					return err
				}
				raised += n
				if n, err = p.end(ctx, tx, gone); err != nil {
					return err
				}
				ended += n
				if err := p.skipNumbers(ctx, tx, versions); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if raised > 0 {
			y.say("%d records of %s go on above the versions that were published since the backup", raised, topic)
		}
		if ended > 0 {
			y.say("%d records of %s had ended since the backup, and end again", ended, topic)
		}
	}
	return nil
}

func (y *resync) cancel(ctx context.Context) error {
	if y.parts.Restored == nil {
		return nil
	}
	did, err := y.parts.Restored(ctx)
	for _, line := range did {
		y.say("%s", line)
	}
	return err
}

// endUnknown publishes tombstones for the keys that the topics hold and the schema does not know. What ended in a last event
// stays as it is.
func (y *resync) endUnknown(ctx context.Context) error {
	for _, topic := range y.topics() {
		ended := 0
		err := y.eachLogged(ctx, topic, func(tx *db.Tx, keys []logged) error {
			unknown := map[string]bool{}
			for _, k := range keys {
				if k.Kind != "" && k.Key != proto.StateKey && !slices.Contains(lastEvents, k.Kind) {
					unknown[k.Key] = true
				}
			}
			for _, p := range recordsOf(topic, y.parts.Published) {
				known, err := p.known(ctx, tx, unknown)
				if err != nil {
					return err
				}
				for _, key := range known {
					delete(unknown, key)
				}
			}
			for key := range unknown {
				tx.Tombstone(topic, key)
			}
			ended += len(unknown)
			return nil
		})
		if err != nil {
			return err
		}
		if ended > 0 {
			y.say("%d records of %s were made since the backup; they are gone, and end in tombstones", ended, topic)
		}
	}
	return y.flush(ctx)
}

func (y *resync) publish(ctx context.Context) error {
	for _, topic := range y.topics() {
		if err := y.publishState(ctx, topic); err != nil {
			return err
		}
		if err := y.flush(ctx); err != nil {
			return err
		}
	}
	if len(y.topics()) > 0 {
		y.say("all records are published again: %s", strings.Join(y.topics(), ", "))
	}
	return nil
}
