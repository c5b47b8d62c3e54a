package directory

import (
	"context"
	"time"
)

// Age makes the newest copy older.
func (r *Replica) Age(by time.Duration) {
	c := *r.newest.Load()
	c.taken = c.taken.Add(-by)
	r.newest.Store(&c)
}

// Spoil puts other records into the newest copy, behind the back of the one who keeps it up.
func (r *Replica) Spoil(gone []Key, records []record) {
	c := *r.newest.Load()
	c.Directory = c.With(gone, records)
	r.newest.Store(&c)
}

// Compare compares the newest copy with the table, a chunk at a time, and answers how many differences it repaired. Nobody
// keeps the replica up meanwhile.
func (r *Replica) Compare(ctx context.Context) (differences int64, err error) {
	before := r.repaired.Load()
	for begun := false; !begun || r.came != first; begun = true {
		next, _, err := r.catchUp(ctx, r.newest.Load(), true)
		if err != nil {
			return 0, err
		}
		r.publish(next)
	}
	return r.repaired.Load() - before, nil
}

// Load loads the contacts. Nobody keeps the replica up meanwhile.
func (r *Replica) Load(ctx context.Context) { r.load(ctx) }

// Applied is how many changes were read.
func (r *Replica) Applied() int64 { return r.applied.Load() }

// InSlicesOf has loads read so many contacts at a time.
func (r *Replica) InSlicesOf(n int) { r.slice = n }

// Forget has the next KeepUp load all contacts. Nobody keeps the replica up meanwhile.
func (r *Replica) Forget() {
	r.drop()
	r.loaded.Store(false)
}

// Records are all records of the directory.
func (d *Directory) Records() []record {
	records, _, _ := d.part(first, len(d.chunks))
	for i := range records {
		records[i].Labels = sorted(records[i].Labels)
	}
	return records
}

// Server is the server of the copy.
func (c *Copy) Server() string { return c.server }

// Wait is how a unit of work waits.
func (r *Replica) Wait(ctx context.Context) error { return r.wait(ctx) }

// Owner is the kind of OwnerLabel.
const Owner = owner

// Record is a contact as a directory holds it.
type Record = record
