package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"

	"frontdesk/deploy/bench/world"
)

// send submits count forms at the given pace, each repeated under its key until it is acknowledged. What is in
// between is called when so many were taken.
func (s *site) send(ctx context.Context, count int, between map[int]func()) (first int64, err error) {
	first = s.next.Add(int64(count)) - int64(count) + 1
	var taken, given atomic.Int64
	var wrong atomic.Pointer[error]
	var mu sync.Mutex
	var wg sync.WaitGroup
	start := time.Now()
	for range clients {
		wg.Go(func() {
			for {
				i := given.Add(1) - 1
				if i >= int64(count) {
					return
				}
				time.Sleep(time.Until(start.Add(time.Duration(i) * time.Second / time.Duration(*pace))))
				key := uuid.NewString()
				for until := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
					status, err := s.submit(ctx, s.URL, first+i, key)
					if err == nil && status == http.StatusOK {
						break
					}
					if err == nil && status < 500 && status != http.StatusNotFound || time.Now().After(until) {
						err = fmt.Errorf("submission %d: %d %w", i, status, err)
						wrong.Store(&err)
						return
					}
				}
				n := int(taken.Add(1))
				mu.Lock()
				if f := between[n]; f != nil {
					delete(between, n)
					go f()
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if e := wrong.Load(); e != nil {
		return first, *e
	}
	return first, nil
}

// kill ends a process as a power cut would; the launcher starts it again. It answers when it is back.
func (s *site) kill(name string) (back time.Time, err error) {
	s.killing.Lock()
	defer s.killing.Unlock()
	old, err := s.Process(name)
	if err != nil {
		return back, err
	}
	if err := syscall.Kill(old.PID, syscall.SIGKILL); err != nil {
		return back, fmt.Errorf("kill %s: %w", name, err)
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		now, err := s.Process(name)
		if err != nil || now.PID == old.PID {
			continue
		}
		res, err := s.Client.Get(now.URL + "/v1/nothing")
		if err == nil {
			return time.Now(), res.Body.Close()
		}
	}
	return back, fmt.Errorf("%s does not come back", name)
}

// killContacts kills contacts five times while submissions come in.
func (s *site) killContacts(ctx context.Context) error {
	count := *count
	var mu sync.Mutex
	var back time.Time
	var failed error
	var kills sync.WaitGroup
	between := map[int]func(){}
	for i := range 5 {
		kills.Add(1)
		between[count*(2*i+1)/10] = func() {
			defer kills.Done()
			at, err := s.kill("contacts")
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = err
			}
			if at.After(back) {
				back = at
			}
		}
	}
	first, err := s.send(ctx, count, between)
	if err != nil {
		return err
	}
	kills.Wait()
	if failed != nil {
		return failed
	}
	sent := time.Now()
	if err := s.drained(ctx); err != nil {
		return err
	}
	from := sent
	if back.After(from) {
		from = back
	}
	s.AtMost(fmt.Sprintf("contacts killed 5 times in %d submissions: the last result after", count), world.Seconds(time.Since(from)), world.Seconds(5*time.Second))
	return s.counted(ctx, first, count)
}

// killForms kills forms while visitors repeat what was not acknowledged.
func (s *site) killForms(ctx context.Context) error {
	count := *count / 10
	between := map[int]func(){}
	var failed atomic.Pointer[error]
	var kills sync.WaitGroup
	for i := range 3 {
		kills.Add(1)
		between[count*(2*i+1)/6] = func() {
			defer kills.Done()
			if _, err := s.kill("forms"); err != nil {
				failed.Store(&err)
			}
		}
	}
	first, err := s.send(ctx, count, between)
	if err != nil {
		return err
	}
	kills.Wait()
	if e := failed.Load(); e != nil {
		return *e
	}
	if err := s.drained(ctx); err != nil {
		return err
	}
	s.Note("forms killed 3 times, submissions", world.Plain(count))
	return s.counted(ctx, first, count)
}

// counted looks whether there is one submission and one contact of each visitor.
func (s *site) counted(ctx context.Context, first int64, count int) error {
	for _, table := range []string{"forms.submission", "contacts.contact"} {
		var rows, different int
		err := s.DB.QueryRow(ctx, `select count(*), count(distinct email) from `+table+` where email between $1 and $2 and email like '%' || $3`,
			s.address(first), s.address(first+int64(count)-1), s.mark+"@example.com").Scan(&rows, &different)
		if err != nil {
			return err
		}
		s.AtMost(fmt.Sprintf("%s, lost of %d", table, count), world.Plain(count-different), world.Plain(0))
		s.AtMost(table+", twice", world.Plain(rows-different), world.Plain(0))
	}
	return nil
}
