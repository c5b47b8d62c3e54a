package approvals

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	protobuf "google.golang.org/protobuf/proto"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/erasure"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/assistants"
	"frontdesk/services/settings/internal/keys"
	"frontdesk/services/settings/internal/row"
)

// States of an approval.
const (
	waiting  = "waiting"
	approved = "approved"
	refused  = "refused"
	expired  = "expired"
	failed   = "failed"
)

// Kinds of credentials that ask.
const (
	ofKey        = "key"
	ofConnection = "connection"
)

// approval is a row of the table approval.
type approval struct {
	ID         uuid.UUID
	Service    string
	Operation  string
	Permission string
	Credential uuid.UUID
	Kind       string
	PersonID   int64
	Name       string
	Input      json.RawMessage
	Effects    *json.RawMessage
	Hash       string
	Call       []byte
	State      string
	Status     *int
	Answer     *json.RawMessage
	Secret     []byte
	Reason     string
	DecidedBy  *int64
	DecidedAt  *time.Time
	CalledAt   *time.Time
	CreatedAt  time.Time
	EndsAt     time.Time
}

const columns = `id, service, operation, permission, credential, kind, person_id, name, input, effects, hash, call, state, status, answer, secret, reason, decided_by, decided_at, called_at, created_at, ends_at`

func purposeOf(id string) string { return "approval " + id }

// byID reads an approval that the actor sees, with a lock at the end of the statement or none; 404 for any other.
func byID(ctx context.Context, tx *db.Tx, id uuid.UUID, lock string) (approval, error) {
	w := seen(tx.Who)
	w.And("a.id = ?", id)
	return db.Find[approval](ctx, tx, fault.NotFound("approval"), `select `+columns+` from approval a where `+w.String()+lock, w.Args...)
}

// seen is the condition of approvals, called a, that the actor sees: a credential its own, a person those in their name and those on which they may decide.
func seen(who db.Actor) *db.Where {
	w := &db.Where{}
	switch {
	case !who.Session:
		id, _ := uuid.Parse(who.KeyID()) // no approval has the zero id
		w.And("a.credential = ?", id)
	case who.Own:
		w.And("a.person_id = ?", who.UserID)
	case !who.Can(auth.ManageIntegrations):
		held := []string{}
		for permission, has := range who.Capabilities {
			if has {
				held = append(held, permission)
			}
		}
		w.And("(a.person_id = ? or a.permission = any(?))", who.UserID, held)
	}
	return w
}

// mayDecide reports whether a user with these rights may decide on calls of others that need a permission. Who sees only their own records would see in
// the effects what is not theirs.
func mayDecide(permission string, own bool, can func(string) bool) bool {
	return !own && can(auth.ViewContacts) && (can(auth.ManageIntegrations) || can(permission))
}

// ownKey reports whether an approval is of a call of this user's key.
func ownKey(a approval, user int64) bool { return a.Kind == ofKey && a.PersonID == user }

// mayApprove refuses an actor who may not approve: 403. A call of the actor's own key only a site administrator approves whom nobody else could replace.
func (r *Room) mayApprove(who db.Actor, a approval) error {
	switch {
	case a.PersonID != who.UserID && !mayDecide(a.Permission, who.Own, who.Can):
		return fault.Forbidden(auth.ManageIntegrations)
	case !ownKey(a, who.UserID):
		return nil
	case len(r.others(a.PersonID, a.Permission)) > 0:
		return fault.Refused("own", "This is a call of your own key. Somebody else has to approve it.")
	case !slices.Contains(who.Roles, auth.SiteAdmin):
		return fault.Refused("own", "This is a call of your own key. A site administrator has to approve it.")
	}
	return nil
}

// others are the users who may decide on calls of somebody else that need a permission.
func (r *Room) others(than int64, permission string) []*proto.User {
	return slices.DeleteFunc(r.Identity.Users(), func(u *proto.User) bool {
		rights := r.Identity.Rights(u.GetId())
		return u.GetId() == than || u.GetInvited() || !mayDecide(permission, r.Identity.Own(u.GetId()), func(p string) bool { return rights[p] })
	})
}

// tell has those who may approve a call told of it: the person of an assistant; of a key the others, or its owner if nobody else could.
func (r *Room) tell(ctx context.Context, tx *db.Tx, kind string, person int64, in *proto.AskApproval, name string) error {
	n := &proto.Notice{Asked: &proto.Notice_Asked{Id: in.GetId(), Operation: in.GetOperation(), Name: name}, NotAfter: tx.Now.Add(op.ApprovalLasts).Unix()}
	to := []int64{}
	if kind == ofKey {
		for _, u := range r.others(person, in.GetPermission()) {
			to = append(to, u.GetId())
		}
	}
	if len(to) == 0 {
		to = append(to, person)
	}
	for _, id := range to {
		n.To = append(n.To, &proto.Notice_Addressee{UserId: id, Kind: "approval_waiting", How: "approval"})
	}
	return tx.Tell(ctx, "approval/"+in.GetId(), n)
}

// shown is an approval as the actor may see it.
func (r *Room) shown(who db.Actor, a approval) (op.Approval, error) {
	out := op.Approval{ID: a.ID, Operation: a.Operation, Input: op.Object(a.Input), Hash: a.Hash, AskedBy: op.AskedBy{Kind: a.Kind, Name: a.Name, UserID: a.PersonID},
		State: a.State, Status: a.Status, Answer: op.Object("null"), Reason: a.Reason, AskedAt: a.CreatedAt, EndsAt: a.EndsAt}
	if a.Answer != nil {
		out.Answer = op.Object(*a.Answer)
	}
	if a.State != waiting {
		out.DecidedAt = a.DecidedAt
		if a.DecidedBy != nil {
			user, _ := r.Identity.User(*a.DecidedBy)
			out.DecidedBy = opt.Of(op.Approver{UserID: *a.DecidedBy, Name: user.GetName()})
		}
	}
	if a.Effects != nil {
		var effects op.Effects
		if err := json.Unmarshal(*a.Effects, &effects); err != nil {
			return out, fmt.Errorf("effects of approval %s: %w", a.ID, err)
		}
		out.Effects = opt.Of(effects.SeenBy(who))
	}
	return out, nil
}

func (r *Room) list(ctx context.Context, tx *db.Tx, in struct {
	db.Page
	State string `json:"state,omitempty" enum:"waiting,approved,refused,expired,failed" doc:"Only those in this state."`
}) (db.List[op.Approval], error) {
	none := db.List[op.Approval]{}
	c, err := tx.Page(in.Page, "approvals", in)
	if err != nil {
		return none, err
	}
	w := seen(tx.Who)
	if in.State != "" {
		w.And("a.state = ?", in.State)
	}
	if c.First {
		if err := tx.QueryRow(ctx, `select count(*) from approval a where `+w.String(), w.Args...).Scan(&c.Total); err != nil {
			return none, fmt.Errorf("count approvals: %w", err)
		}
	}
	w.After(c, "a")
	all, err := db.Rows[approval](ctx, tx, db.LimitTo(`select `+columns+` from approval a where `+w.String()+` order by created_at desc, id desc`, c.Limit), w.Args...)
	if err != nil {
		return none, fmt.Errorf("list approvals: %w", err)
	}
	var wrong error
	page := db.CloseAt(c, all, func(a approval) (op.Approval, db.Place) {
		out, err := r.shown(tx.Who, a)
		wrong = errors.Join(wrong, err)
		return out, db.Place{At: a.CreatedAt, ID: a.ID}
	})
	return page, wrong
}

// arrives is how long a call that asks may take to be known here.
const arrives = 3 * time.Second

// get shows an approval. The first answer to the credential that asked has the secret of the call's answer, which is deleted then.
func (r *Room) get(ctx context.Context, d *db.DB, in op.ByID) (out op.Approval, err error) {
	read := func() error {
		return d.Do(ctx, func(tx *db.Tx) error {
			a, err := byID(ctx, tx, in.ID, ``)
			if err != nil {
				return err
			}
			now, err := r.shown(tx.Who, a)
			out = now
			if err != nil || a.Secret == nil || tx.Who.Session {
				return err
			}
			// Of two that ask at once the second finds it gone.
			var secret []byte
			err = tx.QueryRow(ctx, `update approval a set secret = null from (select id, secret from approval where id = $1 and secret is not null for update) was
				where a.id = was.id returning was.secret`, a.ID).Scan(&secret)
			if errors.Is(err, pgx.ErrNoRows) {
				return nil
			}
			if err != nil {
				return fmt.Errorf("take the secret of approval %s: %w", a.ID, err)
			}
			now.Answer, err = r.Keys.Open(purposeOf(a.ID.String()), secret)
			out = now
			return err
		})
	}
	return out, r.awaited(ctx, in.ID, read)
}

// awaited calls read again while it finds nothing of an approval that was asked for a moment ago: who was just told so may be faster than the message.
func (r *Room) awaited(ctx context.Context, id uuid.UUID, read func() error) error {
	for {
		err := read()
		if err == nil || fault.From(err).Code != "svc_not_found" || !isNew(id) {
			return err
		}
		if db.Sleep(ctx, 50*time.Millisecond); ctx.Err() != nil {
			return err
		}
	}
}

// isNew reports whether an id was made a moment ago, by the real clock, which ids are made by.
func isNew(id uuid.UUID) bool {
	if id.Version() != 7 {
		return false
	}
	age := time.Since(time.Unix(id.Time().UnixTime()))
	return age >= -arrives && age < arrives
}

// onAsk stores a call that waits, once. One whose credential has ended meanwhile, or which names a person who was erased since, is left out.
func (r *Room) onAsk(ctx context.Context, tx *db.Tx, e bus.Event, in *proto.AskApproval) error {
	id, err := uuid.Parse(in.GetId())
	if err != nil {
		return fmt.Errorf("id of an approval: %w", err)
	}
	credential, kind, err := credentialOf(ctx, tx, in.GetCredential())
	if err != nil || credential == nil {
		return row.UnlessRefused(err)
	}
	gone, err := tx.Forgotten(ctx, e.At, tx.PeopleNamed(in.GetInput(), in.GetEffects())...)
	if err != nil || gone {
		return err
	}
	call, err := r.Auth.Trust.Open(proto.SettingsCommandTopic, in.GetId(), in.GetCall())
	if err != nil {
		return fmt.Errorf("call of approval %s: %w", id, err)
	}
	var effects *string
	if len(in.GetEffects()) > 0 {
		text := string(in.GetEffects())
		effects = &text
	}
	at := e.At.UTC().Truncate(time.Second)
	tag, err := tx.Exec(ctx, `insert into approval (id, service, operation, permission, credential, kind, person_id, name, input, effects, hash, call, state, created_at, ends_at)
		values (@id, @service, @operation, @permission, @credential, @kind, @person, @name, @input::text::jsonb, @effects::text::jsonb, @hash, @call, 'waiting', @at, @ends)
		on conflict (id) do nothing`,
		db.Args{"id": id, "service": in.GetService(), "operation": in.GetOperation(), "permission": in.GetPermission(), "credential": in.GetCredential(), "kind": kind,
			"person": credential.GetUserId(), "name": credential.GetName(), "input": string(in.GetInput()), "effects": effects, "hash": in.GetHash(),
			"call": r.Keys.Seal(purposeOf(id.String()), call), "at": at, "ends": at.Add(op.ApprovalLasts)})
	if err != nil {
		return fmt.Errorf("store approval %s: %w", id, err)
	}
	if tag.RowsAffected() == 0 {
		return nil
	}
	if err := tellReplicas(ctx, tx); err != nil {
		return err
	}
	return r.tell(ctx, tx, kind, credential.GetUserId(), in, credential.GetName())
}

// credentialOf is an application password or a connection as it is now, and which of the two; nil once it has ended.
func credentialOf(ctx context.Context, tx *db.Tx, id string) (*proto.ApplicationPassword, string, error) {
	parsed, err := uuid.Parse(id)
	if err != nil {
		return nil, "", fmt.Errorf("id of a credential: %w", err)
	}
	key, err := keys.ByID(ctx, tx, parsed)
	if err == nil {
		return key, ofKey, nil
	}
	if row.UnlessRefused(err) != nil {
		return nil, "", err
	}
	connection, err := assistants.ByID(ctx, tx, parsed)
	if err != nil {
		return nil, "", row.UnlessRefused(err)
	}
	return connection, ofConnection, nil
}

// kept is how long an approval is kept after it has ended.
const kept = 30 * 24 * time.Hour

// end ends calls that nobody has decided on, and deletes secrets with the end and records after their time. A call that was begun is left to resume.
func (r *Room) end(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		over, err := tx.Exec(ctx, `update approval set state = 'expired', call = null, decided_at = $1 where state = 'waiting' and ends_at <= $1 and decided_by is null`, tx.Now)
		if err == nil && over.RowsAffected() > 0 {
			err = tellReplicas(ctx, tx)
		}
		if err != nil {
			return fmt.Errorf("end approvals: %w", err)
		}
		b := &pgx.Batch{}
		b.Queue(`update approval set secret = null where secret is not null and ends_at <= $1`, tx.Now)
		b.Queue(`delete from approval where state <> 'waiting' and created_at < $1`, tx.Now.Add(-kept-op.ApprovalLasts))
		if err := tx.SendBatch(ctx, b).Close(); err != nil {
			return fmt.Errorf("end approvals: %w", err)
		}
		return nil
	})
}

// restored ends what waits: it may have been decided on after the backup.
func (r *Room) restored(ctx context.Context) (did []string, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		tag, err := tx.Exec(ctx, `update approval set state = 'expired', call = null, decided_at = $1 where state = 'waiting'`, tx.Now)
		if n := tag.RowsAffected(); err == nil && n > 0 {
			did = []string{fmt.Sprintf("%d calls that waited for a person have expired", n)}
		}
		return err
	})
	return did, err
}

// forget deletes approvals of calls that name an erased person.
func forget(ctx context.Context, tx *db.Tx, p *erasure.Person) (gone []uuid.UUID, err error) {
	err = row.Each(ctx, tx, func(a approval) error {
		texts := [][]byte{a.Input}
		if a.Effects != nil {
			texts = append(texts, *a.Effects)
		}
		if a.Answer != nil {
			texts = append(texts, *a.Answer)
		}
		if whole := bytes.Join(texts, []byte(",")); p.InJSON([]byte("[" + string(whole) + "]")) {
			gone = append(gone, a.ID)
		}
		return nil
	}, `select `+columns+` from approval where created_at < $1 order by id for update`, p.At)
	if err != nil || len(gone) == 0 {
		return nil, err
	}
	if _, err := tx.Exec(ctx, `delete from approval where id = any($1)`, gone); err != nil {
		return nil, fmt.Errorf("delete approvals that name an erased person: %w", err)
	}
	return gone, nil
}

// heldCall opens the call of an approval.
func (r *Room) heldCall(a approval) (*proto.HeldCall, error) {
	raw, err := r.Keys.Open(purposeOf(a.ID.String()), a.Call)
	if err != nil {
		return nil, fmt.Errorf("call of approval %s: %w", a.ID, err)
	}
	call := &proto.HeldCall{}
	return call, protobuf.Unmarshal(raw, call)
}
