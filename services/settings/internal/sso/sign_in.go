package sso

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/roles"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/signin"
)

// answer is what the provider adds to the address that it leads the browser back to.
type answer struct {
	State  string `json:"state" required:"true" maxLength:"200" doc:"state, as it came."`
	Code   string `json:"code,omitempty" maxLength:"4096" doc:"code, as it came."`
	Issuer string `json:"iss,omitempty" maxLength:"2048" doc:"iss, as it came."`
	Error  string `json:"error,omitempty" maxLength:"200" doc:"error, as it came."`
}

// arrived is the user who has signed in, or who has confirmed that it is them.
type arrived struct {
	signin.SignedIn
	Next string `json:"next" doc:"The path of this site to go to now."`
}

// ticket is a sign-in that lacks the second factor. It travels through the browser, sealed.
type ticket struct {
	Person        int64
	SID, Token    string
	At, Until     time.Time
	Browser       []byte
	Next, Channel string
	Issuer        string
}

const (
	ticketPurpose = "organization sign-in"
	ticketLife    = 5 * time.Minute
)

// finish signs in whom the provider names, or confirms that the caller is still the same person.
func (r *Room) finish(ctx context.Context, d *db.DB, in answer) (out arrived, err error) {
	if err := r.on(); err != nil {
		return out, err
	}
	sent, err := r.take(ctx, d, in.State)
	if err != nil {
		return out, err
	}
	ctx = db.WithActor(ctx, db.Actor{Channel: sent.Channel, Address: db.ActorFrom(ctx).Address})
	who, err := r.provider.redeem(ctx, in, sent)
	switch {
	case errors.Is(err, errUnreachable):
		slog.ErrorContext(ctx, "nobody can sign in by the organization's provider", "issuer", r.provider.issuer, "error", err)
		signIns.Add(ctx, unreachable, 1)
		return out, r.faultOf(err)
	case errors.Is(err, errRejected):
		slog.WarnContext(ctx, "an answer of the organization's provider is not accepted", "issuer", r.provider.issuer, "error", err)
		signIns.Add(ctx, rejected, 1)
		return out, people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err2 error) {
			return r.faultOf(err), r.auditRefusal(ctx, tx, 0)
		})
	case err != nil:
		return out, err
	}
	out.Next = sent.Next
	if sent.Confirms != nil {
		out.Me, err = r.confirm(ctx, d, who, sent)
		return out, err
	}
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		out.SignedIn = signin.SignedIn{}
		p, refusal, err := r.person(ctx, tx, who)
		if refusal != nil || err != nil {
			return refusal, err
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		if p.TwoFactor && !who.TwoFactor {
			t := ticket{Person: p.ID, SID: who.SID, Token: who.Token, At: who.At, Until: tx.Now.Add(ticketLife), Browser: browserOf(ctx), Next: sent.Next, Channel: sent.Channel}
			return fault.New(http.StatusUnauthorized, "svc_two_factor_required", "Give the code of your second factor.", "ticket", r.seal(t), "next", sent.Next), nil
		}
		out.SignedIn, err = r.admit(ctx, tx, p, sessions.Proof{TwoFactor: who.TwoFactor, At: who.At, SID: who.SID}, who.Token)
		return nil, err
	})
	if err == nil {
		signIns.Add(ctx, admitted, 1)
		r.signin.Hear(ctx, out.SignedIn)
	} else if fault.From(err).Status == http.StatusForbidden {
		signIns.Add(ctx, refused, 1)
	}
	return out, err
}

// admit starts the session, and gives the browser what ends it at the provider.
func (r *Room) admit(ctx context.Context, tx *db.Tx, p people.Person, proof sessions.Proof, token string) (in signin.SignedIn, err error) {
	proof.Issuer = r.provider.issuer
	tx.Changed(signedInBy(r.provider.issuer))
	if in, err = r.signin.Admit(ctx, tx, p, proof); err != nil {
		return in, err
	}
	in.Cookies = append(in.Cookies, r.accountCookie(token))
	return in, nil
}

// secondFactor completes a sign-in that lacked the second factor.
func (r *Room) secondFactor(ctx context.Context, d *db.DB, in struct {
	Ticket string `json:"ticket" required:"true" maxLength:"20000" doc:"The ticket of organization-sign-in."`
	signin.Factor
}) (out arrived, err error) {
	if err := r.on(); err != nil {
		return out, err
	}
	t, ok := r.unseal(in.Ticket)
	if !ok || d.Now().After(t.Until) || len(t.Browser) == 0 || string(t.Browser) != string(browserOf(ctx)) {
		return out, errNoRequest()
	}
	out.Next = t.Next
	ctx = db.WithActor(ctx, db.Actor{Channel: t.Channel, Address: db.ActorFrom(ctx).Address})
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		out.SignedIn = signin.SignedIn{}
		p, err := people.Lock(ctx, tx, t.Person)
		if row.UnlessRefused(err) != nil {
			return nil, err
		}
		// The account may have been parted from the person, or their roles taken, since.
		if err != nil || p.Issuer != r.provider.issuer || len(p.Roles) == 0 {
			return errNoRequest(), nil
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		if p.TwoFactor {
			if refusal, err := r.signin.SecondFactor(ctx, tx, p, in.Factor); refusal != nil || err != nil {
				return refusal, err
			}
		}
		out.SignedIn, err = r.admit(ctx, tx, p, sessions.Proof{TwoFactor: p.TwoFactor, At: t.At, SID: t.SID}, t.Token)
		return nil, err
	})
	if err == nil {
		signIns.Add(ctx, admitted, 1)
		r.signin.Hear(ctx, out.SignedIn)
	}
	return out, err
}

func (r *Room) seal(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings and times always encode
	}
	return base64.RawURLEncoding.EncodeToString(r.Keys.Seal(ticketPurpose, raw))
}

func (r *Room) unseal(sealed string) (t ticket, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err == nil {
		raw, err = r.Keys.Open(ticketPurpose, raw)
	}
	return t, err == nil && json.Unmarshal(raw, &t) == nil
}

// auditRefusal notes that a sign-in by the provider was refused to a user, 0 for nobody here.
func (r *Room) auditRefusal(ctx context.Context, tx *db.Tx, personID int64) error {
	tx.Changed(signedInBy(r.provider.issuer))
	return people.AuditRefusal(ctx, tx, signin.Action, personID)
}

// confirm notes in the session that sent somebody to the provider that they have just signed in there.
func (r *Room) confirm(ctx context.Context, d *db.DB, who identity, sent request) (me roles.Me, err error) {
	err = people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
		p, err := people.LockByAccount(ctx, tx, people.Account{Issuer: r.provider.issuer, Subject: who.Subject})
		if row.UnlessRefused(err) != nil {
			return nil, err
		}
		if err != nil {
			return fault.Refused("other_account", "This is another account than the one that you are signed in with."), r.auditRefusal(ctx, tx, 0)
		}
		tx.Who.UserID, tx.Who.Label = p.ID, p.Name
		// The moment is the provider's, so its clock may be a minute behind.
		if who.At.Before(sent.CreatedAt.Add(-skew)) {
			return fault.Refused("not_fresh", r.Config.OIDCName+" does not say that you have just signed in there."), r.auditRefusal(ctx, tx, p.ID)
		}
		if err := sessions.NotePassword(ctx, tx, sent.Confirms, p.ID); err != nil {
			if row.UnlessRefused(err) == nil {
				return fault.Refused("other_account", "This is another account than the one that you are signed in with."), r.auditRefusal(ctx, tx, p.ID)
			}
			return nil, err
		}
		if me, err = roles.MeOf(ctx, tx, p.ID); err != nil {
			return nil, fmt.Errorf("read who confirmed: %w", err)
		}
		tx.Changed(signedInBy(r.provider.issuer))
		return nil, op.Audit(ctx, tx, "confirm-password", "user", row.Key(p.ID))
	})
	return me, err
}
