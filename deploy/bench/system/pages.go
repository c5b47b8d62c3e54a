package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"time"

	"frontdesk/deploy/bench/world"
)

// pageRate is at how many requests a second the pages are measured.
const pageRate = 500

// pages measures how long a visitor waits for the first byte of each page and of a script, at pageRate, beside a bare server
// that answers with the bytes of the booking page.
func (b *bench) pages(ctx context.Context) error {
	form, err := b.site()
	if err != nil {
		return err
	}
	paths := []struct{ name, path string }{{"booking page", "/team/book"}, {"form page", fmt.Sprintf("/f/%d", form)}, {"portal", "/team"}}
	page, err := b.shown(ctx, paths[0].path)
	if err != nil {
		return err
	}
	script := regexp.MustCompile(`src="([^"]+\.js[^"]*)"`).FindSubmatch(page)
	if script == nil {
		return fmt.Errorf("the booking page has no script: %.200s", page)
	}
	paths = append(paths, struct{ name, path string }{"script", string(script[1])})

	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(page) }))
	defer bare.Close()
	names, urls := []string{"bare server"}, []string{bare.URL}
	for _, p := range paths {
		if _, err := b.shown(ctx, p.path); err != nil {
			return err
		}
		names, urls = append(names, p.name), append(urls, b.URL+p.path)
	}
	took, refused := make([][]time.Duration, len(urls)), make([]atomic.Int64, len(urls))
	for range *rounds {
		for i, url := range urls {
			t, err := world.Pace(pageRate, *length, func() (time.Duration, error) { return firstByte(ctx, url, &refused[i]) })
			if err != nil {
				return fmt.Errorf("%s: %w", names[i], err)
			}
			took[i] = append(took[i], t...)
		}
	}
	for i, name := range names {
		b.Note(name+" at 500/s, first byte, p50", world.Ms(world.Median(took[i])))
		b.Note(name+" at 500/s, first byte, p99", world.Ms(world.Quantile(.99, took[i])))
		b.AtMost(name+" at 500/s, refused for load, of all", world.Ratio(float64(refused[i].Load()), float64(len(took[i]))), world.Plain(0))
	}
	for i, name := range names[1:] {
		b.AtMost(name+" ÷ bare server, first byte, p50", world.Ratio(world.Median(took[i+1]), world.Median(took[0])), world.Plain(10))
	}
	return nil
}

// site makes the booking page with a service that visitors may book, and a form, whose id it gives.
func (b *bench) site() (form int64, err error) {
	var me struct {
		ID int64 `json:"user_id"`
	}
	if _, err := b.Call(http.MethodGet, "/me", nil, &me); err != nil {
		return 0, err
	}
	if _, err := b.Call(http.MethodPatch, "/settings/portal", map[string]bool{"booking_page": true}, nil); err != nil {
		return 0, err
	}
	hours := map[string]any{}
	for day := 1; day <= 5; day++ {
		hours[fmt.Sprint(day)] = [][]string{{"09:00", "17:00"}}
	}
	if _, err := b.Call(http.MethodPut, fmt.Sprintf("/staff/%d/hours", me.ID), map[string]any{"hours": hours}, nil); err != nil {
		return 0, err
	}
	service := map[string]any{"name": "Consultation", "duration_min": 30, "bookable_online": true, "staff": []int64{me.ID}}
	if _, err := b.Call(http.MethodPost, "/services", service, nil); err != nil {
		return 0, err
	}
	var made struct{ ID int64 }
	email := map[string]any{"id": "email", "type": "field", "target": "contact.email", "label": "Email", "required": true}
	_, err = b.Call(http.MethodPost, "/forms", map[string]any{"name": "Contact", "status": "publish", "definition": map[string]any{"elements": []any{email}}}, &made)
	return made.ID, err
}

// shown waits until a page is there, and gives it.
func (b *bench) shown(ctx context.Context, path string) ([]byte, error) {
	deadline := time.Now().Add(10 * time.Second)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+path, nil)
		if err != nil {
			return nil, err
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			return nil, err
		}
		var page bytes.Buffer
		_, err = page.ReadFrom(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode == http.StatusOK {
			return page.Bytes(), err
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("%s: %s", path, res.Status)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

var visitors = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true}}

// firstByte is how long a visitor waits until a page begins. It counts the pages that are refused with 503.
func firstByte(ctx context.Context, url string, refused *atomic.Int64) (time.Duration, error) {
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Accept-Encoding", "br, gzip")
	res, err := visitors.Do(req)
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	took := time.Since(began)
	switch res.StatusCode {
	case http.StatusOK:
	case http.StatusServiceUnavailable:
		refused.Add(1)
	default:
		return 0, fmt.Errorf("%s: %s", url, res.Status)
	}
	_, err = io.Copy(io.Discard, res.Body)
	return took, err
}
