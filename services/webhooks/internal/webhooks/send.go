package webhooks

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/fetch"
	"frontdesk/services/webhooks/internal/signature"
)

// answerKept is how much of an answer's body is read and logged, in bytes.
const answerKept = 64 << 10

// target is a webhook as far as sending goes.
type target struct {
	id     uuid.UUID
	url    string
	secret string // empty when it cannot be read, which no secret signs with
}

// manner is why an attempt is made.
type manner int

const (
	// scheduled attempts move a delivery along its schedule.
	scheduled manner = iota
	// resent attempts are asked for by a person; one that fails changes neither status nor schedule.
	resent
)

// job is a delivery that this process holds the lease of.
type job struct {
	id, lease uuid.UUID
	event     string
	eventID   uuid.UUID
	payload   string
	status    string
	failed    int // attempts of the schedule so far
	next      *time.Time
	once      bool
	how       manner
}

// result is what became of a job.
type result struct {
	job
	to     target
	at     time.Time // of the signature
	ended  time.Time
	took   time.Duration
	code   *int
	answer []byte
	// reason why it failed, for people; empty when it was delivered.
	reason string
	// sealed tells that nothing was sent, because the secret cannot be read.
	sealed bool
	// told gets nil once the result is in the database; nil when nobody waits.
	told chan error
}

func (r result) ok() bool { return !r.sealed && r.reason == "" }

// send makes one attempt. It always comes back within the time that a receiver has.
func (e *engine) send(ctx context.Context, to target, j job) result {
	r := result{job: j, to: to, at: e.s.DB.Now()}
	headers, err := signature.Headers(to.secret, eventID(j.eventID), r.at, []byte(j.payload))
	if err != nil {
		r.sealed, r.reason, r.ended = true, "The signing secret cannot be read. Make a new one.", r.at
		return r
	}
	start := time.Now()
	r.code, r.answer, err = e.post(ctx, to.url, j, headers)
	r.took, r.ended = time.Since(start), e.s.DB.Now()
	switch {
	case err != nil:
		r.reason = explain(err)
	case *r.code/100 == 3:
		r.reason = fmt.Sprintf("The receiver answered with status %d; redirects are not followed.", *r.code)
	case *r.code/100 != 2:
		r.reason = fmt.Sprintf("The receiver answered with status %d.", *r.code)
	}
	return r
}

func (e *engine) post(ctx context.Context, address string, j job, headers map[string]string) (*int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, signature.AnswerWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(j.payload))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Frontdesk-Webhooks/1.0")
	req.Header.Set("X-Svc-Event", j.event)
	req.Header.Set("X-Svc-Delivery", j.id.String())
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		// The status alone is no answer: the deadline is for all of it.
		return &res.StatusCode, answer, err
	}
	return &res.StatusCode, answer, nil
}

// explain words an error for the people who look after the receiver. It says nothing of this network.
func explain(err error) string {
	var timeout net.Error
	var name *net.DNSError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, fetch.ErrRefused):
		return "The address is not one on the public internet, so nothing was sent."
	case errors.As(err, &timeout) && timeout.Timeout(), errors.Is(err, context.DeadlineExceeded):
		return "The receiver did not answer within 5 seconds."
	case errors.As(err, &name):
		return "The name of the receiver could not be resolved."
	case errors.As(err, &unknown), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &certificate):
		return "The receiver's certificate is not valid."
	case errors.Is(err, syscall.ECONNREFUSED):
		return "The receiver refused the connection."
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "The receiver broke the connection off."
	}
	return "The receiver could not be reached."
}

// host is the part of an address that connections are counted by.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
