package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// Path is where the protocol is served.
const Path = "/mcp"

// maxBody is the size of the largest request in bytes. An import of 5 MB of CSV fits, as JSON in JSON.
const maxBody = 8 << 20

// Options are what the adapter uses of the service.
type Options struct {
	// PublicURL is the address of the gateway as people see it, Gateway as this process reaches it.
	PublicURL, Gateway string
	// Auth authenticates callers, and vouches for their address.
	Auth *auth.Auth
	// Abilities are those that are exposed to assistants and whose app is on, sorted by name.
	Abilities func() []Ability
	// Changed returns a channel that is closed by the next change of abilities, apps, people, roles or keys.
	Changed func() <-chan struct{}
	// Stopping is closed when the process has to stop. Streams end then.
	Stopping <-chan struct{}
	// Key signs the numbers of sessions.
	Key []byte
	// Approvals are those of calls that wait for a person.
	Approvals Approvals
	// Decided returns a channel that is closed by the next end of an approval.
	Decided func() <-chan struct{}
	// Elsewhere tells the other replicas of a call that was cancelled here and does not run here: there Cancel ends it. It is nil in a process without others beside it.
	Elsewhere func(ctx context.Context, call string) error
}

// Ability is an ability and the service that has it.
type Ability struct {
	*proto.Ability
	Group string
}

// Adapter serves /mcp.
type Adapter struct {
	Options
	client  *http.Client
	origin  string
	handler http.Handler
	streams op.Slots
	calls   calls
}

// New makes the handler of Path.
func New(o Options) *Adapter {
	a := &Adapter{Options: o, client: &http.Client{
		Transport:     http.DefaultTransport.(*http.Transport).Clone(),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, streams: op.Slots{Most: streamsOfAll, Each: streamsOfOne, Wait: time.Minute}}
	if u, err := url.Parse(o.PublicURL); err == nil {
		a.origin = u.Scheme + "://" + u.Host
	}
	a.handler = sdk.NewStreamableHTTPHandler(serverOf, &sdk.StreamableHTTPOptions{
		// Without a session in the library: sessions are this package's, see session.go.
		Stateless: true, JSONResponse: true, PropagateRequestCancellation: true, MaxRequestBodyBytes: -1, // see post
		// The gateway listens on loopback too, under any name. This package checks the Origin instead.
		DisableLocalhostProtection: true,
	})
	return a
}

type serverKey struct{}

// serverOf returns the server that post made for a request.
func serverOf(r *http.Request) *sdk.Server {
	s, _ := r.Context().Value(serverKey{}).(*sdk.Server)
	return s
}

// caller is who sends a request, and for which tools they asked.
type caller struct {
	actor  db.Actor
	groups []string // nil for the three tools that lead to all abilities
	reads  bool     // shown are abilities that read only
	omits  bool     // what visitors typed is left out of answers
	header http.Header
	call   context.Context // ends when nobody waits for the answer any more, which the library does not tell before version 2026-07-28
}

func (a *Adapter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r = op.Identify(w, r)
	r.Header.Set("X-Request-Id", op.RequestID(r.Context())) // for the calls of the API
	w.Header().Set("Cache-Control", "no-store")
	if err := a.serve(w, r); err != nil {
		a.refuse(w, r, err)
	}
}

// serve answers, or returns why nothing was answered.
func (a *Adapter) serve(w http.ResponseWriter, r *http.Request) error {
	if a.foreign(r) {
		return fault.Refused("cross_origin", "This cannot be done from another site.")
	}
	// A session of a browser does not count: another site could use it.
	if r.Header.Get("Authorization") == "" {
		return fault.Unauthorized("Connect with OAuth, or use an application password for assistants.")
	}
	actor, err := a.Auth.Authenticate(r.Context(), r)
	if err != nil {
		return err
	}
	actor.Address = a.Auth.Address(r)
	c := caller{actor: actor, header: r.Header}
	query := r.URL.Query()
	if c.groups, err = a.wanted(query); err != nil {
		return err
	}
	if c.reads, err = switched(query, "readonly", "1"); err != nil {
		return err
	}
	if c.omits, err = switched(query, "untrusted", "omit"); err != nil {
		return err
	}
	if id := r.Header.Get(sessionHeader); id != "" && !a.isSession(id, actor) {
		return fault.NotFound("session")
	}
	// The library says itself which versions there are to a client that asks by a newer one.
	if v := version(r); v != "" && !slices.Contains(sdk.SupportedProtocolVersions(), v) && (r.Method != http.MethodPost || v < stateless) {
		return fault.Invalid("MCP-Protocol-Version", fault.NewProblem("unknown", "must be one of "+strings.Join(sdk.SupportedProtocolVersions(), ", ")))
	}
	switch r.Method {
	case http.MethodPost:
		return a.post(w, r, c)
	case http.MethodGet:
		return a.listen(w, r, c)
	}
	// A session holds nothing that could be ended.
	return notAllowed(w, "This path does not answer to "+r.Method+".", "GET", "POST")
}

// notAllowed refuses a method.
func notAllowed(w http.ResponseWriter, sentence string, allowed ...string) error {
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	return fault.New(http.StatusMethodNotAllowed, "svc_method_not_allowed", sentence, "allow", allowed)
}

// foreign reports whether a page of another site sends the request, also one that has made its name lead here.
func (a *Adapter) foreign(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return true
	}
	origin := r.Header.Get("Origin")
	return origin != "" && !strings.EqualFold(origin, a.origin)
}

// wanted reads ?tools=: all, or names of groups.
func (a *Adapter) wanted(q url.Values) ([]string, error) {
	var groups []string
	for _, v := range q["tools"] {
		for name := range strings.SplitSeq(v, ",") {
			if name = strings.TrimSpace(name); name != "" {
				groups = append(groups, name)
			}
		}
	}
	all := a.groups()
	if slices.Contains(groups, "all") {
		return all, nil
	}
	for _, name := range groups {
		if !slices.Contains(all, name) {
			return nil, fault.Invalid("tools", fault.NewProblem("unknown", "must be all, or some of "+strings.Join(all, ", ")))
		}
	}
	return groups, nil
}

// switched reports whether a parameter of the address has the one value that it may have.
func switched(q url.Values, name, value string) (bool, error) {
	if given := q.Get(name); given != "" && given != value {
		return false, fault.Invalid(name, fault.NotOneOf(value))
	}
	return q.Get(name) != "", nil
}

func (a *Adapter) groups() []string {
	var all []string
	for _, x := range a.Abilities() {
		all = append(all, x.Group)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (a *Adapter) post(w http.ResponseWriter, r *http.Request, c caller) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		return fault.TooLarge(maxBody)
	}
	if err != nil {
		return fault.InvalidJSON("The request cannot be read.")
	}
	if body = bytes.TrimSpace(body); !bytes.HasPrefix(body, []byte("[")) {
		m, wrong := parse(body)
		return a.answer(w, r, c, m, wrong)
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil || len(batch) == 0 || version(r) >= unbatched {
		(&problem{codeInvalid, "This is no batch that could be served: since version " + unbatched + " there are none."}).refuse(w, r, nil)
		return nil
	}
	var answers []json.RawMessage
	for _, body := range batch {
		one := &kept{header: http.Header{}}
		m, wrong := parse(body)
		if m.Method == listening && m.ID != nil {
			wrong = &problem{codeMethodNotFound, "There are no streams in a batch: it would never end."}
		}
		if err := a.answer(one, r, c, m, wrong); err != nil {
			return err
		}
		if one.Len() > 0 {
			answers = append(answers, one.Bytes())
		}
	}
	if len(answers) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(answers)
}

// answer answers one message; wrong is why it cannot be served.
func (a *Adapter) answer(w http.ResponseWriter, r *http.Request, c caller, m message, wrong *problem) error {
	switch {
	case wrong != nil:
		wrong.refuse(w, r, m.ID)
		return nil
	case m.ID == nil || m.Method == "":
		// A notification, or an answer to a request that nobody has sent.
		if err := a.cancelled(r, m); err != nil {
			return err
		}
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	call, end := a.calls.begin(r, m.ID)
	defer end()
	c.call = call
	seen := a.fingerprint(c)
	s := a.server(ctx, c, m)
	renamed, restoring, err := m.renamed(w)
	if err != nil {
		return err
	}
	switch m.Method {
	case "initialize":
		w.Header().Set(sessionHeader, a.newSession(c.actor))
	case listening:
		leave, err := a.streams.Enter(c.actor.Credential, true)
		if err != nil {
			return err
		}
		defer leave()
		unlimited(w)
		go a.keep(ctx, cancel, c, seen, s, m.followed(), restoring.begun)
	}
	r = r.WithContext(context.WithValue(ctx, serverKey{}, s))
	r.Body = io.NopCloser(bytes.NewReader(renamed))
	a.handler.ServeHTTP(restoring, r)
	return nil
}

// unlimited lifts the time limits of the connection, for a stream.
func unlimited(w http.ResponseWriter) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{})
	_ = control.SetWriteDeadline(time.Time{})
}

// scopes are the permissions that lead to the abilities which assistants may use here.
func (a *Adapter) scopes() []string {
	abilities := a.Abilities()
	return slices.DeleteFunc(slices.Clone(auth.Permissions), func(p string) bool {
		return p != auth.ViewContacts && !slices.ContainsFunc(abilities, func(x Ability) bool { return x.GetPermission() == p })
	})
}

// refuse answers with a fault. A 401 says where to find out how to connect, and what to ask for.
func (a *Adapter) refuse(w http.ResponseWriter, r *http.Request, err error) {
	if fault.From(err).Status == http.StatusUnauthorized {
		challenge := `Bearer resource_metadata="` + a.PublicURL + ResourcePath + Path + `", scope="` + strings.Join(a.scopes(), " ") + `"`
		if kind, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(kind, "Bearer") {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	op.WriteFault(r.Context(), err, w)
}

// ResourcePath is where the metadata of a protected resource is; the path of the resource follows.
const ResourcePath = "/.well-known/oauth-protected-resource"
