// Package relay sends what transactions have put into the outbox to the log, in the order of each key, and repairs the log where it lies. The
// log is Kafka; it may lose messages that it has acknowledged: a broker that did not flush loses its newest ones, a follower that lags
// becomes the leader, a topic is deleted and made anew, a data folder is emptied. The owner of the messages notices it by its newest message
// of each partition: the table published has its offset, its digest and the moment at which it was appended. The moment belongs to the place: a relay
// whose claim has ended may put a message back at the very offset that it had, behind others than before.
//
// # The life of an event
//
// libs/README.md has its steps, and what a crash over each leaves. A message may stand in the log several times, and its effect happens once. A row that was
// sent stays for ten minutes, and a command until its readers have consumed it. One that is older than half of what its topic keeps is sent again first: the
// topic may have dropped it.
//
// # The states of a partition
//
//		              took no message, or could not be verified
//		  ┌─────────┐ ───────────────────────────────────────────────▶ ┌──────┐ ◀──┐ the same,
//		  │ sending │                                                  │ held │ ───┘ for longer
//		  └─────────┘ ◀── took a message ── ┌──────┐ ◀── verified ──── └──────┘
//		       │                            │ open │ ── took none ───▶    │
//		       │                            └──────┘                      │
//		       │ verifying finds that the log has not what it acknowledged │
//		       └──────────────┬────────────────────────────────────────────┘
//		                      ▼
//		  ┌──────┐ none of the kept rows is there, and the topic has records ┌────────────┐
//		  │ lost │ ────────────────────────────────────────────────────────▶ │ publishing │
//		  └──────┘                                                           └────────────┘
//		      │ the rows from the first missing one wait again                  │ the same, and behind them the state of all
//		      ▼                                                                 ▼ records and the marker state.published
//		   sending                                                           sending
//
//	  - sending, held and open are what one process believes (machine.go); a process that starts believes that all are sending, and
//	    verifies the whole log before it sends anything.
//	  - lost stands in published.next_sent_at until all rows wait again that have to, and nothing is sent to the partition meanwhile. They are let wait in slices
//	    (repair.go), from the oldest on, each a transaction under the claim, and the other partitions have their turn between the rounds of it. The first
//	    transaction moves published back to the first row that the log has not, each slice the mark behind its rows, and the last one moves published back to the
//	    newest row that the log has. A crash in front of the first finds the loss once more; later, whoever claims next goes on at the mark.
//	  - publishing stands in the table lost_topic until the state is in the outbox. A crash repeats it; copies go by version.
//
// A partition is verified at the start, after each new connection (a broker that lost something was away), after a hold, and every half a
// minute. A batch during which a connection was made is marked only when all partitions are verified behind it. So published always is the newest message
// that any process has marked: if it stands in the log, so do all before it, whoever sent them. Where it does not, it falls back to the newest row that the log
// has, in the transaction that lets the last of the rest wait again.
//
// A round's verification counts only if its claim was the process's until its end: another process may have published more since, which this one did not
// compare. After a round whose claim had ended the process verifies the whole log anew before it sends anything.
//
// Nor is a batch marked while messages of an owned topic lie in front of it that nobody has marked: they may be old ones, of a relay whose claim had ended,
// or of one that did not get its answer. They are the tail; the newest message of each of their keys is sent again, so that the newest is the last, and the
// state is published where no row of the key is kept. If some of it lies behind the first message of the batch, the batch waits and is sent again.
//
// # The machine and its simulation
//
// machine.go decides and verify.go compares; neither reads a table or a clock. claim.go, repair.go, state.go and prune.go do what was decided,
// a statement for each step. simulation_test.go runs the same decisions through ten thousand histories of commits, steps, crashes, frozen
// processes, lost and deleted logs, compaction and backups, with two relays, and requires each event's effect once and in the order of its record.
// `make histories` draws others, a million of them. A history that fails is printed as testdata/*.history keep it: store it with the mend, so that it
// is run each time from then on. mutation_test.go takes the rules away one by one, and requires that the histories miss each.
//
// The simulation leaves out what no repair can mend: a command that stood in the log alone, because its owner went back to a backup, and that log was lost
// too; messages that an administrator deletes, unless the newest of the partition is among them and was sent within half of what the topic keeps; the order of
// commands of which a later one was handled while the log had lost an earlier one, where copies go by version; a command that went into the place of one that its
// reader had consumed and the log had lost, when the log loses it too before the reader is back; and an old manifest that a relay puts behind a newer one when its
// claim has ended, if the relay then ends before it repairs that: live readers refuse it by its stamp, and its service sends another one when it starts.
package relay
