package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// latency is from the commit of an event to its arrival, at 100 events a second.
func (w *world) latency(ctx context.Context, length time.Duration) error {
	r := w.receiver(false)
	defer r.Close()
	id, _, err := w.subscribe(r.URL)
	if err != nil {
		return err
	}
	times, err := w.pace(ctx, 100, length, []*receiver{r})
	if err != nil {
		return err
	}
	fmt.Printf("committed → received, 100/s     p50 %s (at most 50)  p99 %s (at most 250)  of %d\n", ms(at(.5, times)), ms(at(.99, times)), len(times))
	return w.unsubscribe([]string{id})
}

// pace commits so many events a second, one at a time, and answers how long each took to each receiver.
func (w *world) pace(ctx context.Context, perSecond int, length time.Duration, to []*receiver) ([]time.Duration, error) {
	committed := map[string]time.Time{}
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for begin := time.Now(); time.Since(begin) < length; {
		<-tick.C
		ids, at, err := w.commit(ctx, 1)
		if err != nil {
			return nil, err
		}
		committed[ids[0]] = at
	}
	if err := wait(func() bool { return all(to, len(committed)) }); err != nil {
		return nil, err
	}
	// Receivers know events, we know records: the service's own log says which is which.
	events, err := w.eventsOf(ctx, committed)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for _, r := range to {
		r.mu.Lock()
		for event, seen := range r.seen {
			if at, ok := events[event]; ok {
				times = append(times, max(0, seen.Sub(at)))
			}
		}
		r.mu.Unlock()
	}
	return times, nil
}

func (w *world) eventsOf(ctx context.Context, committed map[string]time.Time) (map[string]time.Time, error) {
	records := make([]string, 0, len(committed))
	for id := range committed {
		records = append(records, id)
	}
	rows, err := w.admin.Query(ctx, `select 'evt_' || id, record::text from webhooks.message where record = any($1::text[]::uuid[])`, records)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	events := map[string]time.Time{}
	for rows.Next() {
		var event, record string
		if err := rows.Scan(&event, &record); err != nil {
			return nil, err
		}
		events[event] = committed[record]
	}
	return events, rows.Err()
}

func all(to []*receiver, n int) bool {
	for _, r := range to {
		if r.count() < n {
			return false
		}
	}
	return true
}

func wait(done func() bool) error {
	for begin := time.Now(); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Since(begin) > 2*time.Minute {
			return fmt.Errorf("not everything arrived")
		}
	}
	return nil
}

// fanOut sends every event to ten receivers, and compares with loops that only sign and post.
func (w *world) fanOut(ctx context.Context, events int) error {
	const fan = 10
	var to []*receiver
	var ids []string
	for range fan {
		r := w.receiver(false)
		defer r.Close()
		id, _, err := w.subscribe(r.URL)
		if err != nil {
			return err
		}
		to, ids = append(to, r), append(ids, id)
	}
	limit := 2 * time.Second
	one := post(to[:1], limit, 1)
	ten := post(to, limit, fan)
	for _, r := range to {
		r.mu.Lock()
		clear(r.seen)
		r.mu.Unlock()
	}
	begin := time.Now()
	for n := 0; n < events; n += 100 {
		if _, _, err := w.commit(ctx, min(100, events-n)); err != nil {
			return err
		}
	}
	if err := wait(func() bool { return all(to, events) }); err != nil {
		return err
	}
	rate := float64(events*fan) / time.Since(begin).Seconds()
	fmt.Printf("fan-out 1 → %d                  %.0f deliveries/s; a bare loop %.0f/s, %d at once %.0f/s\n", fan, rate, one, fan, ten)
	fmt.Printf("  fan-out / bare loop           %.2f  (at least 0.25);  / %d loops %.2f\n", rate/one, fan, rate/ten)
	return w.unsubscribe(ids)
}

// post signs and posts to receivers in loops, each waiting for its answers, and says how many a second.
func post(to []*receiver, length time.Duration, loops int) float64 {
	var n atomic.Int64
	var running sync.WaitGroup
	begin := time.Now()
	for i := range loops {
		running.Go(func() {
			r := to[i%len(to)]
			client := r.Client()
			for time.Since(begin) < length {
				text, _ := json.Marshal(map[string]any{"event": "contact.created", "id": "evt_x", "data": map[string]any{"contact": body("x")}})
				t := strconv.FormatInt(time.Now().Unix(), 10)
				mac := hmac.New(sha256.New, []byte("whsec_bench"))
				_, _ = io.WriteString(mac, t+"."+string(text))
				req, _ := http.NewRequest(http.MethodPost, r.URL, strings.NewReader(string(text)))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Svc-Signature", "t="+t+",v1="+hex.EncodeToString(mac.Sum(nil)))
				res, err := client.Do(req)
				if err != nil {
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				n.Add(1)
			}
		})
	}
	running.Wait()
	return float64(n.Load()) / time.Since(begin).Seconds()
}

// badReceiver compares the times of 99 receivers without and with one beside them that never answers.
func (w *world) badReceiver(ctx context.Context, length time.Duration) error {
	var p99 [2]time.Duration
	for i, hang := range []bool{false, true} {
		var good []*receiver
		var ids []string
		for n := range 100 {
			r := w.receiver(hang && n == 0)
			defer r.CloseClientConnections()
			id, _, err := w.subscribe(r.URL)
			if err != nil {
				return err
			}
			ids = append(ids, id)
			if n > 0 {
				good = append(good, r)
			}
		}
		times, err := w.pace(ctx, 4, length, good)
		if err != nil {
			return err
		}
		p99[i] = at(.99, times)
		if err := w.unsubscribe(ids); err != nil {
			return err
		}
	}
	fmt.Printf("99 receivers, 4 events/s         p99 %s; with one that hangs beside them %s: %.2f times (at most 1.50)\n",
		ms(p99[0]), ms(p99[1]), float64(p99[1])/float64(p99[0]))
	return nil
}

// log measures lists of a webhook with so many deliveries.
func (w *world) log(ctx context.Context, rows int) error {
	id, _, err := w.subscribe("https://example.com/")
	if err != nil {
		return err
	}
	_, err = w.admin.Exec(ctx, `
		with told as (
			insert into webhooks.message (id, event, record, payload, created_at)
			select gen_random_uuid(), 'contact.created', gen_random_uuid(), '{"event":"contact.created","data":{"contact":{"first_name":"Ann"}}}',
				date_trunc('second', now() - n * interval '2 seconds')
			from generate_series(1, $2::int) as n returning id, record, created_at
		), logged as (
			insert into webhooks.delivery (id, webhook, message, record, status, attempts, created_at)
			select id, $1, id, record, case when random() < 0.001 then 'failed' else 'delivered' end, 1, created_at from told returning status
		)
		insert into webhooks.tally select $1, status, count(*) from logged group by status`, id, rows)
	if err != nil {
		return err
	}
	if _, err := w.admin.Exec(ctx, `vacuum analyze webhooks.delivery, webhooks.message`); err != nil {
		return err
	}
	for _, list := range []struct{ what, query string }{
		{"first page", "?per_page=20"}, {"100 a page", "?per_page=100"}, {"failed", "?status=failed"}, {"retrying (none)", "?status=retrying"},
	} {
		var times []time.Duration
		for range 50 {
			begin := time.Now()
			if err := w.call("GET", "/webhooks/"+id+"/deliveries"+list.query, nil, nil); err != nil {
				return err
			}
			times = append(times, time.Since(begin))
		}
		fmt.Printf("log of %d, %-16s  p50 %s  p99 %s (under 20)\n", rows, list.what, ms(at(.5, times)), ms(at(.99, times)))
	}
	var times []time.Duration
	cursor := ""
	for range 200 {
		var page struct {
			Next  *string `json:"next_cursor"`
			Total int
		}
		begin := time.Now()
		if err := w.call("GET", "/webhooks/"+id+"/deliveries?per_page=100&cursor="+cursor, nil, &page); err != nil {
			return err
		}
		times = append(times, time.Since(begin))
		if page.Next == nil || page.Total != rows {
			return fmt.Errorf("the list says %d", page.Total)
		}
		cursor = *page.Next
	}
	fmt.Printf("log of %d, page by page      p50 %s  p99 %s (under 20)\n", rows, ms(at(.5, times)), ms(at(.99, times)))
	return nil
}
