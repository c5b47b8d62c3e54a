// Package frontdesk calls a Frontdesk installation. Client has a method for each operation of the API, generated from its OpenAPI document
// (package api); this package adds what they have in common: the credential, attempts, errors, lists and signatures.
package frontdesk

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	mathrand "math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"frontdesk.internal/sdk/api"
)

// Client calls one installation as one person, or as nobody. Answers of 400 and above, and 202 for a call that waits for a person, are returned as *Error.
type Client struct {
	*api.ClientWithResponses
	calls *sender
}

// An Option changes how New's client calls.
type Option func(*sender)

// Key is the login of a person and an application password of theirs. Without it only public operations answer.
func Key(login, key string) Option {
	return func(s *sender) { s.login, s.key = login, key }
}

// Attempts is how often a call is sent at most, 4 without this option.
func Attempts(n int) Option { return func(s *sender) { s.attempts = n } }

// HTTP replaces the client that sends requests. Without this option an attempt takes 30 seconds at most.
func HTTP(c *http.Client) Option { return func(s *sender) { s.http = c } }

// New returns a client of the API at url, such as https://desk.example.com/v1.
func New(url string, options ...Option) (*Client, error) {
	s := &sender{http: &http.Client{Timeout: 30 * time.Second}, attempts: 4}
	for _, o := range options {
		o(s)
	}
	c, err := api.NewClientWithResponses(url, api.WithHTTPClient(s))
	if err != nil {
		return nil, err
	}
	return &Client{c, s}, nil
}

// Error is an answer that is an error, or svc_approval_needed of a call that waits for a person. Programs decide by Code and Reason.
type Error struct {
	Status  int
	Code    string
	Message string
	// Reason is empty where a code has one reason.
	Reason string
	// Fields has a sentence for each parameter that is wrong.
	Fields map[string]string
	// RequestID finds the call in the logs of the installation.
	RequestID string
	// Data has all facts beside the code.
	Data map[string]any
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Is reports whether err is an error of the API with this code.
func Is(err error, code string) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// Each returns the records of a list, page by page. request makes the call of the first page; the functions api.New…Request do.
func Each[T any](ctx context.Context, c *Client, request func(server string) (*http.Request, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for cursor := ""; ; {
			r, err := request(c.ClientInterface.(*api.Client).Server)
			if err != nil {
				yield(none, err)
				return
			}
			if cursor != "" {
				q := r.URL.Query()
				q.Set("cursor", cursor)
				r.URL.RawQuery = q.Encode()
			}
			var page struct {
				Items []T     `json:"items"`
				Next  *string `json:"next_cursor"`
			}
			if err := c.calls.read(r.WithContext(ctx), &page); err != nil {
				yield(none, err)
				return
			}
			for _, item := range page.Items {
				if !yield(item, nil) {
					return
				}
			}
			// A feed of events keeps its cursor at the end.
			if page.Next == nil || len(page.Items) == 0 {
				return
			}
			cursor = *page.Next
		}
	}
}

// Edit calls change, which reads a record and writes it with its ETag as IfMatch, again while somebody else has changed the record
// meanwhile, three times at most.
func Edit(change func() error) error {
	for attempt := 1; ; attempt++ {
		err := change()
		if attempt == 3 || !Is(err, "svc_version_mismatch") {
			return err
		}
	}
}

// Event is what a webhook with the format svc sends. Data has the record under its name, such as contact.
type Event struct {
	ID         string          `json:"id"`
	Event      string          `json:"event"`
	OccurredAt time.Time       `json:"occurred_at"`
	Data       json.RawMessage `json:"data"`
}

// Verify returns the event of a delivery whose signature is right. body is what arrived, byte by byte.
func Verify(secret string, header http.Header, body []byte) (Event, error) {
	var event Event
	hook, err := webhooks.NewWebhook(secret)
	if err != nil {
		return event, err
	}
	if err := hook.Verify(body, header); err != nil {
		return event, err
	}
	return event, json.Unmarshal(body, &event)
}

// sender sends requests until they are answered by something else than 429 and 503. A request without an answer is sent again if that does
// nothing twice: a POST has an Idempotency-Key, the same in each attempt; one to /auth/, a DELETE, and what has an If-Match, are sent once.
type sender struct {
	http       *http.Client
	login, key string
	attempts   int
}

// Do returns answers below 400, and an *Error of others and of a call that waits for a person.
func (s *sender) Do(r *http.Request) (*http.Response, error) {
	if s.login != "" {
		r.SetBasicAuth(s.login, s.key)
	}
	if r.Method == http.MethodPost && r.Header.Get("Idempotency-Key") == "" {
		r.Header.Set("Idempotency-Key", rand.Text())
	}
	readable := r.Body == nil || r.GetBody != nil
	repeatable := r.Method != http.MethodDelete && r.Header.Get("If-Match") == "" && !strings.Contains(r.URL.Path, "/v1/auth/")
	for attempt := 1; ; attempt++ {
		last := attempt >= s.attempts || !readable
		if attempt > 1 && r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r.Body = body
		}
		wait := time.Duration(float64(250*time.Millisecond<<(attempt-1)) * (0.5 + mathrand.Float64()))
		answer, err := s.http.Do(r)
		switch {
		case err != nil:
			if last || !repeatable || r.Context().Err() != nil {
				return nil, err
			}
		case answer.StatusCode == http.StatusAccepted && strings.Contains(answer.Header.Get("Location"), "/v1/approvals/"):
			return nil, failure(answer)
		case answer.StatusCode < http.StatusBadRequest:
			return answer, nil
		case last || answer.StatusCode != http.StatusTooManyRequests && answer.StatusCode != http.StatusServiceUnavailable:
			return nil, failure(answer)
		default:
			answer.Body.Close()
			if seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After")); seconds > 0 {
				wait = min(time.Duration(seconds)*time.Second, time.Minute)
			}
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(wait):
		}
	}
}

func (s *sender) read(r *http.Request, into any) error {
	answer, err := s.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	return json.NewDecoder(answer.Body).Decode(into)
}

// failure is the error of an answer, which need not be ours: something between may have answered.
func failure(answer *http.Response) *Error {
	defer answer.Body.Close()
	var body struct {
		Code, Message string
		Data          map[string]any
	}
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if json.Unmarshal(raw, &body) != nil || body.Code == "" {
		body.Code, body.Message = fmt.Sprintf("http_%d", answer.StatusCode), "The server answered with "+answer.Status+"."
	}
	e := &Error{Status: answer.StatusCode, Code: body.Code, Message: body.Message, Data: body.Data, Fields: map[string]string{}}
	e.Reason, _ = body.Data["reason"].(string)
	e.RequestID, _ = body.Data["request_id"].(string)
	fields, _ := body.Data["params"].(map[string]any)
	for name, sentence := range fields {
		e.Fields[name], _ = sentence.(string)
	}
	return e
}
