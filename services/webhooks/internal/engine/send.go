package engine

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/fetch"
	"frontdesk/services/webhooks/internal/delivery"
	"frontdesk/services/webhooks/internal/endpoint"
	"frontdesk/services/webhooks/internal/message"
	"frontdesk/services/webhooks/internal/receiver"
	"frontdesk/services/webhooks/internal/signature"
)

// send makes one attempt and returns within the time that a receiver has to answer.
func (r *Room) send(ctx context.Context, to endpoint.Target, j delivery.Job) delivery.Result {
	res := delivery.Result{Job: j, Webhook: to.ID, URL: to.URL, At: r.DB.Now()}
	request, err := to.Request(j.Event, j.Message, j.ID, res.At, j.Payload)
	if err != nil {
		res.Unsigned, res.Reason, res.Ended = true, "The signing secret cannot be read. Make a new one.", res.At
		return res
	}
	start := time.Now()
	res.Code, res.Answer, err = r.post(ctx, to.URL, j, request)
	res.Took, res.Ended = time.Since(start), r.DB.Now()
	switch {
	case err != nil:
		res.Reason = explain(err)
	case *res.Code/100 == 3:
		res.Reason = fmt.Sprintf("The receiver answered with status %d; redirects are not followed.", *res.Code)
	case *res.Code/100 != 2:
		res.Reason = fmt.Sprintf("The receiver answered with status %d.", *res.Code)
	}
	return res
}

func (r *Room) post(ctx context.Context, address string, j delivery.Job, request message.Request) (*int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, signature.AnswerWithin)
	defer cancel()
	ctx, span := r.tracer.Start(j.Traced(ctx), "deliver "+j.Event, trace.WithSpanKind(trace.SpanKindClient))
	defer span.End()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(request.Body))
	if err != nil {
		return nil, nil, err
	}
	req.Header = request.Header
	propagation.TraceContext{}.Inject(ctx, propagation.HeaderCarrier(req.Header))
	if status, here, err := r.receivers.Deliver(ctx, address, req.Header, request.Body); here {
		if err != nil {
			return nil, nil, err
		}
		return &status, nil, nil
	}
	// A key without a value is not sent. It lets net/http send the request again when the receiver has closed a kept connection: webhook-id tells it.
	req.Header["Idempotency-Key"] = nil
	res, err := r.client.Do(req)
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
	case errors.Is(err, receiver.ErrEnded):
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
