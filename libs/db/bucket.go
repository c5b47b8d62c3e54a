package db

import (
	"sync"
	"time"
)

// Limit allows N calls in Per, all at once or spread.
type Limit struct {
	N   int
	Per time.Duration
}

// Bucket is a caller, or a group of callers, for which a limit counts.
type Bucket struct {
	Key string
	Limit
}

// row is the bucket's key in the table rate.
func (b Bucket) row() string { return b.Key + "/" + b.Per.String() }

// fullBuckets remembers until when buckets are full. Its zero value remembers none.
type fullBuckets struct {
	mu   sync.Mutex
	ends map[string]time.Time
}

// fullKept is how many full buckets a process remembers. A bucket that it has forgotten is looked up.
const fullKept = 10_000

func (f *fullBuckets) wait(row string) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	end, ok := f.ends[row]
	if !ok {
		return 0
	}
	wait := time.Until(end)
	if wait <= 0 {
		delete(f.ends, row)
	}
	return max(0, wait)
}

func (f *fullBuckets) until(row string, wait time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ends == nil || len(f.ends) >= fullKept {
		f.ends = map[string]time.Time{}
	}
	f.ends[row] = time.Now().Add(wait)
}
