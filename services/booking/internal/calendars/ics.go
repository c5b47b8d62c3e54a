package calendars

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

const (
	// mostRedirects is how often an address may lead on.
	mostRedirects = 3
	// mostBytes is the largest file that is read; a byte more shows that it is larger.
	mostBytes = 20 << 20
)

// tags are by what a server says that a file has not changed.
type tags struct {
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"last_modified,omitempty"`
}

// readFile reads the file at an address. Each address that it leads on to is checked as the first one; only the first host gets name and password.
func (r *Room) readFile(ctx context.Context, s source) (content, error) {
	var had tags
	if s.validators != "" {
		if err := json.Unmarshal([]byte(s.validators), &had); err != nil {
			return content{}, err
		}
	}
	at := s.url
	for range 1 + mostRedirects {
		res, err := r.ask(ctx, s, at, had)
		if err != nil {
			return content{}, err
		}
		switch {
		case res.StatusCode == http.StatusOK:
			return readBody(res)
		case res.StatusCode == http.StatusNotModified && s.validators != "":
			_ = res.Body.Close()
			return content{unchanged: true}, nil
		}
		_ = res.Body.Close()
		next, err := res.Location()
		if err != nil || res.StatusCode < 300 || res.StatusCode > 399 {
			return content{}, refusedWith(res)
		}
		if next, err = url.Parse(overHTTPS(next.String())); err != nil {
			return content{}, refusedWith(res)
		}
		at = next.String()
	}
	return content{}, failure{code: "broken", words: fmt.Sprintf("the address leads on to another one more than %d times", mostRedirects)}
}

func (r *Room) ask(ctx context.Context, s source, at string, had tags) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, failure{code: "broken", words: "the address leads on to one that cannot be read"}
	}
	req.Header.Set("Accept", "text/calendar, */*;q=0.1")
	req.Header.Set("User-Agent", userAgent)
	if had.ETag != "" {
		req.Header.Set("If-None-Match", had.ETag)
	}
	if had.LastModified != "" {
		req.Header.Set("If-Modified-Since", had.LastModified)
	}
	if s.username != "" && sameHost(s.url, at) {
		req.SetBasicAuth(s.username, s.password)
	}
	return r.client.Do(req)
}

func readBody(res *http.Response) (content, error) {
	defer res.Body.Close()
	file, err := io.ReadAll(res.Body)
	if err != nil {
		return content{}, err
	}
	kept, err := json.Marshal(tags{res.Header.Get("ETag"), res.Header.Get("Last-Modified")})
	return content{validators: string(kept), file: file}, err
}
