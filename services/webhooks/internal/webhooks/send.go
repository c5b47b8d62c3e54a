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
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/fetch"
	"frontdesk/services/webhooks/internal/signature"
)

// answerKept is how much of an answer's body is read and logged, in bytes.
const answerKept = 64 << 10

// target is where the requests of a webhook go.
type target struct {
	id     uuid.UUID
	url    string
	secret string // empty if it cannot be read; nothing is signed with an empty secret
	old    string // the secret before, while it is valid too; else empty
}

// job is a delivery that this process holds the lease of.
type job struct {
	ID      uuid.UUID
	Lease   uuid.UUID
	Event   string
	Message uuid.UUID // the event's id
	Payload string
	// Traceparent is the trace of the change, empty if it was not traced.
	Traceparent string
	Status      string
	Failed      int        `db:"failed_attempts"` // attempts of the schedule so far
	Next        *time.Time `db:"next_attempt_at"`
	Once        bool       // a test: one attempt, never a second
	// Resent attempts are asked for by a person. One that fails changes neither status nor schedule.
	Resent bool `db:"-"`
}

// traced is ctx within the trace of the change.
func (j job) traced(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": j.Traceparent})
}

// result is how the attempt of a job ended.
type result struct {
	job
	to     target
	at     time.Time // of the signature
	ended  time.Time
	took   time.Duration
	code   *int
	answer []byte
	// reason why the attempt failed, for people; empty if the delivery succeeded.
	reason string
	// unsigned reports that nothing was sent, because the secret cannot be read.
	unsigned bool
	// done receives nil once the result is in the database. The channel is nil if no caller waits.
	done chan error
}

func (r result) ok() bool { return r.reason == "" }

// send makes one attempt and returns within the time that a receiver has to answer.
func (e *engine) send(ctx context.Context, to target, j job) result {
	r := result{job: j, to: to, at: e.s.DB.Now()}
	headers, err := signature.Headers(to.secret, to.old, eventID(j.Message), r.at, []byte(j.Payload))
	if err != nil {
		r.unsigned, r.reason, r.ended = true, "The signing secret cannot be read. Make a new one.", r.at
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
	ctx, span := e.tracer.Start(j.traced(ctx), "deliver "+j.Event, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(j.Payload))
	if err != nil {
		return nil, nil, err
	}
	req.Header = headersOf(j, headers)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	if token, ok := e.s.receiverToken(address); ok {
		status, err := e.s.deliverHere(ctx, token, req.Header, j.Payload)
		if err != nil {
			return nil, nil, err
		}
		return &status, nil, nil
	}
	res, err := e.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	// The status is the receiver's answer. The body is for the log: what came of it in time.
	answer, _ := io.ReadAll(res.Body)
	return &res.StatusCode, answer, nil
}

// headersOf are the headers of a request: those of every one, and its signatures.
func headersOf(j job, signatures map[string]string) http.Header {
	// A key without a value is not sent. It lets net/http send the request again when the receiver has closed a kept connection: webhook-id tells it.
	h := http.Header{"Idempotency-Key": nil}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "Frontdesk-Webhooks/1.0")
	h.Set("X-Svc-Event", j.Event)
	h.Set("X-Svc-Delivery", j.ID.String())
	for name, value := range signatures {
		h.Set(name, value)
	}
	return h
}

// explain is the sentence about err for the people who look after the receiver. It reveals nothing about this network.
func explain(err error) string {
	var timeout net.Error
	var name *net.DNSError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errReceiverEnded):
		return "The test receiver at this address has ended. Open a new one, or enter the address of your own receiver."
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

// host is the part of an address by which requests in flight are counted.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Host)
}
