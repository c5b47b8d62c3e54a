package panel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

const (
	// scrapeLasts is how long an instance has to answer: a service waits for its database and its brokers for two seconds each.
	scrapeLasts = 6 * time.Second
	// scrapesAtOnce is how many instances are asked at the same time.
	scrapesAtOnce = 8
	// largestAnswer bounds what is read of an answer, in bytes.
	largestAnswer = 16 << 20
)

// accepted is the form of metrics that is asked for, which is in one form everywhere else. To read them as text took half of the controller's processor time.
var accepted = string(expfmt.NewFormat(expfmt.TypeProtoDelim)) + ", text/plain;q=0.5"

// scrape takes one sample of every instance.
func (p *Panel) scrape(ctx context.Context) {
	instances := p.source.Instances()
	free := make(chan struct{}, scrapesAtOnce)
	var asking sync.WaitGroup
	for _, i := range instances {
		if i.AdminURL == "" && i.Gather == nil {
			continue
		}
		free <- struct{}{}
		asking.Go(func() {
			defer func() { <-free }()
			asked, cancel := context.WithTimeout(ctx, scrapeLasts)
			defer cancel()
			waiting, err := p.readiness(asked, i)
			families, gathered := p.metrics(asked, i)
			if ctx.Err() == nil {
				p.keep(i, families, waiting, errors.Join(err, gathered))
			}
		})
	}
	asking.Wait()
}

// keep stores what an instance has answered.
func (p *Panel) keep(i Instance, families map[string]*dto.MetricFamily, waiting []Waiting, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.tracks[i.Name]
	if t == nil {
		if !p.room(p.now()) {
			return
		}
		t = &track{perOp: map[string]*[minutes]minute{}}
		p.tracks[i.Name] = t
	}
	t.Instance, t.waiting, t.ready = i, waiting, err == nil && len(waiting) == 0
	if err != nil {
		t.problem = err.Error()
		return
	}
	t.record(p.now(), p.began, families)
}

// room reports whether one more instance can be kept. It drops those without a sign for an hour and, if there are too many, the one that has
// been silent for longest. Instances that live stay.
func (p *Panel) room(now time.Time) bool {
	maps.DeleteFunc(p.tracks, func(_ string, t *track) bool { return now.Sub(t.lastSign()) > time.Hour })
	if len(p.tracks) < maxTracks {
		return true
	}
	silent := slices.MinFunc(slices.Collect(maps.Values(p.tracks)), func(a, b *track) int { return a.lastSign().Compare(b.lastSign()) })
	if now.Sub(silent.lastSign()) < 3*Every {
		return false
	}
	delete(p.tracks, silent.Name)
	return true
}

// lastSign is when a process last answered or published its presence.
func (t *track) lastSign() time.Time {
	if t.Seen.After(t.answered) {
		return t.Seen
	}
	return t.answered
}

// metrics reads those of an instance, by name.
func (p *Panel) metrics(ctx context.Context, i Instance) (map[string]*dto.MetricFamily, error) {
	if i.Gather != nil {
		all, err := i.Gather()
		families := map[string]*dto.MetricFamily{}
		for _, f := range all {
			families[f.GetName()] = f
		}
		return families, err
	}
	res, err := p.call(ctx, http.MethodGet, i.AdminURL+"/metrics")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("its metrics answer %s", res.Status)
	}
	families, decoder := map[string]*dto.MetricFamily{}, expfmt.NewDecoder(io.LimitReader(res.Body, largestAnswer), expfmt.ResponseFormat(res.Header))
	for {
		f := &dto.MetricFamily{}
		if err := decoder.Decode(f); errors.Is(err, io.EOF) {
			return families, nil
		} else if err != nil {
			return nil, fmt.Errorf("its metrics cannot be read: %w", err)
		}
		families[f.GetName()] = f
	}
}

// readiness asks an instance what it waits for.
func (p *Panel) readiness(ctx context.Context, i Instance) ([]Waiting, error) {
	if i.Ready != nil {
		return i.Ready(), nil
	}
	path := i.ReadyPath
	if path == "" {
		path = "/readyz"
	}
	res, err := p.call(ctx, http.MethodGet, i.AdminURL+path)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	var said struct {
		WaitsFor []Waiting `json:"waits_for"`
	}
	if res.StatusCode == http.StatusOK {
		return nil, nil
	}
	// A process of another version may say it in another way.
	if err := json.NewDecoder(io.LimitReader(res.Body, 1<<20)).Decode(&said); err != nil || len(said.WaitsFor) == 0 {
		return []Waiting{{"its readiness", "it answers " + res.Status}}, nil
	}
	return said.WaitsFor, nil
}

// call sends a request without a body to an admin port. The caller closes the answer.
func (p *Panel) call(ctx context.Context, method, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", accepted)
	return p.client.Do(req)
}
