package op

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/go-kit/kit/endpoint"
	"github.com/google/uuid"

	"frontdesk/libs/db"
)

// Add declares o and binds it to f, which runs in one transaction: read-only when the operation reads,
// else together with the audit entry and the stored answer of an Idempotency-Key. With Prefer: dry-run the transaction is rolled back
// and answers with its effects.
//
// Of the generic functions here the compiler makes one for each operation, so they only give types to those without.
func Add[In, Out any](s *Set, o Op, f func(context.Context, *db.Tx, In) (Out, error)) {
	e := newEntry(s, o, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	e.inTransaction = true
	e.bindTo(func(ctx context.Context, r *request, in any) (any, error) {
		return e.transact(ctx, r, func(ctx context.Context, tx *db.Tx) (any, error) { return f(ctx, tx, *in.(*In)) })
	})
}

// transact is the answer of f, which runs in one transaction.
func (e *Entry) transact(ctx context.Context, r *request, f func(context.Context, *db.Tx) (any, error)) (done any, err error) {
	if e.Reads && !e.Audited {
		err = e.set.DB.Read(ctx, func(tx *db.Tx) (err error) {
			done, err = f(ctx, tx)
			return err
		})
		return done, err
	}
	run, making := e.set.DB.Do, Making{}
	rehearses := r.rehearses || r.waits
	if rehearses {
		run = e.set.DB.Rehearse
	}
	if rehearses || r.effects != "" {
		making.After = db.NewID()
	}
	err = run(ctx, func(tx *db.Tx) error {
		if r.key != "" {
			stored, err := tx.Claim(ctx, r.claim(e.ID))
			if err != nil || stored != nil {
				done = stored
				return err
			}
		}
		out, err := f(ctx, tx)
		if err != nil {
			return r.refusedUndo(ctx, tx, err)
		}
		if !tx.Compared() {
			return fmt.Errorf("op: %s does not compare the version that its caller has seen", e.ID)
		}
		done = out
		if err := e.untouched(ctx, tx, r, out); err != nil {
			return err
		}
		if err := e.audit(ctx, tx, r, out); err != nil {
			return err
		}
		if rehearses || r.effects != "" {
			rehearsal, err := e.rehearsed(ctx, tx, r, making, out)
			if err != nil {
				return err
			}
			if rehearses {
				done = rehearsal
			}
		}
		if r.key == "" || rehearses {
			return nil
		}
		return tx.Keep(ctx, r.claim(e.ID), e.stored(ctx, r, out))
	})
	if rehearsal, ok := done.(*Rehearsal); ok && err == nil {
		e.addOthers(ctx, rehearsal)
	}
	if err == nil && r.waits {
		return e.ask(ctx, r, done)
	}
	return done, err
}

// AddOutside is Add for functions that talk to the network, and so open their own transactions with
// s.DB. They write their own audit entry with Audit in the transaction of their change.
func AddOutside[In, Out any](s *Set, o Op, f func(context.Context, *db.DB, In) (Out, error)) {
	e := newEntry(s, o, reflect.TypeFor[In](), reflect.TypeFor[Out]())
	e.bindTo(func(ctx context.Context, r *request, in any) (any, error) {
		return e.outside(ctx, r, func() (any, error) { return f(ctx, s.DB, *in.(*In)) })
	})
}

func (e *Entry) outside(ctx context.Context, r *request, f func() (any, error)) (out any, err error) {
	if r.waits {
		return e.ask(ctx, r, nil)
	}
	if r.key == "" {
		return f()
	}
	stored, err := e.set.DB.Exclusive(ctx, r.claim(e.ID), func() (_ db.Answer, err error) {
		if out, err = f(); err != nil {
			return db.Answer{}, err
		}
		return e.stored(ctx, r, out), nil
	})
	if err != nil || stored != nil {
		return stored, err
	}
	return out, nil
}

// newEntry declares o, whose function takes an in and answers an out.
func newEntry(s *Set, o Op, in, out reflect.Type) *Entry {
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
	o.LimitKey, o.MaxBody, o.Status = cmp.Or(o.LimitKey, o.ID), cmp.Or(o.MaxBody, MaxBody), cmp.Or(o.Status, http.StatusOK)
	o.Reads = o.Reads || o.Method() == http.MethodGet
	o.Destructive = o.Destructive || o.Method() == http.MethodDelete
	o.Idempotent = o.Idempotent || o.Method() == http.MethodDelete || o.Method() == http.MethodPut
	if in.Kind() == reflect.Struct {
		for _, f := range reflect.VisibleFields(in) { // fieldsOf finds those of what the input itself embeds
			refuseEmbedded(o, f.Type)
		}
	}
	refuseEmbedded(o, out)
	e := &Entry{Op: o, set: s, takes: in, Tag: cmp.Or(s.under, s.Service), In: s.fieldsOf(o, in),
		TakesAny: in == reflect.TypeFor[Sent](), Tagged: out.Implements(reflect.TypeFor[Versioned]())}
	if !out.Implements(reflect.TypeFor[interface{ noBody() }]()) {
		e.Out = s.answerSchema(o, out)
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

// bindTo makes the endpoint of e: it reads the request into a new input, whatever time its body takes to arrive, and hands the pointer to it to run.
func (e *Entry) bindTo(run func(ctx context.Context, r *request, in any) (any, error)) {
	e.call = endpoint.Chain(e.observe(), e.admit())(func(ctx context.Context, asked any) (any, error) {
		r, in := asked.(*request), reflect.New(e.takes).Interface()
		if err := e.bind(r, in); err != nil {
			return nil, err
		}
		if refusal := ErrNoRehearsal[e.NoRehearsal()]; refusal != nil && (r.rehearses || r.effects != "") {
			return nil, refusal
		}
		if !e.Download && !e.Events {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, within)
			defer cancel()
		}
		return run(context.WithValue(ctx, callKey{}, called{e, r}), r, in)
	})
}

// HoldsSecret is implemented by answers that show a secret once: WithoutSecret is the answer to store for a repeated call.
type HoldsSecret interface{ WithoutSecret() any }

// ByID is the input of operations that take nothing but the record's id in their path.
type ByID struct {
	ID uuid.UUID `json:"id"`
}

// stored is out as it is kept for a repeated call: without a secret, and with the records that it is about.
func (e *Entry) stored(ctx context.Context, r *request, out any) db.Answer {
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
	if a.Body, err = encodeJSON(out); err != nil {
		slog.ErrorContext(ctx, "answer cannot be stored", "op", e.ID, "error", err)
	}
	return a
}
