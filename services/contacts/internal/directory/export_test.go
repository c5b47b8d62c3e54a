package directory

import "time"

// Age makes the newest copy older.
func (r *Replica) Age(by time.Duration) {
	c := *r.newest.Load()
	c.at = c.at.Add(-by)
	r.newest.Store(&c)
}

// Pretend puts a copy of the given snapshot in the place of the newest.
func (r *Replica) Pretend(snapshot string, records []Record) {
	r.newest.Store(&Copy{(&Directory{}).With(nil, records), snapshot, time.Now()})
}
