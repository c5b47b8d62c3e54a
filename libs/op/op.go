// Package op turns one declaration per operation into its route, permission check, validation, assistant
// ability, audit entry, span and metrics, by way of go-kit's endpoint and HTTP transport. The function
// behind an operation is a plain one. Package openapi describes what is declared here.
package op

import (
	"net/http"
	"strings"

	"frontdesk/libs/db"
)

// Op is everything that the outside sees of one operation.
type Op struct {
	// ID is the operationId, and the ability's name unless Ability says otherwise.
	ID string
	// Route is method and path without /v1: "POST /contacts/{id}/merge".
	Route string
	// Perm is one of the permissions of libs/auth, Public or SignedIn.
	Perm string
	// App that has to be on; empty for none.
	App string
	// Status of success when the answer does not say: 200 when zero.
	Status int
	// Also is another status of success, for answers with a method StatusCode.
	Also int
	// Doc is one or two sentences for the OpenAPI description and for assistants. It begins with a verb: "Book …".
	Doc string
	// Fails are the refusals by rules of its own.
	Fails Fails
	// Use is what an assistant has to be told beside Doc: when to use the ability, what it answers with, what cannot be undone.
	Use string
	// Ability is the name without svc/; empty means ID, "-" means none. Several operations may share
	// one: the first declared is the one that runs.
	Ability string
	// Record is the kind of record in the audit log. Its id is the path's, else the answer's; a "user" without either is the
	// one who acts.
	Record string
	// Action is the name in the audit log; empty means that of the ability, else ID. Operations that save parts of one record share one.
	Action string
	// Reads marks a POST that changes nothing: it runs in a read-only transaction. A GET reads.
	Reads bool
	// Audited marks a read that is recorded in the audit log, as exports are.
	Audited bool
	// Unaudited marks a write that the team did not make and that has a record of its own, or that writes an entry for each of its
	// records with Audit.
	Unaudited bool
	// Undo says how a call is taken back. Operations that write, and are neither public nor about signing in, need it.
	Undo Undo
	// PersonOnly refuses application passwords and assistants.
	PersonOnly bool
	// ForAssistants admits application passwords of assistants to an operation that is no ability.
	ForAssistants bool
	// SeesAll refuses callers who see only their own records, because the operation gives or sends away any record.
	SeesAll bool
	// BeforeTwoFactor admits a session that lacks the second factor which the site demands.
	BeforeTwoFactor bool
	// Hidden keeps the ability from assistants until a person exposes it, see Set.Exposed.
	Hidden bool
	// Versioned marks a change of a record whose answers carry an ETag: it honours If-Match. Its function calls tx.Match.
	Versioned bool
	// Destructive and Idempotent are hints for assistants; DELETE implies both, PUT the second.
	Destructive, Idempotent bool
	// Outside is a hint for assistants: it reaches people or systems outside, by a mail or a call.
	Outside bool
	// Channel of what visitors do, for Public operations.
	Channel string
	// SameOrigin refuses writes from other sites although nobody needs to be signed in.
	SameOrigin bool
	// Limits apply per visitor address, in IPv6 per /64, and twenty times as much per /48. Operations with the same LimitKey
	// share them.
	Limits   []db.Limit
	LimitKey string
	// PerPerson has the limits apply per user, from whatever address.
	PerPerson bool
	// MaxBody in bytes: 1 MiB when zero.
	MaxBody int64
	// Accepts are the media types of an operation whose input is a File.
	Accepts []string
}

const (
	// Public operations need no login.
	Public = "public"
	// SignedIn operations need a user, with whatever permissions.
	SignedIn = "signed in"
)

// None is the input or answer of an operation without one. As an answer it is 204, also when it is
// embedded in a type that only sets headers.
type None struct{}

func (None) noBody() {}

// StatusCode is 204.
func (None) StatusCode() int { return http.StatusNoContent }

// MaxBody is the most bytes of a body unless Op.MaxBody says otherwise.
const MaxBody = 1 << 20

// Method is that of the route.
func (o Op) Method() string { m, _, _ := strings.Cut(o.Route, " "); return m }

// Path is that of the route, with its parameters in braces.
func (o Op) Path() string { _, p, _ := strings.Cut(o.Route, " "); return p }

// Replays is that of the declaration. Of an operation that takes any request the header is a part of the request.
func (e *Entry) Replays() bool { return !e.TakesAny && e.Op.Replays() }

// Accepted reports whether the header Accept counts: it has to admit JSON, except for files, streams and operations that take any request.
func (e *Entry) Accepted() bool { return e.Media == "" && !e.TakesAny }

// Replays reports whether a repeated Idempotency-Key gets the stored answer. Answers of /auth/ are secrets and cookies,
// which are never stored, so a repeated call could not return them.
func (o Op) Replays() bool {
	return o.Method() == http.MethodPost && !o.Reads && !strings.HasPrefix(o.Path(), "/auth/")
}

// AbilityName is "svc/" and the ability's name, or empty for an operation that is none.
func (o Op) AbilityName() string {
	if name := o.ability(); name != "" && o.Perm != Public {
		return "svc/" + name
	}
	return ""
}

func (o Op) ability() string {
	switch o.Ability {
	case "-":
		return ""
	case "":
		return o.ID
	}
	return o.Ability
}
