package mcp

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Approvals are those of calls that wait for a person. A client reads its own as resources, and hears of their end.
type Approvals interface {
	// Follow notes whether a session wants to hear of the end of an approval; an empty session notes nothing. 404 for one that is not the caller's.
	Follow(ctx context.Context, who db.Actor, session string, id uuid.UUID, follows bool) error
	// Ended takes those that a session follows and that have ended, each once, beside those of among that have.
	Ended(ctx context.Context, who db.Actor, session string, among []uuid.UUID) ([]uuid.UUID, error)
	// Watch calls f after each end of an approval.
	Watch(f func())
}

// Addresses of approvals as resources, and the abilities that read them.
const (
	approvalURI   = "frontdesk://approvals/"
	getApproval   = "get-approval"
	listApprovals = "list-approvals"
)

// approvalOf is the approval that a URI names.
func approvalOf(uri string) (uuid.UUID, bool) {
	text, ok := strings.CutPrefix(uri, approvalURI)
	id, err := uuid.Parse(text)
	return id, ok && err == nil && id.String() == text
}

// subscriptions are the options of the library's server for resources of a caller.
func (a *Adapter) subscriptions(c caller, m message, o *sdk.ServerOptions) {
	session := c.header.Get(sessionHeader)
	if m.Method == listening {
		session = "" // the stream itself knows what it is asked for
	}
	follow := func(ctx context.Context, uri string, follows bool) error {
		id, ok := approvalOf(uri)
		if !ok {
			return sdk.ResourceNotFoundError(uri)
		}
		if session == "" && m.Method != listening {
			return &jsonrpc.Error{Code: codeInvalid, Message: "A subscription belongs to a session."}
		}
		err := a.Approvals.Follow(ctx, c.actor, session, id, follows)
		switch f := fault.From(err); {
		case err == nil:
			return nil
		case f.Status == http.StatusNotFound:
			return sdk.ResourceNotFoundError(uri)
		default:
			return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Message}
		}
	}
	o.SubscribeHandler = func(ctx context.Context, r *sdk.SubscribeRequest) error { return follow(ctx, r.Params.URI, true) }
	o.UnsubscribeHandler = func(ctx context.Context, r *sdk.UnsubscribeRequest) error { return follow(ctx, r.Params.URI, false) }
}

// addResources gives a server of the library what the message may be about: the approvals of the caller, and how any of them is addressed.
func (a *Adapter) addResources(ctx context.Context, s *sdk.Server, c caller, m message) {
	read := func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return a.readApproval(ctx, c, r.Params.URI)
	}
	switch m.Method {
	case "resources/templates/list", "resources/read":
		s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: approvalURI + "{id}", Name: "approval", Title: "A call that a person has to approve", MIMEType: "application/json",
			Description: "What became of a call that was answered with svc_approval_needed. Subscribe to it to hear when a person has decided, or its time is over."}, read)
	case "resources/list":
		x, err := a.find(c, listApprovals)
		if err != nil {
			return
		}
		var list struct {
			Items []struct {
				ID        uuid.UUID `json:"id"`
				Operation string    `json:"operation"`
				State     string    `json:"state"`
			} `json:"items"`
		}
		body, ok := a.run(ctx, c, x, json.RawMessage(`{"per_page":100}`), rehearsal{}).StructuredContent.(json.RawMessage)
		if !ok || json.Unmarshal(body, &list) != nil {
			return
		}
		for _, one := range list.Items {
			s.AddResource(&sdk.Resource{URI: approvalURI + one.ID.String(), Name: one.ID.String(), Title: one.Operation + ": " + one.State, MIMEType: "application/json"}, read)
		}
	}
}

// readApproval answers with an approval of the caller as a resource.
func (a *Adapter) readApproval(ctx context.Context, c caller, uri string) (*sdk.ReadResourceResult, error) {
	id, ok := approvalOf(uri)
	if !ok {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	x, err := a.find(c, getApproval)
	if err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	input, err := json.Marshal(map[string]string{"id": id.String()})
	if err != nil {
		return nil, err
	}
	r := a.run(ctx, c, x, input, rehearsal{})
	body, _ := r.StructuredContent.(json.RawMessage)
	if r.IsError {
		var f fault.Fault
		if json.Unmarshal(body, &f) == nil && f.Code == "svc_not_found" {
			return nil, sdk.ResourceNotFoundError(uri)
		}
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: f.Message, Data: body}
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "application/json", Text: string(body), Meta: r.Meta}}}, nil
}

// followed are the approvals that a message of listening asks for.
func (m message) followed() (ids []uuid.UUID) {
	var params struct {
		Notifications struct {
			URIs []string `json:"resourceSubscriptions"`
		} `json:"notifications"`
	}
	_ = json.Unmarshal(m.Params, &params) // the library refuses other params
	for _, uri := range params.Notifications.URIs {
		if id, ok := approvalOf(uri); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// ended calls f with the approvals that a stream follows, once each.
func (a *Adapter) ended(ctx context.Context, c caller, session string, among []uuid.UUID, told map[uuid.UUID]bool, f func(uri string)) {
	among = slices.DeleteFunc(slices.Clone(among), func(id uuid.UUID) bool { return told[id] })
	if session == "" && len(among) == 0 {
		return
	}
	ids, err := a.Approvals.Ended(ctx, c.actor, session, among)
	if err != nil {
		return // the client asks itself when it hears nothing
	}
	for _, id := range ids {
		told[id] = true
		f(approvalURI + id.String())
	}
}
