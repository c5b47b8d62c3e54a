package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"frontdesk/deploy/bench/world"
)

// latency is from the commit of an event to its arrival, at 100 events a second.
func (b *bench) latency(ctx context.Context) error {
	r := world.NewReceiver(false)
	defer r.Close()
	id, err := b.Subscribe(r.URL)
	if err != nil {
		return err
	}
	times, err := b.pace(ctx, 100, []*world.Receiver{r})
	if err != nil {
		return err
	}
	b.AtMost("committed → received, 100 events/s, p50", world.Ms(world.Median(times)), world.Ms(50*time.Millisecond))
	b.AtMost("committed → received, 100 events/s, p99", world.Ms(world.Quantile(.99, times)), world.Ms(250*time.Millisecond))
	return b.Unsubscribe([]string{id})
}

// pace commits so many events a second, one at a time, and answers how long each took to each receiver.
func (b *bench) pace(ctx context.Context, perSecond int, to []*world.Receiver) ([]time.Duration, error) {
	committed := map[string]time.Time{}
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for begin := time.Now(); time.Since(begin) < *length; {
		<-tick.C
		ids, at, err := b.Commit(ctx, 1)
		if err != nil {
			return nil, err
		}
		committed[ids[0]] = at
	}
	if err := world.AllHave(len(committed), to); err != nil {
		return nil, err
	}
	// Receivers know events, we know records: the service's own log says which is which.
	events, err := b.eventsOf(ctx, committed)
	if err != nil {
		return nil, err
	}
	var times []time.Duration
	for _, r := range to {
		for event, seen := range r.Seen() {
			if at, ok := events[event]; ok {
				times = append(times, max(0, seen.Sub(at)))
			}
		}
	}
	return times, nil
}

func (b *bench) eventsOf(ctx context.Context, committed map[string]time.Time) (map[string]time.Time, error) {
	records := make([]string, 0, len(committed))
	for id := range committed {
		records = append(records, id)
	}
	rows, err := b.DB.Query(ctx, `select 'evt_' || id, record::text from message where record = any($1::text[]::uuid[])`, records)
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

// fanOut sends every event to ten receivers, and compares with loops that only sign and post.
func (b *bench) fanOut(ctx context.Context) error {
	const fan = 10
	var to []*world.Receiver
	var ids []string
	for range fan {
		r := world.NewReceiver(false)
		defer r.Close()
		id, err := b.Subscribe(r.URL)
		if err != nil {
			return err
		}
		to, ids = append(to, r), append(ids, id)
	}
	one, err := b.post(to[:1])
	if err != nil {
		return err
	}
	ten, err := b.post(to)
	if err != nil {
		return err
	}
	for _, r := range to {
		r.Forget()
	}
	begin := time.Now()
	for n := 0; n < *fanned; n += 100 {
		if _, _, err := b.Commit(ctx, min(100, *fanned-n)); err != nil {
			return err
		}
	}
	if err := world.AllHave(*fanned, to); err != nil {
		return err
	}
	rate := float64(*fanned*fan) / time.Since(begin).Seconds()
	b.Note(fmt.Sprintf("fan-out 1 → %d, deliveries", fan), world.PerSecond(rate))
	b.Note("a bare loop", world.PerSecond(one))
	b.Note(fmt.Sprintf("%d bare loops at once", fan), world.PerSecond(ten))
	b.AtLeast("fan-out ÷ a bare loop", world.Ratio(rate, one), world.Plain(0.25))
	b.Note(fmt.Sprintf("fan-out ÷ %d bare loops", fan), world.Ratio(rate, ten))
	return b.Unsubscribe(ids)
}

// post signs and posts to receivers, a loop for each, and answers the requests per second.
func (b *bench) post(to []*world.Receiver) (float64, error) {
	var next atomic.Int64
	return world.Load(len(to), 2*time.Second, func() error {
		r := to[next.Add(1)%int64(len(to))]
		text, err := json.Marshal(map[string]any{"event": b.Created.Kind, "id": "evt_x", "data": map[string]any{"contact": b.Created.About("x")}})
		if err != nil {
			return err
		}
		t := strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, []byte("whsec_bench"))
		_, _ = io.WriteString(mac, t+"."+string(text))
		req, err := http.NewRequest(http.MethodPost, r.URL, bytes.NewReader(text))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Svc-Signature", "t="+t+",v1="+hex.EncodeToString(mac.Sum(nil)))
		res, err := r.Client().Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, res.Body)
		return res.Body.Close()
	})
}

// badReceiver compares the times of 99 receivers without and with one beside them that never answers.
func (b *bench) badReceiver(ctx context.Context) error {
	var p99 [2]time.Duration
	for i, hang := range []bool{false, true} {
		var good []*world.Receiver
		var ids []string
		for n := range 100 {
			r := world.NewReceiver(hang && n == 0)
			defer r.CloseClientConnections()
			id, err := b.Subscribe(r.URL)
			if err != nil {
				return err
			}
			ids = append(ids, id)
			if n > 0 {
				good = append(good, r)
			}
		}
		times, err := b.pace(ctx, 4, good)
		if err != nil {
			return err
		}
		p99[i] = world.Quantile(.99, times)
		if err := b.Unsubscribe(ids); err != nil {
			return err
		}
	}
	b.Note("99 receivers, 4 events/s, p99", world.Ms(p99[0]))
	b.Note("the same beside one that hangs, p99", world.Ms(p99[1]))
	b.AtMost("beside one that hangs ÷ without it", world.Ratio(p99[1], p99[0]), world.Plain(1.5))
	return nil
}

// log measures lists of a webhook with many deliveries.
func (b *bench) log(ctx context.Context) error {
	id, err := b.Subscribe("https://example.com/")
	if err != nil {
		return err
	}
	_, err = b.DB.Exec(ctx, `
		with told as (
			insert into message (id, event, record, payload, created_at)
			select gen_random_uuid(), 'contact.created', gen_random_uuid(), '{"event":"contact.created","data":{"contact":{"first_name":"Ann"}}}',
				date_trunc('second', now() - n * interval '2 seconds')
			from generate_series(1, $2::int) as n returning id, record, created_at
		), logged as (
			insert into delivery (id, webhook, message, record, status, attempts, created_at)
			select id, $1, id, record, case when random() < 0.001 then 'failed' else 'delivered' end, 1, created_at from told returning status
		)
		insert into tally select $1, status, count(*) from logged group by status`, id, *rows)
	if err != nil {
		return err
	}
	if _, err := b.DB.Exec(ctx, `vacuum analyze delivery, message`); err != nil {
		return err
	}
	for _, list := range []struct{ what, query string }{
		{"first page", "?per_page=20"}, {"100 a page", "?per_page=100"}, {"failed", "?status=failed"}, {"retrying (none)", "?status=retrying"},
	} {
		times, err := world.Times(50, b.Get("/webhooks/"+id+"/deliveries"+list.query))
		if err != nil {
			return err
		}
		b.logTimes(list.what, times[0])
	}
	var times []time.Duration
	cursor := ""
	for range 200 {
		var page struct {
			Next  *string `json:"next_cursor"`
			Total int
		}
		begin := time.Now()
		if _, err := b.Call("GET", "/webhooks/"+id+"/deliveries?per_page=100&cursor="+cursor, nil, &page); err != nil {
			return err
		}
		times = append(times, time.Since(begin))
		if page.Next == nil || page.Total != *rows {
			return fmt.Errorf("the list says %d", page.Total)
		}
		cursor = *page.Next
	}
	b.logTimes("page by page", times)
	return nil
}

func (b *bench) logTimes(list string, times []time.Duration) {
	name := fmt.Sprintf("log of %d, %s", *rows, list)
	b.Note(name+", p50", world.Ms(world.Median(times)))
	b.AtMost(name+", p99", world.Ms(world.Quantile(.99, times)), world.Ms(20*time.Millisecond))
}
