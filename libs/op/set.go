package op

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-kit/kit/endpoint"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/webhook"
)

// What a process has open at once of the answers that last: files, and streams of events.
const (
	maxFiles, filesEach     = 16, 4
	maxStreams, streamsEach = 2000, 10
)

// Set is the operations of one service.
type Set struct {
	// Service is its name.
	Service string
	DB      *db.DB
	// AppOn reports whether an app is switched on; in a new set all are.
	AppOn func(app string) bool
	// Exposed reports whether assistants may use an ability ("svc/…"), where byDefault is what its operation says; a new set leaves it
	// at that.
	Exposed func(ability string, byDefault bool) bool
	// Approval says which calls of an ability ("svc/…") wait for a person, whichever assistant makes them, see db.Actor.Approval; in a new set no call does.
	Approval func(ability string) string
	// Describe returns an ability as assistants see it, which GET /abilities/svc/{name} answers with; nil means that abilities are run
	// only.
	Describe func(*Entry) any
	// Fingerprints returns the keyed fingerprints of a request, as db.Request has them. A plain hash would let whoever reads the
	// table try out what somebody has sent.
	Fingerprints func(request []byte) [][]byte
	// Endpoints are the webhooks that there are, for the effects of a call; a new set knows no webhook.
	Endpoints func() []webhook.Endpoint
	// Others asks the other services what they would do because of messages that a call would publish, and returns it by service: nil for one that does not say
	// so within a second. nil where there are no others.
	Others func(ctx context.Context, messages []db.Message) map[string]*Effects
	// RateFactor multiplies every limit; with 0 nothing is limited.
	RateFactor float64

	// Webhooks describes the calls that the service makes; nil if it makes no calls.
	Webhooks *Webhooks

	// Tags are the headings in the order of Under.
	Tags []Tag
	// Requests and Answers are the schemas of what operations take and answer with, by the names of the Go types.
	Requests, Answers huma.Registry

	auth *auth.Auth
	ops  []*Entry
	// described are the schemas of Requests and Answers that are whole.
	described map[*huma.Schema]bool
	under     string // the name of the tag for operations that are added now
	examples  map[string]json.RawMessage
	files     Slots
	streams   Slots
	ended     chan struct{} // closed by EndStreams
	endOnce   sync.Once
}

// NewSet makes an empty set.
func NewSet(service string, d *db.DB, a *auth.Auth) *Set {
	s := &Set{Service: service, DB: d, auth: a, RateFactor: 1, ended: make(chan struct{}), examples: map[string]json.RawMessage{}, described: map[*huma.Schema]bool{},
		AppOn: func(string) bool { return true }, Exposed: func(_ string, byDefault bool) bool { return byDefault }, Approval: func(string) string { return "" },
		Endpoints: func() []webhook.Endpoint { return nil },
		files:     Slots{Most: maxFiles, Each: filesEach, Wait: stalledAfter},
		streams:   Slots{Most: maxStreams, Each: streamsEach, Wait: heartbeat},
		Answers:   huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
		Requests:  huma.NewMapRegistry("#/components/schemas/", func(t reflect.Type, hint string) string { return huma.DefaultSchemaNamer(t, hint) + "Input" }),
	}
	s.answerSchema(Op{ID: dryRun}, reflect.TypeFor[Rehearsal]())
	s.answerSchema(Op{ID: dryRun}, reflect.TypeFor[Approval]())
	return s
}

// Tag is a heading in the description, under which operations stand.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Webhooks are the calls that a service makes: an OpenAPI path item by the event's name. Its schemas may refer to those of other services.
type Webhooks struct {
	Tag   Tag                       `json:"tag"`
	Items map[string]map[string]any `json:"items"`
}

// Entry is an operation of a set: its Op, in which nothing is left to a default, and what the types of its function say.
type Entry struct {
	Op
	// Tag is the name of its heading.
	Tag string
	// In are the fields of its input.
	In []*Field
	// Out is the schema of its answer; nil if the answer is empty or no JSON.
	Out *huma.Schema
	// Download and Events say that its answer is a file that is sent while it is written, or a stream of server-sent events.
	Download, Events bool
	// Media is the media type of an answer that is no JSON, else empty.
	Media string
	// Kept says that a caller who has the answer already is told so with 304.
	Kept bool
	// Tagged says that its answer carries an ETag.
	Tagged bool
	// TakesAny says that its input is Sent.
	TakesAny bool

	set    *Set
	takes  reflect.Type // of its input
	call   endpoint.Endpoint
	outKey []int // index of the answer's id
	// inTransaction says that all it does is in one transaction, see Add.
	inTransaction bool
}

// Under puts the operations that are added after it under a heading. text says in a sentence or two what they are about.
func (s *Set) Under(name, text string) {
	if s.under = name; !slices.Contains(s.Tags, Tag{name, text}) {
		s.Tags = append(s.Tags, Tag{name, text})
	}
}

// Examples takes what tests have recorded, by operation, see apptest.CheckExamples. Each room of a service gives its own.
func (s *Set) Examples(recorded []byte) {
	var more map[string]json.RawMessage
	if err := json.Unmarshal(recorded, &more); err != nil {
		panic("op: examples of " + s.Service + ": " + err.Error()) // they are compiled in
	}
	for id, x := range more {
		if _, twice := s.examples[id]; twice {
			panic("op: two examples of " + id)
		}
		s.examples[id] = x
	}
}

// Recorded returns the examples by operation. Package openapi reads them.
func (s *Set) Recorded() map[string]json.RawMessage { return maps.Clone(s.examples) }

// Entries are all operations in the order of their declaration.
func (s *Set) Entries() []*Entry { return s.ops }

// Operations are all operations by route.
func (s *Set) Operations() map[string]*Entry {
	m := map[string]*Entry{}
	for _, e := range s.ops {
		m[e.Route] = e
	}
	return m
}

// Routes are the routes of all operations, sorted.
func (s *Set) Routes() []string { return slices.Sorted(maps.Keys(s.Operations())) }

// Fails are the refusals that the operation with this id declares.
func (s *Set) Fails(id string) Fails {
	if e := s.named(id); e != nil {
		return e.Op.Fails
	}
	return nil
}

// Abilities are the operations that run as abilities: of several with one name, the first.
func (s *Set) Abilities() []*Entry {
	var tools []*Entry
	for _, e := range s.ops {
		if e.AbilityName() != "" && !slices.ContainsFunc(tools, func(t *Entry) bool { return t.ability() == e.ability() }) {
			tools = append(tools, e)
		}
	}
	return tools
}

func (e *Entry) status(out any) int {
	if s, ok := out.(interface{ StatusCode() int }); ok && s.StatusCode() != 0 {
		return s.StatusCode()
	}
	return e.Status
}

// Statuses are the codes of success that it is described with.
func (e *Entry) Statuses() []int {
	if e.Out == nil && e.Media == "" {
		return []int{http.StatusNoContent}
	}
	all := []int{e.Status}
	if e.Also != 0 {
		all = append(all, e.Also)
	}
	return all
}

// RunMethod is how an ability is run: reading with GET, what destroys and may be repeated with DELETE,
// all else with POST.
func (e *Entry) RunMethod() string {
	switch {
	case e.Reads && !e.Download && !e.Audited:
		return http.MethodGet
	case e.Destructive && e.Idempotent:
		return http.MethodDelete
	}
	return http.MethodPost
}
