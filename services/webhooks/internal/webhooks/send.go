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

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/fetch"
	"frontdesk/services/webhooks/internal/signature"
)

// send makes one attempt and returns within the time that a receiver has to answer.
func (e *engine) send(ctx context.Context, to Target, j Job) Result {
	r := Result{Job: j, Webhook: to.ID, URL: to.URL, At: e.s.DB.Now()}
	signatures, err := to.Sign(j.Message, r.At, []byte(j.Payload))
	if err != nil {
		r.Unsigned, r.Reason, r.Ended = true, "The signing secret cannot be read. Make a new one.", r.At
		return r
	}
	start := time.Now()
	r.Code, r.Answer, err = e.post(ctx, to.URL, j, signatures)
	r.Took, r.Ended = time.Since(start), e.s.DB.Now()
	switch {
	case err != nil:
		r.Reason = explain(err)
	case *r.Code/100 == 3:
		r.Reason = fmt.Sprintf("The receiver answered with status %d; redirects are not followed.", *r.Code)
	case *r.Code/100 != 2:
		r.Reason = fmt.Sprintf("The receiver answered with status %d.", *r.Code)
	}
	return r
}

func (e *engine) post(ctx context.Context, address string, j Job, signatures map[string]string) (*int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, signature.AnswerWithin)
	defer cancel()
	ctx, span := e.tracer.Start(j.Traced(ctx), "deliver "+j.Event, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(j.Payload))
	if err != nil {
		return nil, nil, err
	}
	req.Header = Headers(j.Event, j.ID, signatures)
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	if status, here, err := e.s.Deliver(ctx, address, req.Header, j.Payload); here {
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

// explain is the sentence about err for the people who look after the receiver. It reveals nothing about this network.
func explain(err error) string {
	var timeout net.Error
	var name *net.DNSError
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, ErrEnded):
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
