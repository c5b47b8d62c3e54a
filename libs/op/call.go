package op

import (
	"context"
	"encoding/json"
	"net/http"

	httptransport "github.com/go-kit/kit/transport/http"
	"github.com/google/uuid"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Call runs the operation id for a page of the same service, in the name of whoever sent r: with the
// checks, limits, transaction and audit entry of a request to the operation itself. in holds path, query
// and body fields by name and becomes JSON; the answer is decoded into out unless that is nil. The header
// is what the operation adds to its answer, such as a cookie. The error is a fault. How much of the body is
// read is for the page to bound.
func (s *Set) Call(r *http.Request, id string, in map[string]any, out any) (http.Header, error) {
	var e *entry
	for _, o := range s.ops {
		if o.ID == id {
			e = o
		}
	}
	if e == nil || e.csv {
		return nil, fault.NoRoute()
	}
	request := &request{args: map[string]json.RawMessage{}}
	for name, value := range in {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, fault.InvalidJSON("The request could not be read.")
		}
		request.args[name] = raw
	}
	ctx := r.Context()
	if RequestID(ctx) == "" {
		ctx = context.WithValue(ctx, requestKey{}, uuid.NewString())
	}
	ctx = context.WithValue(ctx, headerKey{}, r.Header)
	request.http = r.Clone(ctx)
	for _, f := range e.in {
		if f.inPath {
			request.http.SetPathValue(f.name, trimQuotes(request.args[f.name]))
		}
	}
	answer, err := e.call(ctx, request)
	if err != nil {
		return nil, fault.From(err)
	}
	header := http.Header{}
	if h, ok := answer.(httptransport.Headerer); ok {
		header = h.Headers()
	}
	if out == nil {
		return header, nil
	}
	if stored, ok := answer.(*db.Answer); ok {
		return header, json.Unmarshal(stored.Body, out)
	}
	body, err := encode(answer)
	if err != nil {
		return nil, err
	}
	return header, json.Unmarshal(body, out)
}
