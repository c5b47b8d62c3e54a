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

// Timed is Load with how long each call took.
func Timed(clients int, length time.Duration, call func() error) (perSecond float64, took []time.Duration, err error) {
	var mu sync.Mutex
	perSecond, err = Load(clients, length, func() error {
		began := time.Now()
		if err := call(); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		took = append(took, time.Since(began))
		return nil
	})
	return perSecond, took, err
}

// Pace calls at an even rate for that long, whether or not earlier calls have ended, and answers what each call returned. A call
// that starts late, because the machine is behind, has taken the delay as well. The first error ends it.
func Pace(perSecond int, length time.Duration, call func() (time.Duration, error)) (took []time.Duration, err error) {
	var mu sync.Mutex
	var failed error
	var running sync.WaitGroup
	start := time.Now()
	for i := 0; ; i++ {
		due := start.Add(time.Duration(i) * time.Second / time.Duration(perSecond))
		if due.Sub(start) > length {
			break
		}
		time.Sleep(time.Until(due))
		running.Go(func() {
			late := time.Since(due)
			t, err := call()
			mu.Lock()
			defer mu.Unlock()
			took = append(took, late+t)
			if err != nil && failed == nil {
				failed = err
			}
		})
		mu.Lock()
		stop := failed != nil
		mu.Unlock()
		if stop {
			break
		}
	}
	running.Wait()
	return took, failed
}
