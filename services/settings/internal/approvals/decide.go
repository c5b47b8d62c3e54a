package approvals

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"frontdesk/libs/change"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/row"
)

const (
	// callTime is how long a call may take. An operation has 20 s.
	callTime = 18 * time.Second
	// lost is after which time a call without an outcome is made again.
	lost = 45 * time.Second
	// answersKept is for how long a service surely has the answer of a call. After that it could be made twice.
	answersKept = 23 * time.Hour
	// largestAnswer of a call in bytes.
	largestAnswer = 16 << 20
)

// decided refuses an approval that waits no more, or on which somebody decides right now: 409.
func decided(tx *db.Tx, a approval) error {
	if a.State != waiting || !a.EndsAt.After(tx.Now) && a.DecidedBy == nil || a.CalledAt != nil && tx.Now.Sub(*a.CalledAt) < lost {
		return fault.InvalidStatus(a.State, "Somebody has decided on this, or decides on it now, or its time is over.")
	}
	return nil
}

// approve makes the call of an approval. One that was begun and has no outcome is made again in the name of who has approved it first.
func (r *Room) approve(ctx context.Context, d *db.DB, in struct {
	op.ByID
	Hash string `json:"hash,omitempty" maxLength:"64" doc:"That of the effects that the person has seen; left out only for what cannot be rehearsed."`
}) (out op.Approval, err error) {
	var a approval
	begun := first
	err = d.Do(ctx, func(tx *db.Tx) (err error) {
		if a, err = byID(ctx, tx, in.ID, ` for update`); err != nil {
			return err
		}
		if err := r.mayApprove(tx.Who, a); err != nil {
			return err
		}
		if err := decided(tx, a); err != nil {
			return err
		}
		if a.Effects != nil && in.Hash == "" {
			return fault.Invalid("hash", fault.Required())
		}
		if in.Hash != a.Hash {
			return r.changed(tx.Who, a)
		}
		if a.CalledAt != nil {
			begun = again
		}
		if a.DecidedBy == nil {
			a.DecidedBy, a.DecidedAt = &tx.Who.UserID, &tx.Now
		}
		a.CalledAt = &tx.Now
		_, err = tx.Exec(ctx, `update approval set decided_by = $2, decided_at = $3, called_at = $4 where id = $1`, a.ID, a.DecidedBy, a.DecidedAt, a.CalledAt)
		return err
	})
	if err != nil {
		return out, err
	}
	return r.make(ctx, a, begun)
}

// changed is 412 svc_effects_changed with the effects that an approval has by now.
func (r *Room) changed(who db.Actor, a approval) error {
	now, err := r.shown(who, a)
	if err != nil {
		return err
	}
	return op.EffectsChanged(now.Effects.V, a.Hash)
}

// attempt says whether a call may have been made before.
type attempt bool

const (
	first attempt = false
	again attempt = true
)

// make makes the call of an approval that is marked as begun, and stores the outcome. Without one it stays begun: the next who approves it, or resume,
// finds the answer under its key.
func (r *Room) make(ctx context.Context, a approval, begun attempt) (out op.Approval, err error) {
	o, err := r.call(ctx, a, begun)
	// The outcome is stored even if nobody waits for it any more.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err != nil {
		return out, errors.Join(fault.Unavailable(), err)
	}
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		calledAt := *a.CalledAt
		if a, err = db.Find[approval](ctx, tx, fault.NotFound("approval"), `select `+columns+` from approval where id = $1 for update`, a.ID); err != nil {
			return err
		}
		if a.State != waiting || a.CalledAt == nil || !a.CalledAt.Equal(calledAt) {
			out, err = r.shown(tx.Who, a)
			return err // somebody took it for lost, and has the same answer
		}
		if o.state == waiting {
			_, err := tx.Exec(ctx, `update approval set decided_by = null, decided_at = null, called_at = null, effects = coalesce($2::text::jsonb, effects), hash = coalesce($3, hash) where id = $1`,
				a.ID, o.effects, o.hash)
			return err
		}
		var secret []byte
		if o.secret != nil {
			secret = r.Keys.Seal(purposeOf(a.ID.String()), o.secret)
		}
		if a, err = db.Find[approval](ctx, tx, fault.NotFound("approval"), `update approval set state = $2, status = nullif($3, 0), answer = nullif($4::text, '')::jsonb, secret = $5, call = null, called_at = null,
			decided_at = $6 where id = $1 returning `+columns, a.ID, o.state, o.status, string(o.answer), secret, tx.Now); err != nil {
			return err
		}
		if out, err = r.shown(tx.Who, a); err != nil {
			return err
		}
		if ownKey(a, *a.DecidedBy) {
			tx.Changed(change.Set{"own": {Old: false, New: true}})
		}
		if err := tellReplicas(ctx, tx); err != nil {
			return err
		}
		return op.Audit(ctx, tx, "approve-call", "approval", a.ID.String())
	})
	if err == nil && o.state == waiting {
		if o.hash == nil {
			return out, o.refusal
		}
		err = r.DB.Read(ctx, func(tx *db.Tx) error {
			now, err := byID(ctx, tx, a.ID, ``)
			if err != nil {
				return err
			}
			return r.changed(tx.Who, now)
		})
	}
	return out, err
}

// outcome is what a call has come to. It waits on if its effects have changed, or if its service has no time for it now or is switched off. A failed one without a status may
// have been made.
type outcome struct {
	state   string
	status  int
	answer  json.RawMessage
	secret  json.RawMessage
	effects *string
	hash    *string
	refusal error // of one that waits on with the effects that it had
}

// call makes the call of an approval through the gateway, as the credential that asked. The error is that nobody knows whether it was done. A call that was
// made before is answered as it was then, even if the credential has ended since.
func (r *Room) call(ctx context.Context, a approval, begun attempt) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var credential *proto.ApplicationPassword
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		credential, _, err = credentialOf(ctx, tx, a.Credential.String())
		return err
	})
	if err != nil {
		return outcome{}, err
	}
	if credential == nil && begun == first {
		f := fault.Unauthorized("The credential that asked for this has ended.")
		return outcome{state: failed, status: f.Status, answer: f.Body("")}, nil
	}
	held, err := r.heldCall(a)
	if err != nil {
		return outcome{}, err
	}
	req, err := http.NewRequestWithContext(ctx, held.GetMethod(), r.Config.Gateway()+held.GetTarget(), bytes.NewReader(held.GetBody()))
	if err != nil {
		return outcome{}, err
	}
	for name, value := range map[string]string{"Content-Type": held.GetContentType(), "If-Match": held.GetIfMatch(), "Content-Disposition": held.GetContentDisposition(), "Accept": "application/json", "User-Agent": "Frontdesk-Approvals"} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	if a.Hash != "" {
		req.Header.Set("If-Effects", strconv.Quote(a.Hash))
	}
	hash := sha256.Sum256(held.GetBody())
	err = r.Auth.SignApproved(req.Header, &proto.ApprovedCall{ApprovalId: a.ID.String(), Credential: credential, ApprovedBy: *a.DecidedBy, Address: db.ActorFrom(ctx).Address,
		Operation: a.Operation, Method: held.GetMethod(), Target: held.GetTarget(), BodyHash: hash[:]})
	if err != nil {
		return outcome{}, err
	}
	res, err := r.client.Do(req)
	if err != nil {
		return outcome{}, fmt.Errorf("make the call of approval %s: %w", a.ID, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, largestAnswer+1))
	if err != nil || len(body) > largestAnswer {
		return outcome{}, fmt.Errorf("read the answer to the call of approval %s: %w", a.ID, errors.Join(err, fault.AnswerTooLarge(largestAnswer)))
	}
	return outcomeOf(a, begun, res.StatusCode, body)
}

// outcomeOf reads the answer to a call.
func outcomeOf(a approval, begun attempt, status int, body []byte) (outcome, error) {
	if status == http.StatusOK {
		var settled op.Settled
		if err := json.Unmarshal(body, &settled); err != nil || settled.Status == 0 {
			return outcome{}, fmt.Errorf("the answer to the call of approval %s is not that of an approved call", a.ID)
		}
		return outcome{state: approved, status: settled.Status, answer: settled.Answer, secret: settled.Secret}, nil
	}
	var refusal struct {
		Code, Message string
		Data          map[string]json.RawMessage
	}
	if json.Unmarshal(body, &refusal) != nil || !strings.HasPrefix(refusal.Code, "svc_") {
		return outcome{}, fmt.Errorf("the answer %d to the call of approval %s is not one of ours", status, a.ID)
	}
	switch {
	case begun == again && refusal.Code == "svc_no_route":
		return outcome{}, fmt.Errorf("nobody answers to the call of approval %s while its app or ability is off", a.ID)
	case refusal.Code == "svc_conflict" && string(refusal.Data["reason"]) == `"lost"`:
		return outcome{state: failed}, nil
	case refusal.Code == "svc_effects_changed":
		effects, hash := string(refusal.Data["effects"]), ""
		if err := json.Unmarshal(refusal.Data["hash"], &hash); err != nil {
			return outcome{}, fmt.Errorf("the effects of approval %s: %w", a.ID, err)
		}
		return outcome{state: waiting, effects: &effects, hash: &hash}, nil
	case status == http.StatusTooManyRequests, refusal.Code == "svc_no_route": // it was not made: its app or ability may come back
		return outcome{state: waiting, refusal: fault.Unavailable()}, nil
	case status >= http.StatusInternalServerError:
		// The gateway says so as well of a service that died over the call, which may have done it.
		return outcome{}, fmt.Errorf("the answer %d to the call of approval %s leaves open whether it was done", status, a.ID)
	}
	return outcome{state: failed, status: status, answer: body}, nil
}

// refuse ends a call that waits.
func (r *Room) refuse(ctx context.Context, tx *db.Tx, in struct {
	op.ByID
	Reason string `json:"reason,omitempty" maxLength:"500" doc:"Why, for who asked."`
}) (op.Approval, error) {
	a, err := byID(ctx, tx, in.ID, ` for update`)
	if err != nil {
		return op.Approval{}, err
	}
	if a.PersonID != tx.Who.UserID {
		if err := r.mayApprove(tx.Who, a); err != nil {
			return op.Approval{}, err
		}
	}
	if err := decided(tx, a); err != nil {
		return op.Approval{}, err
	}
	if a.DecidedBy != nil {
		return op.Approval{}, fault.InvalidStatus(a.State, "Somebody has approved this. Its outcome is not known yet.")
	}
	a, err = db.Find[approval](ctx, tx, fault.NotFound("approval"), `update approval set state = 'refused', reason = $2, decided_by = $3, decided_at = $4, call = null where id = $1 returning `+columns,
		a.ID, strings.TrimSpace(in.Reason), tx.Who.UserID, tx.Now)
	if err != nil {
		return op.Approval{}, err
	}
	if err := tellReplicas(ctx, tx); err != nil {
		return op.Approval{}, err
	}
	return r.shown(tx.Who, a)
}

// resume makes calls again that were begun and whose outcome was lost. Their services have the answer of the first; once they may have it no more, the
// approval fails.
func (r *Room) resume(ctx context.Context) error {
	var begun []approval
	err := r.DB.Do(ctx, func(tx *db.Tx) (err error) {
		over, err := tx.Exec(ctx, `update approval set state = 'failed', call = null, called_at = null where state = 'waiting' and decided_by is not null and decided_at < $1`,
			tx.Now.Add(-answersKept))
		if err == nil && over.RowsAffected() > 0 {
			err = tellReplicas(ctx, tx)
		}
		if err != nil {
			return err
		}
		begun, err = db.Rows[approval](ctx, tx, `update approval set called_at = $1 where id in (select id from approval where state = 'waiting' and decided_by is not null
			and called_at < $1::timestamptz - $2::interval order by called_at limit 20 for update skip locked) returning `+columns, tx.Now, lost)
		return err
	})
	if err != nil {
		return fmt.Errorf("find approved calls without an outcome: %w", err)
	}
	var errs []error
	for _, a := range begun {
		user, _ := r.Identity.User(*a.DecidedBy) // who has left since has decided all the same
		who := db.WithActor(ctx, db.Actor{UserID: *a.DecidedBy, Label: user.GetName(), Channel: db.ChannelSystem})
		if _, err := r.make(who, a, again); err != nil && row.UnlessRefused(err) != nil {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
