package world

import (
	"sync"
	"sync/atomic"
	"time"
)

// Turns takes each measurement once per round, one after the other, so that whatever else the machine does falls on
// all of them. It answers the values of each measurement, by round.
func Turns(rounds int, takes ...func() (float64, error)) ([][]float64, error) {
	all := make([][]float64, len(takes))
	for range rounds {
		for i, take := range takes {
			v, err := take()
			if err != nil {
				return nil, err
			}
			all[i] = append(all[i], v)
		}
	}
	return all, nil
}

// Times calls each function once per round, in turns as Turns does, and answers how long each call took. A tenth
// more rounds come first and do not count.
func Times(rounds int, calls ...func() error) ([][]time.Duration, error) {
	all := make([][]time.Duration, len(calls))
	for round := range rounds + rounds/10 {
		for i, call := range calls {
			start := time.Now()
			if err := call(); err != nil {
				return nil, err
			}
			if round >= rounds/10 {
				all[i] = append(all[i], time.Since(start))
			}
		}
	}
	return all, nil
}

// Load lets so many clients call again and again for that long, and answers the calls per second. The first error
// ends it.
func Load(clients int, length time.Duration, call func() error) (perSecond float64, err error) {
	var done atomic.Int64
	var failed atomic.Pointer[error]
	var running sync.WaitGroup
	start := time.Now()
	for range clients {
		running.Go(func() {
			for time.Since(start) < length && failed.Load() == nil {
				if err := call(); err != nil {
					failed.CompareAndSwap(nil, &err)
					return
				}
				done.Add(1)
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return 0, *err
	}
	return float64(done.Load()) / time.Since(start).Seconds(), nil
}
