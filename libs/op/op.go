// Package op turns one declaration per operation into its route, permission check, validation, OpenAPI
// entry, assistant ability, gateway route, audit entry, span and metrics, by way of go-kit's endpoint
// and HTTP transport. The function behind an operation is a plain one.
package op

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-kit/kit/endpoint"
	"github.com/google/uuid"

	"frontdesk/libs/auth"
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
	// Reads marks a POST that changes nothing: it runs in a read-only transaction.
	Reads bool
	// Audited marks a read that is recorded in the audit log, as exports are.
	Audited bool
	// Unaudited marks a write that the team did not make and that has a record of its own, or that writes an entry for each of its
	// records with Audit.
	Unaudited bool
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
	// Destructive and Idempotent are hints for assistants; DELETE implies both.
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

const maxBody = 1 << 20

// Set is the operations of one service.
type Set struct {
	// Service is its name.
	Service string
	DB      *db.DB
	Auth    *auth.Auth
	// AppOn reports whether an app is switched on; nil means that all are.
	AppOn func(app string) bool
	// Exposed reports whether assistants may use an ability ("svc/…"), where byDefault is what its operation says; nil leaves it
	// at that.
	Exposed func(ability string, byDefault bool) bool
	// Fingerprints returns the keyed fingerprints of a request, as db.Request has them. A plain hash would let whoever reads the
	// table try out what somebody has sent.
	Fingerprints func(request []byte) [][]byte
	// RateFactor multiplies every limit; 0 is none.
	RateFactor float64

	// Webhooks describes the calls that the service makes; nil if it makes no calls.
	Webhooks *Webhooks

	ops      []*entry
	tags     []Tag
	under    string // the name of the tag for operations that are added now
	examples map[string]Example
	files    Slots
	streams  Slots
	ended    chan struct{} // closed by EndStreams
	endOnce  sync.Once
	answers  huma.Registry
	requests huma.Registry
}

// NewSet makes an empty set.
func NewSet(service string, d *db.DB, a *auth.Auth) *Set {
	return &Set{Service: service, DB: d, Auth: a, RateFactor: 1, ended: make(chan struct{}),
		files:    Slots{Most: maxFiles, Each: filesEach, Wait: stalledAfter},
		streams:  Slots{Most: maxStreams, Each: streamsEach, Wait: heartbeat},
		answers:  huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
		requests: huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string { return huma.DefaultSchemaNamer(t, hint) + "Input" }),
	}
}

type entry struct {
	Op
	set    *Set
	tag    string
	in     []*field
	out    *huma.Schema
	csv    bool
	events bool
	tagged bool // its answer carries an ETag
	// takesAny says that its input is Sent.
	takesAny bool
	call     endpoint.Endpoint
	outKey   []int // index of the answer's id
}

// Add declares o and binds it to f, which runs in one transaction: read-only when the operation reads,
// else together with the audit entry and the stored answer of an Idempotency-Key.
func Add[In, Out any](s *Set, o Op, f func(context.Context, *db.Tx, In) (Out, error)) {
	e := newEntry[In, Out](s, o)
	bindTo(e, func(ctx context.Context, r *request, in In) (any, error) {
		if e.reads() && !e.Audited {
			var out Out
			err := s.DB.Read(ctx, func(tx *db.Tx) (err error) {
				out, err = f(ctx, tx, in)
				return err
			})
			return out, err
		}
		var done any
		err := s.DB.Do(ctx, func(tx *db.Tx) error {
			if r.key != "" {
				stored, err := tx.Claim(ctx, r.claim(e))
				if err != nil || stored != nil {
					done = stored
					return err
				}
			}
			out, err := f(ctx, tx, in)
			if err != nil {
				return err
			}
			if !tx.Compared() {
				return fmt.Errorf("op: %s does not compare the version that its caller has seen", e.ID)
			}
			done = out
			if err := e.audit(ctx, tx, r, out); err != nil || r.key == "" {
				return err
			}
			return tx.Keep(ctx, r.claim(e), e.stored(ctx, r, out))
		})
		return done, err
	})
}

// AddOutside is Add for functions that talk to the network, and so open their own transactions with
// s.DB. They write their own audit entry with Audit in the transaction of their change.
func AddOutside[In, Out any](s *Set, o Op, f func(context.Context, *db.DB, In) (Out, error)) {
	e := newEntry[In, Out](s, o)
	bindTo(e, func(ctx context.Context, r *request, in In) (any, error) {
		if r.key == "" {
			return f(ctx, s.DB, in)
		}
		var out Out
		stored, err := s.DB.Exclusive(ctx, r.claim(e), func() (db.Answer, error) {
			var err error
			if out, err = f(ctx, s.DB, in); err != nil {
				return db.Answer{}, err
			}
			return e.stored(ctx, r, out), nil
		})
		if err != nil || stored != nil {
			return stored, err
		}
		return out, nil
	})
}

func newEntry[In, Out any](s *Set, o Op) *entry {
	if o.ID == "" || o.Perm == "" || o.Doc == "" {
		panic("op: " + o.Route + " needs an ID, a permission and a sentence")
	}
	for _, e := range s.ops {
		if e.ID == o.ID || e.Route == o.Route {
			panic("op: declared twice: " + o.ID)
		}
	}
	if wrong := o.Fails.wrong(); wrong != "" {
		panic("op: " + o.ID + " " + wrong)
	}
	if o.MaxBody == 0 {
		o.MaxBody = maxBody
	}
	if o.LimitKey == "" {
		o.LimitKey = o.ID
	}
	e := &entry{Op: o, set: s, tag: cmp.Or(s.under, s.Service)}
	e.in = e.plan(reflect.TypeFor[In]())
	e.takesAny = reflect.TypeFor[In]() == reflect.TypeFor[Sent]()
	out := reflect.TypeFor[Out]()
	e.tagged = out.Implements(reflect.TypeFor[Versioned]())
	if !out.Implements(reflect.TypeFor[interface{ noBody() }]()) {
		e.out = s.answers.Schema(out, true, o.ID+"Answer")
		for name, schema := range s.answers.Map() {
			for _, f := range fieldsOf(s.answers, name) {
				name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if p := schema.Properties[name]; p != nil {
					declareShared(f, p)
					if f.Type.Kind() == reflect.Pointer && p.Enum != nil && !slices.Contains(p.Enum, nil) {
						p.Enum = append(p.Enum, nil) // null is one of the values then
					}
				}
			}
		}
	}
	if out.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(out) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == "id" {
				e.outKey = f.Index
			}
		}
	}
	s.ops = append(s.ops, e)
	return e
}

// within is how long an operation may take once its request is there, but for downloads and streams.
const within = 20 * time.Second

// bindTo makes the endpoint of e: it reads the request into an In, whatever time its body takes to arrive, and hands it to run.
func bindTo[In any](e *entry, run func(context.Context, *request, In) (any, error)) {
	e.call = endpoint.Chain(e.observe(), e.admit())(func(ctx context.Context, asked any) (any, error) {
		r := asked.(*request)
		var in In
		if err := e.bind(r, &in); err != nil {
			return nil, err
		}
		if !e.csv && !e.events {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, within)
			defer cancel()
		}
		return run(ctx, r, in)
	})
}

// HoldsSecret is implemented by answers that show a secret once: WithoutSecret is the answer to store for a repeated call.
type HoldsSecret interface{ WithoutSecret() any }

// ByID is the input of operations that take nothing but the record's id in their path.
type ByID struct {
	ID uuid.UUID `json:"id"`
}

// stored is out as it is kept for a repeated call: without a secret, and with the records that it is about.
func (e *entry) stored(ctx context.Context, r *request, out any) db.Answer {
	a := db.Answer{Status: e.status(out)}
	for _, text := range []string{e.pathID(r), e.answerID(out)} {
		if id, err := uuid.Parse(text); err == nil {
			a.About = append(a.About, id)
		}
	}
	if o, ok := out.(HoldsSecret); ok {
		out = o.WithoutSecret()
	}
	var err error
	if a.Body, err = encode(out); err != nil {
		slog.ErrorContext(ctx, "answer cannot be stored", "op", e.ID, "error", err)
	}
	return a
}

func (e *entry) status(out any) int {
	if s, ok := out.(interface{ StatusCode() int }); ok && s.StatusCode() != 0 {
		return s.StatusCode()
	}
	if e.Status != 0 {
		return e.Status
	}
	return http.StatusOK
}

// Encoded is implemented by answers that are JSON already and too large to be encoded again.
type Encoded interface{ EncodedJSON() []byte }

func encode(v any) ([]byte, error) {
	if e, ok := v.(Encoded); ok {
		return e.EncodedJSON(), nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (o Op) method() string { m, _, _ := strings.Cut(o.Route, " "); return m }
func (o Op) path() string   { _, p, _ := strings.Cut(o.Route, " "); return p }
func (o Op) reads() bool    { return o.Reads || o.method() == http.MethodGet }

// replays is that of the declaration. Of an operation that takes any request the header is a part of the request.
func (e *entry) replays() bool { return !e.takesAny && e.Op.replays() }

// replays reports whether a repeated Idempotency-Key gets the stored answer. Answers of /auth/ are secrets and cookies,
// which are never stored, so a repeated call could not return them.
func (o Op) replays() bool {
	return o.method() == http.MethodPost && !o.reads() && !strings.HasPrefix(o.path(), "/auth/")
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
