package op

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

// Which calls of a credential, or of an ability, wait until a person approves them.
const (
	ApprovalNever       = "never"
	ApprovalWrites      = "writes"
	ApprovalDestructive = "destructive"
)

// Approvals is which calls of a credential wait until a person approves them.
type Approvals string

// Schema names the three.
func (Approvals) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{ApprovalNever, ApprovalWrites, ApprovalDestructive},
		Description: "Which calls wait until a person approves them: none, all that change something, or those that delete or overwrite."}
}

// OrNever is the choice, or never where nothing was chosen.
func (a Approvals) OrNever() Approvals { return cmp.Or(a, ApprovalNever) }

// ApprovalLasts is for how long a call waits.
const ApprovalLasts = 72 * time.Hour

// Approval is a call that waits for a person, or has waited.
type Approval struct {
	ID        uuid.UUID           `json:"id" doc:"The id of the record."`
	Operation string              `json:"operation" doc:"The operation that was called."`
	Input     Object              `json:"input" doc:"What it was called with. Secrets in it are \"…\"."`
	Effects   opt.Value[Effects]  `json:"effects" doc:"What the call would do, as the caller may see it; null for what cannot be rehearsed."`
	Hash      string              `json:"hash" doc:"Stands for the effects; empty for what cannot be rehearsed."`
	AskedBy   AskedBy             `json:"asked_by" doc:"Whose call it is."`
	State     string              `json:"state" enum:"waiting,approved,refused,expired,failed" doc:"waiting until a person decides; failed if the call was refused when it was made, or if nobody knows whether it was made, without a status."`
	Status    *int                `json:"status" doc:"The status of the answer to the call; null until it was made."`
	Answer    Object              `json:"answer" nullable:"true" doc:"The answer to the call, or its refusal; null until it was made. A secret that is shown once is in the first answer to the credential that asked."`
	Reason    string              `json:"reason" doc:"Why it was refused, in the words of who refused it; mostly empty."`
	AskedAt   time.Time           `json:"asked_at" doc:"When it was asked for."`
	EndsAt    time.Time           `json:"ends_at" doc:"When it expires unless somebody decides before."`
	DecidedBy opt.Value[Approver] `json:"decided_by" doc:"Who decided; null while it waits, and for nobody."`
	DecidedAt *time.Time          `json:"decided_at" doc:"When that was."`
}

// Object is a JSON object that is kept as it is, or null.
type Object json.RawMessage

// Schema is that of any object.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON is the object itself.
func (o Object) MarshalJSON() ([]byte, error) { return json.RawMessage(o).MarshalJSON() }

// UnmarshalJSON keeps the text.
func (o *Object) UnmarshalJSON(text []byte) error { return (*json.RawMessage)(o).UnmarshalJSON(text) }

// AskedBy is the credential whose call waits, and its user.
type AskedBy struct {
	Kind   string `json:"kind" enum:"key,connection" doc:"key for an application password, connection for an assistant that was connected."`
	Name   string `json:"name" doc:"What the key or the assistant is called."`
	UserID int64  `json:"user_id" doc:"The user in whose name it calls."`
}

// Approver is a person who decided.
type Approver struct {
	UserID int64  `json:"user_id" doc:"Their user id."`
	Name   string `json:"name" doc:"What they are called."`
}

// approvedCaller holds the answers of approved calls, by the ids of their approvals.
const approvedCaller = "approved"

// mostHeld is how many bytes a call may have that waits: it travels to settings in a message.
const mostHeld = 512 << 10

// ErrTooLargeToWait refuses a call that would have to wait for a person and is too large for it: 413 svc_too_large, with reason approval.
var ErrTooLargeToWait = fault.New(http.StatusRequestEntityTooLarge, "svc_too_large", "A person has to approve this call, and a call that waits has at most 524288 bytes.", "reason", "approval", "max", mostHeld)

// MayWait reports whether calls of the operation wait where their credential, or the ability, says so.
func (e *Entry) MayWait() bool {
	_, passes := e.Op.Fails[AnyRefusal] // of what another operation is asked, that one waits
	return !passes && !e.Reads && !e.PersonOnly && e.Perm != Public
}

// waits reports whether a person has to approve the call before it is made. Reading never waits, nor does a rehearsal or what a person does.
func (e *Entry) waits(r *request) bool {
	who := r.actor
	if !e.MayWait() || r.rehearses || who.Session || !who.SignedIn() || who.Approved.ID != "" {
		return false
	}
	levels := []string{who.Approval}
	if r.asAbility {
		levels = append(levels, e.set.Approval(e.AbilityName()))
	}
	return slices.Contains(levels, ApprovalWrites) || e.Destructive && slices.Contains(levels, ApprovalDestructive)
}

// keepBody keeps what is read of the body of a call that may have to wait.
func (r *request) keepBody() {
	if r.actor.SignedIn() && !r.actor.Session && r.http.Method != http.MethodGet && r.http.Body != nil {
		r.body = &bytes.Buffer{}
		r.http.Body = struct {
			io.Reader
			io.Closer
		}{io.TeeReader(r.http.Body, r.body), r.http.Body}
	}
}

// ask lets settings have a person decide on a call that was checked, and answers 202 svc_approval_needed. done is its rehearsal, nil for what cannot be
// rehearsed, or the stored answer to an earlier call with its Idempotency-Key.
func (e *Entry) ask(ctx context.Context, r *request, done any) (any, error) {
	rehearsal, _ := done.(*Rehearsal)
	stored, repeated := done.(*db.Answer)
	if repeated {
		return e.askedBefore(r, stored), nil
	}
	var needed *fault.Fault
	err := e.set.DB.Do(ctx, func(tx *db.Tx) (err error) {
		if r.key != "" {
			if stored, err = tx.Claim(ctx, r.claim(e.ID)); err != nil || stored != nil {
				return err
			}
		}
		a := Approval{ID: db.NewID(), Operation: e.ID, AskedBy: AskedBy{Kind: "key", Name: tx.Who.Label, UserID: tx.Who.UserID}, State: "waiting", Answer: Object("null"),
			AskedAt: tx.Now, EndsAt: tx.Now.Add(ApprovalLasts)}
		if tx.Who.Connection {
			a.AskedBy.Kind = "connection"
		}
		asked := &proto.AskApproval{Id: a.ID.String(), Service: e.set.Service, Operation: e.ID, Permission: e.Perm, Credential: tx.Who.KeyID()}
		if a.Input, err = e.shown(r.input); err != nil {
			return err
		}
		asked.Input = []byte(a.Input)
		if rehearsal != nil {
			a.Effects, a.Hash, asked.Hash = opt.Of(rehearsal.Effects), rehearsal.Hash, rehearsal.Hash
			if asked.Effects, err = json.Marshal(rehearsal.all); err != nil {
				return err
			}
		}
		if asked.Call, err = e.held(r, asked.GetId()); err != nil {
			return err
		}
		if err := tx.Emit(ctx, db.Event{Topic: proto.SettingsCommandTopic, Kind: proto.KindAskApproval, Key: asked.GetId(), Data: asked}); err != nil {
			return err
		}
		needed = ApprovalNeeded(a)
		if r.key == "" {
			return nil
		}
		return tx.Keep(ctx, r.claim(e.ID), db.Answer{Status: needed.Status, Body: needed.Body("")})
	})
	switch {
	case err != nil:
		return nil, err
	case stored != nil:
		return e.askedBefore(r, stored), nil
	}
	r.located(needed.Data["approval"].(Approval).ID.String())
	return nil, needed
}

// ApprovalNeeded says that a call waits until a person approves it: 202 svc_approval_needed, with the approval.
func ApprovalNeeded(a Approval) *fault.Fault {
	return fault.New(http.StatusAccepted, "svc_approval_needed", "A person has to approve this before it is done.", "approval", a)
}

func (r *request) located(approval string) { r.w.Header().Set("Location", "/v1/approvals/"+approval) }

// askedBefore is the answer to a repeated call: the same approval again.
func (e *Entry) askedBefore(r *request, stored *db.Answer) *db.Answer {
	var body struct {
		Data struct {
			Approval struct{ ID string } `json:"approval"`
		} `json:"data"`
	}
	if stored.Status == http.StatusAccepted && json.Unmarshal(stored.Body, &body) == nil && body.Data.Approval.ID != "" {
		r.located(body.Data.Approval.ID)
	}
	return stored
}

// held is the call as it came, sealed to settings.
func (e *Entry) held(r *request, id string) ([]byte, error) {
	call := &proto.HeldCall{Method: r.http.Method, Target: r.http.URL.RequestURI(), ContentType: r.http.Header.Get("Content-Type"), IfMatch: r.http.Header.Get("If-Match"),
		ContentDisposition: r.http.Header.Get("Content-Disposition")}
	if r.body != nil {
		call.Body = r.body.Bytes()
	}
	if len(call.GetBody()) > mostHeld {
		return nil, ErrTooLargeToWait
	}
	raw, err := protobuf.Marshal(call)
	if err != nil {
		return nil, err
	}
	return e.set.auth.Trust.Seal("settings", proto.SettingsCommandTopic, id, raw)
}

// secretName matches the names of fields that are secret without saying so.
var secretName = regexp.MustCompile(`^(password|secret|token|code|authorization)$`)

// shown is an input without its secrets.
func (e *Entry) shown(input map[string]json.RawMessage) (Object, error) {
	all := make(map[string]any, len(input))
	for name, raw := range input {
		i := slices.IndexFunc(e.In, func(f *Field) bool { return f.Name == name })
		if i >= 0 && e.In[i].Secret {
			all[name] = "…"
			continue
		}
		v, err := decoded(raw)
		if err != nil {
			return nil, err
		}
		all[name] = rewritten(name, v, withoutSecret)
	}
	return json.Marshal(all)
}

func withoutSecret(name string, v any) any {
	if text, ok := v.(string); ok && text != "" && secretName.MatchString(name) {
		return "…"
	}
	return v
}

// described is what a person sees of a file: its name and its size.
func (f *File) described() map[string]json.RawMessage {
	name, _ := json.Marshal(f.Name) // a text is always JSON
	size, _ := json.Marshal(len(f.Bytes))
	return map[string]json.RawMessage{"file": name, "bytes": size}
}

// caller authenticates a request. One that settings makes because a person has approved it is that of the credential that asked; it has to be the very
// call that settings has signed, else it is as if nothing was signed.
func (e *Entry) caller(ctx context.Context, r *http.Request) (db.Actor, error) {
	call, ok := e.set.auth.Approved(r.Header)
	if ok && call.GetOperation() == e.ID && call.GetMethod() == r.Method && call.GetTarget() == r.URL.RequestURI() {
		body, err := io.ReadAll(io.LimitReader(r.Body, mostHeld+1))
		if err != nil {
			return db.Actor{}, fault.InvalidJSON("The body could not be read to its end.")
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		if hash := sha256.Sum256(body); bytes.Equal(hash[:], call.GetBodyHash()) {
			return e.set.auth.OfApproved(call)
		}
	}
	actor, err := e.set.auth.Authenticate(ctx, r)
	actor.Address = e.set.auth.Address(r)
	return actor, err
}

// madeBefore is the answer to an approved call that was made before, whatever has become since of the credential, its rights and the operation's limits;
// nil for any other call. Settings asks again for an answer that it has lost.
func (e *Entry) madeBefore(ctx context.Context, who db.Actor) (*Settled, error) {
	if who.Approved.ID == "" {
		return nil, nil
	}
	stored, err := e.set.DB.Answered(ctx, db.Request{Caller: approvedCaller, Op: e.ID, Key: who.Approved.ID})
	if err != nil || stored == nil {
		return nil, err
	}
	return e.settled(ctx, nil, stored), nil
}

// Settled is the answer to a call that settings has made because a person approved it.
type Settled struct {
	Status int `json:"status"`
	// Answer is that of the call without a secret that is shown once; null for an empty one.
	Answer json.RawMessage `json:"answer"`
	// Secret is the answer with it. A repeated call does not have it.
	Secret json.RawMessage `json:"secret,omitempty"`
}

// StatusCode is 200, whatever that of the call is.
func (*Settled) StatusCode() int { return http.StatusOK }

func (e *Entry) settled(ctx context.Context, r *request, out any) *Settled {
	stored, repeated := out.(*db.Answer)
	if !repeated {
		stored = new(e.stored(ctx, r, out))
	}
	s := &Settled{Status: stored.Status, Answer: stored.Body}
	if s.Status == http.StatusNoContent || len(s.Answer) == 0 {
		s.Answer = json.RawMessage("null")
	}
	if _, secret := out.(HoldsSecret); secret {
		s.Secret, _ = encodeJSON(out) // it was encoded without the secret before
	}
	return s
}
