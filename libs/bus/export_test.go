package bus

import "time"

// Whole is what the metric frontdesk.table.whole says.
func (t *Table[T]) Whole() bool { return t.whole.Load() }

// KeptFor makes a consumer believe that topics keep changes for so long.
func (c *Consumer) KeptFor(d time.Duration) *Consumer {
	c.kept = d
	return c
}

// ParkAtOnce makes a consumer try a message once more before it parks it.
func (c *Consumer) ParkAtOnce() *Consumer {
	c.retries = []time.Duration{time.Millisecond}
	return c
}
