package op

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
)

// Rehearsal is the answer to a call with Prefer: dry-run: what the call would have answered and done. Nothing of it has happened.
type Rehearsal struct {
	Answer  json.RawMessage `json:"answer" doc:"What the call would answer, without secrets that are shown once; null for an empty answer."`
	Status  int             `json:"status" doc:"The status of that answer."`
	Effects Effects         `json:"effects" doc:"What it would do."`
	Hash    string          `json:"hash" doc:"Stands for the effects, for If-Effects."`

	all      Effects // also those that the caller may not see
	messages []db.Message
	who      db.Actor
}

// Headers say that the preference was followed.
func (*Rehearsal) Headers() http.Header { return http.Header{"Preference-Applied": {dryRun}} }

// StatusCode is 200, whatever that of the call would be.
func (*Rehearsal) StatusCode() int { return http.StatusOK }

const dryRun = "dry-run"

// prefersDryRun reads the header Prefer of RFC 7240, in which no value and an empty one are the same. A value is refused: whoever sends one does not mean
// the call itself to be made, or wants to say that it is not a rehearsal, which nobody can tell apart.
func prefersDryRun(h http.Header) (yes bool, err error) {
	all := strings.Join(h.Values("Prefer"), ",")
	if len(all) > 255 {
		return false, fault.Invalid("Prefer", fault.TooLong(255))
	}
	for preference := range strings.SplitSeq(all, ",") {
		token, _, _ := strings.Cut(preference, ";")
		name, value, _ := strings.Cut(token, "=")
		if !strings.EqualFold(strings.TrimSpace(name), dryRun) {
			continue
		}
		if strings.Trim(value, " \t\"") != "" {
			return false, fault.Invalid("Prefer", fault.NewProblem("malformed", "must have dry-run without a value"))
		}
		yes = true
	}
	return yes, nil
}

// readRehearsal takes Prefer and If-Effects from the request of an operation that writes. One that reads ignores both.
func (e *Entry) readRehearsal(r *request) error {
	if e.Reads {
		return nil
	}
	var err error
	if r.rehearses, err = prefersDryRun(r.http.Header); err != nil {
		return err
	}
	tag := r.http.Header.Get("If-Effects")
	if tag == "" {
		return nil
	}
	hash, opened := strings.CutPrefix(tag, `"`)
	hash, closed := strings.CutSuffix(hash, `"`)
	if !opened || !closed || hash == "" {
		return fault.Invalid("If-Effects", fault.Format("effects", "the hash of a rehearsal in quotes", `"5f2c…"`))
	}
	r.effects = hash
	return nil
}

// ErrNoRehearsal are the refusals of operations that cannot be rehearsed, by reason: 400 svc_no_rehearsal.
var ErrNoRehearsal = map[string]*fault.Fault{}

func init() {
	for reason, message := range map[string]string{
		"dry_run": "This is not rehearsed by Prefer: dry-run, but by dry_run in the body: true changes nothing.",
		"network": "This cannot be rehearsed: it talks to other systems.",
		"public":  "This cannot be rehearsed: it is for visitors.",
		"sign_in": "This cannot be rehearsed: it is a part of signing in.",
	} {
		ErrNoRehearsal[reason] = fault.New(http.StatusBadRequest, "svc_no_rehearsal", message, "reason", reason)
	}
}

// NoRehearsal is why an operation that writes cannot be rehearsed: a reason of ErrNoRehearsal, or empty if it can or if it reads.
func (e *Entry) NoRehearsal() string {
	_, passes := e.Op.Fails[AnyRefusal]
	switch {
	case e.Reads, passes: // what another operation is asked, that one rehearses
		return ""
	case e.Perm == Public:
		return "public"
	case strings.HasPrefix(e.Path(), "/auth/"):
		return "sign_in"
	case !e.inTransaction && slices.ContainsFunc(e.In, func(f *Field) bool { return f.Name == "dry_run" }):
		return "dry_run"
	case !e.inTransaction:
		return "network"
	}
	return ""
}

// Rehearses reports whether the operation takes Prefer: dry-run and If-Effects.
func (e *Entry) Rehearses() bool { return !e.Reads && e.NoRehearsal() == "" }

// rehearsed is the rehearsal of a call at the end of its transaction, in which it has answered out. If the caller expects other effects, the
// error is 412 svc_effects_changed.
func (e *Entry) rehearsed(ctx context.Context, tx *db.Tx, r *request, m Making, out any) (*Rehearsal, error) {
	messages := tx.Emitted()
	effects, err := EffectsOf(messages, e.set.Endpoints())
	if err != nil {
		return nil, err
	}
	m.Now, m.moments, m.creates = tx.Now, tx.Moments, e.pathID(r) == ""
	stored := e.stored(ctx, r, out)
	done := &Rehearsal{Answer: stored.Body, Status: stored.Status, Effects: effects.SeenBy(tx.Who), Hash: effects.Hash(m), all: effects, messages: messages, who: tx.Who}
	if stored.Status == http.StatusNoContent {
		done.Answer = json.RawMessage("null")
	}
	if r.effects != "" && r.effects != done.Hash {
		if tx.Who.Approved.ID != "" {
			return nil, EffectsChanged(effects, done.Hash) // settings shows each what they may see
		}
		return nil, EffectsChanged(done.Effects, done.Hash)
	}
	return done, nil
}

// addOthers adds what the other services would do. It runs behind the rollback: while it waits for them, the call holds neither locks nor a connection. The
// hash stays that of the call's own effects with all commands, so that it does not depend on who has answered.
func (e *Entry) addOthers(ctx context.Context, r *Rehearsal) {
	if e.set.Others == nil {
		return
	}
	r.all.AddParts(e.set.Service, r.messages, e.set.Others(ctx, r.messages))
	r.Effects = r.all.SeenBy(r.who)
}

// EffectsChanged refuses a call that does not do what its caller has seen: 412 svc_effects_changed, with what it does.
func EffectsChanged(now Effects, hash string) *fault.Fault {
	return fault.New(http.StatusPreconditionFailed, "svc_effects_changed", "This does something else by now than what you have seen. Look at it again.",
		"effects", now, "hash", hash)
}
