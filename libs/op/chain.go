package op

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-kit/kit/endpoint"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/proto"
)

// abandoned is the outcome of a request that failed because its caller had hung up.
const abandoned = "abandoned"

// observe opens a span named after the operation and measures its time by outcome and channel. It logs the whole of an
// internal error; callers get its fault only.
func (e *Entry) observe() endpoint.Middleware {
	tracer := otel.Tracer("frontdesk")
	seconds, _ := otel.Meter("frontdesk").Float64Histogram("frontdesk.op.seconds", metric.WithUnit("s"),
		metric.WithDescription("time of an operation by outcome"),
		metric.WithExplicitBucketBoundaries(.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10))
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, req any) (resp any, err error) {
			start, code := time.Now(), "ok"
			r := req.(*request)
			ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.http.Header))
			ctx, span := tracer.Start(ctx, e.ID, trace.WithSpanKind(trace.SpanKindServer))
			defer func() {
				if p := recover(); p != nil {
					slog.ErrorContext(ctx, "panic", "op", e.ID, "request_id", RequestID(ctx), "panic", p, "stack", string(debug.Stack()))
					err = fault.New(http.StatusInternalServerError, "svc_internal", "Something went wrong on our side.")
				}
				if err != nil {
					f := fault.From(err)
					code = f.Code
					switch {
					case f.Status >= 500 && errors.Is(ctx.Err(), context.Canceled):
						code = abandoned
					case f.Status >= 500:
						span.SetStatus(codes.Error, f.Code)
						slog.ErrorContext(ctx, "operation failed", "op", e.ID, "request_id", RequestID(ctx), "error", err)
					}
					err = f
				}
				span.SetAttributes(attribute.String("svc.code", code))
				span.End()
				seconds.Record(ctx, time.Since(start).Seconds(), metric.WithAttributes(attribute.String("op", e.ID),
					attribute.String("code", code), attribute.String("channel", r.actor.Channel)))
			}()
			return next(ctx, r)
		}
	}
}

// admit checks, before the request is read, whether the caller may make it: app (404), credential (401), permission (403),
// rate (429).
func (e *Entry) admit() endpoint.Middleware {
	return func(next endpoint.Endpoint) endpoint.Endpoint {
		return func(ctx context.Context, req any) (any, error) {
			r := req.(*request)
			if !e.on() {
				return nil, fault.NoRoute()
			}
			if !r.asAbility {
				actor, err := e.who(ctx, r.http)
				if made, lost := e.madeBefore(ctx, actor); made != nil || lost != nil {
					return made, lost
				}
				if err != nil {
					return nil, err
				}
				r.actor = actor
				r.keepBody()
			}
			ctx = db.WithActor(ctx, r.actor)
			if e.Perm == Public {
				ctx = db.Within(ctx, db.Visitors)
			}
			if err := e.allowed(r); err != nil {
				e.refused(ctx, r)
				return nil, err
			}
			if len(e.Limits) > 0 && e.set.RateFactor > 0 {
				from := r.actor.Address
				if e.PerPerson {
					from = "user " + strconv.FormatInt(r.actor.UserID, 10)
				}
				wait, err := e.set.DB.Allow(ctx, e.set.RateFactor, Buckets(e.LimitKey, from, e.Limits)...)
				if err != nil {
					return nil, err
				}
				if wait > 0 {
					return nil, fault.RateLimited(wait)
				}
			}
			if r.actor.Approved.ID != "" {
				r.key = r.actor.Approved.ID
			} else if r.key = r.http.Header.Get("Idempotency-Key"); r.key != "" {
				if !e.Replays() || r.asAbility || e.set.Fingerprints == nil {
					r.key = ""
				} else if p := wrongKey(r.key); !p.IsZero() {
					return nil, fault.Invalid("Idempotency-Key", p)
				}
			}
			if err := e.readRehearsal(r); err != nil {
				return nil, err
			}
			if r.rehearses {
				r.key = "" // a repeated call must not get the answer of a rehearsal
			}
			if err := r.readUndoes(); err != nil {
				return nil, err
			}
			r.waits = e.waits(r)
			if e.Versioned && !r.asAbility {
				seen, weak, p := versions(r.http.Header.Values("If-Match"))
				if !p.IsZero() {
					return nil, fault.Invalid("If-Match", p)
				}
				ctx = db.Expect(ctx, seen, weak)
			}
			out, err := next(ctx, r)
			if err != nil && fault.From(err).Status == http.StatusForbidden {
				e.refused(ctx, r)
			}
			if err == nil && r.actor.Approved.ID != "" {
				return e.settled(ctx, r, out), nil
			}
			return out, err
		}
	}
}

// wrongKey returns why an Idempotency-Key cannot be stored, or the zero Problem if it can.
func wrongKey(key string) fault.Problem {
	switch {
	case len(key) > 255:
		return fault.TooLong(255)
	case !utf8.ValidString(key):
		return fault.NewProblem("encoding", "must be UTF-8")
	case strings.ContainsFunc(key, unicode.IsControl):
		return fault.ControlCharacters(false)
	}
	return fault.Problem{}
}

func (e *Entry) on() bool { return e.App == "" || e.set.AppOn(e.App) }

// who authenticates the caller. A public operation ignores credentials, because a stale cookie must not keep a visitor from
// booking.
func (e *Entry) who(ctx context.Context, r *http.Request) (db.Actor, error) {
	visitor := db.Actor{Channel: cmp.Or(e.Channel, db.ChannelApp), Address: e.set.auth.Address(r)}
	if e.Perm == Public {
		return visitor, nil
	}
	actor, err := e.caller(ctx, r)
	if err != nil {
		return actor, err
	}
	if !actor.SignedIn() {
		return visitor, ErrSignIn
	}
	return actor, nil
}

var crossOrigin = http.NewCrossOriginProtection()

func (e *Entry) allowed(r *request) error {
	if (r.actor.Session || e.SameOrigin) && crossOrigin.Check(r.http) != nil {
		return ErrCrossOrigin
	}
	if e.Perm == Public {
		return nil
	}
	if r.actor.Assistant && !r.asAbility && !e.ForAssistants {
		return ErrAssistant
	}
	if r.asAbility && r.actor.Lacks(e.AbilityName(), e.RunMethod() == http.MethodGet) {
		return AbilityTaken()
	}
	if e.PersonOnly && !r.actor.Session {
		return ErrPersonOnly
	}
	if !e.BeforeTwoFactor {
		if err := secondFactorGiven(r.actor); err != nil {
			return err
		}
	}
	if e.Perm == SignedIn {
		return nil
	}
	if !r.actor.Can(auth.ViewContacts) || !r.actor.Can(e.Perm) {
		return fault.Forbidden(e.Perm)
	}
	if e.SeesAll && r.actor.Own {
		return ErrVisibility
	}
	return nil
}

// AbilityTaken refuses an ability to an assistant whose person took it away.
func AbilityTaken() *fault.Fault {
	return fault.Refused("ability", "The person who connected this assistant has taken this ability away from it.")
}

// secondFactorGiven refuses a session that lacks the second factor which the site demands.
func secondFactorGiven(who db.Actor) error {
	if who.TwoFactorMissing {
		return ErrTwoFactor
	}
	return nil
}

// refused writes the audit entry of a call that was not allowed, by a permission or by a rule of the operation. The
// refusal stands even if it cannot.
func (e *Entry) refused(ctx context.Context, r *request) {
	if !r.actor.SignedIn() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := e.set.DB.Do(ctx, func(tx *db.Tx) error {
		return tx.Audit(ctx, &proto.Audit{Action: e.action(), RecordType: e.Record, RecordId: e.pathID(r), Outcome: "refused"})
	})
	if err != nil {
		slog.ErrorContext(ctx, "refusal is not in the audit log", "op", e.ID, "error", err)
	}
}

// audit writes the entry of a change, in its transaction.
func (e *Entry) audit(ctx context.Context, tx *db.Tx, r *request, out any) error {
	if e.Unaudited {
		return nil
	}
	id := cmp.Or(e.pathID(r), e.answerID(out))
	if id == "" && e.Record == "user" && tx.Who.SignedIn() {
		id = strconv.FormatInt(tx.Who.UserID, 10)
	}
	return keepDeed(ctx, tx, &proto.Audit{Action: e.action(), RecordType: e.Record, RecordId: id, Outcome: "done"}, out)
}

// Audit writes the entry of a change that an operation's function makes, in its transaction: of AddOutside, and of Unaudited ones.
func Audit(ctx context.Context, tx *db.Tx, action, recordType, recordID string) error {
	return keepDeed(ctx, tx, &proto.Audit{Action: action, RecordType: recordType, RecordId: recordID, Outcome: "done"}, nil)
}

func (e *Entry) action() string { return cmp.Or(e.Action, e.ability(), e.ID) }

func (e *Entry) pathID(r *request) string {
	i := slices.IndexFunc(e.In, func(f *Field) bool { return f.InPath })
	if i < 0 {
		return ""
	}
	if r.asAbility {
		return trimQuotes(r.args[e.In[i].Name])
	}
	return r.http.PathValue(e.In[i].Name)
}

// answerID finds the id of the record in an answer.
func (e *Entry) answerID(out any) string {
	if r, ok := out.(interface{ RecordID() string }); ok {
		return r.RecordID()
	}
	if e.outKey == nil || out == nil {
		return ""
	}
	v, err := reflect.ValueOf(out).FieldByIndexErr(e.outKey)
	if err != nil {
		return ""
	}
	return fmt.Sprint(v.Interface())
}

func trimQuotes(raw json.RawMessage) string { return strings.Trim(string(raw), `"`) }
