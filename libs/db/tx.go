package db

import (
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"frontdesk/libs/change"
	"frontdesk/libs/erasure"
)

// Tx is one unit of work: a transaction, who does it and when.
type Tx struct {
	pgx.Tx
	Who Actor
	// Now is the time of the transaction, UTC, whole seconds as the interface shows them.
	Now time.Time
	// Began is when the unit of work began, before its first attempt, by this process's own clock. Whatever the process read
	// from the database later holds all that its caller had been told of before.
	Began time.Time
	// History reports that the event that this transaction applies is no news, see bus.Event.History. Mail then sends nothing,
	// and Emit marks everything as state: effects of history are history, too.
	History bool
	// Moments are the texts in mails that say when the transaction runs, or a time that follows from it. A rehearsal does not compare them.
	Moments []string
	// Explain turns an error of the commit, and of the statements deferred to it, into what callers are told.
	Explain func(error) error

	secret []byte
	hash   erasure.Hasher
	appOff bool
	// waiting are the rows for the outbox. They go in together, right before the commit.
	waiting []Message
	// ended are the records, and forgotten the rows, whose messages of earlier transactions are deleted right before that.
	ended     []Message
	forgotten []storedMessage
	deferred  pgx.Batch
	committed []func()
	assumed   []assumed
	disproved []Assumption
	relaxed   bool
	changed   change.Set // of the next audit entry
	was       change.Set // beside them, see Was
	steps     []Step
	undid     bool // a step is taken back
	touched   map[string]Versions
	expects   expected
	compared  bool
	present   int64 // of the record, once it was compared
}

// Defer queues a statement for the commit's round trip, before the outbox rows and the checks of assumptions. Its error
// becomes the commit's.
func (tx *Tx) Defer(sql string, args ...any) { tx.deferred.Queue(sql, args...) }

// AfterCommit runs f once the commit has succeeded, and never for a run that is rolled back. It is for what the process
// remembers of the transaction; f must not block.
func (tx *Tx) AfterCommit(f func()) { tx.committed = append(tx.committed, f) }

// Changed adds to the next audit entry of the transaction the fields that changed, with their old and new values. Values are those
// that REST shows, never a secret.
func (tx *Tx) Changed(s change.Set) {
	if tx.changed == nil {
		tx.changed = change.Set{}
	}
	maps.Copy(tx.changed, s)
}

// ChangedFrom is Changed with the differences between two versions of a record, as REST shows them.
func (tx *Tx) ChangedFrom(old, new any) error {
	s, err := change.Between(old, new)
	tx.Changed(s)
	return err
}

// Relax makes the commit return before it is on disk. It is for work that is repeated when a crash loses it. It has no effect
// on a transaction that emits, because the relay must not send what a crash may lose.
func (tx *Tx) Relax() { tx.relaxed = true }

// Assume lets the work go on as if condition, a boolean SQL expression over args ($1, $2, …), were true. The condition
// is checked in the round trip of the commit, behind all that was deferred. An error of the work is believed only when
// the condition holds, or when the error came from a statement, after which the transaction takes no other. If the
// condition does not hold, everything is rolled back and Do runs the work again, with Trusts(name) false.
func (tx *Tx) Assume(name Assumption, condition string, args ...any) {
	tx.assumed = append(tx.assumed, assumed{name, condition, args})
}

// Trusts reports whether the work may assume name: true until an earlier run of the same work found it wrong.
func (tx *Tx) Trusts(name Assumption) bool { return !slices.Contains(tx.disproved, name) }
