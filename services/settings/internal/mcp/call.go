package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"frontdesk/libs/fault"
)

const (
	// callTime is how long a call of the API may take; an operation itself has 20 s.
	callTime = 30 * time.Second
	// longestQuery is the length of the longest input of an ability that reads: it travels in the address.
	longestQuery = 32 << 10
	// largestAnswer of the API in bytes. Abilities that read answer with 4 MiB at most, those that change with what they changed.
	largestAnswer = 16 << 20
)

// run calls the API for a tool, with the caller's credential.
func (a *Adapter) run(ctx context.Context, c caller, x Ability, input json.RawMessage, how rehearsal) *sdk.CallToolResult {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	defer context.AfterFunc(c.call, cancel)()
	req, err := a.request(ctx, c, x, input)
	if err != nil {
		return failed(err)
	}
	how.headers(req.Header)
	res, err := a.client.Do(req)
	if err != nil {
		return failed(fault.Unavailable())
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, largestAnswer+1))
	switch {
	case err != nil:
		return failed(fault.Unavailable())
	case len(body) > largestAnswer:
		return failed(fault.AnswerTooLarge(largestAnswer))
	case res.StatusCode == http.StatusAccepted:
		// svc_approval_needed: nothing went wrong, and nothing has happened yet.
	case res.StatusCode != http.StatusOK:
		return fromOutside(refusal(res.StatusCode, body), c.omits)
	}
	return fromOutside(answered(body), c.omits)
}

// request is the call of the API that runs an ability.
func (a *Adapter) request(ctx context.Context, c caller, x Ability, input json.RawMessage) (*http.Request, error) {
	if len(input) == 0 || string(input) == "null" {
		input = json.RawMessage("{}")
	}
	method, address := http.MethodPost, a.Gateway+"/v1/abilities/"+x.GetName()+"/run"
	var body io.Reader
	switch {
	case x.GetReadOnly():
		method = http.MethodGet
		query := url.Values{"input": {string(input)}}.Encode()
		if len(query) > longestQuery {
			return nil, fault.TooLarge(longestQuery)
		}
		address += "?" + query
	case x.GetDestructive() && x.GetIdempotent():
		method = http.MethodDelete
	}
	if method != http.MethodGet {
		raw, err := json.Marshal(map[string]json.RawMessage{"input": input})
		if err != nil {
			return nil, fault.InvalidJSON("The input is no JSON.")
		}
		body = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", c.header.Get("Authorization"))
	if err := a.Auth.Vouch(req.Header, c.actor.Address); err != nil {
		return nil, err
	}
	for _, name := range []string{"X-Request-Id", "Traceparent", "Tracestate"} {
		if v := c.header.Get(name); v != "" {
			req.Header.Set(name, v)
		}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Frontdesk-MCP")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// nothing is the text of an answer without a body.
const nothing = "Done."

// answered is the result of a call that was done: an object is structured content, and every answer is text too.
func answered(body []byte) *sdk.CallToolResult {
	body = bytes.TrimSpace(body)
	text := string(body)
	var plain string
	switch {
	case text == "null" || text == "":
		text = nothing
	case json.Unmarshal(body, &plain) == nil:
		text = plain
	}
	r := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}
	if bytes.HasPrefix(body, []byte("{")) {
		r.StructuredContent = json.RawMessage(body)
	}
	return r
}

// refusal is the result of a call that the API refused. An answer in another shape than the API's is an outage.
func refusal(status int, body []byte) *sdk.CallToolResult {
	f := fault.Fault{Status: status}
	if json.Unmarshal(body, &f) != nil || f.Code == "" {
		return failed(fault.Unavailable())
	}
	return failed(&f)
}

// failed is the result of a call that was refused: our code, message and data, for programs and as text.
func failed(err error) *sdk.CallToolResult {
	f := fault.From(err)
	body := f.Body("")
	return &sdk.CallToolResult{IsError: true, StructuredContent: json.RawMessage(body),
		Content: []sdk.Content{&sdk.TextContent{Text: string(body)}}}
}

// done is the result of a tool that answers by itself.
func done(v any) *sdk.CallToolResult {
	body, err := json.Marshal(v)
	if err != nil {
		return failed(err)
	}
	return answered(body)
}
