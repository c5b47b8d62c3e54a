package keys

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
	"frontdesk/services/settings/internal/typed"
)

// key is a row of the table application_password.
type key struct {
	ID          uuid.UUID
	PersonID    int64
	Name        string
	Assistant   bool
	Hash        []byte
	Permissions []string // nil for all of its owner's
	Approval    op.Approvals
	ExpiresAt   *time.Time
	CreatedAt   time.Time
}

const columns = `id, person_id, name, assistant, hash, permissions, approval, expires_at, created_at`

// published is the key as other services know it.
func (k key) published() *proto.ApplicationPassword {
	p := &proto.ApplicationPassword{Id: k.ID.String(), UserId: k.PersonID, Name: k.Name, Assistant: k.Assistant, Hash: k.Hash,
		Limited: k.Permissions != nil, Permissions: k.Permissions, Approval: string(k.Approval)}
	if k.ExpiresAt != nil {
		p.ExpiresAt = timestamppb.New(*k.ExpiresAt)
	}
	return p
}

func publish(tx *db.Tx, k key) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.KeyKey(k.ID.String()), &proto.Identity{Version: 1, Record: &proto.Identity_Key{Key: k.published()}})
}

// ByID is a key as services know it, but without its hash; 404 once it has ended.
func ByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (*proto.ApplicationPassword, error) {
	k, err := db.Find[key](ctx, tx, fault.NotFound("application password"), `select `+columns+` from application_password where id = $1`, id)
	k.Hash = nil
	return k.published(), err
}

// ApplicationPassword is a key of a user, without the password.
type ApplicationPassword struct {
	ID          uuid.UUID    `json:"id" format:"uuid" doc:"The id of the record."`
	Name        string       `json:"name" doc:"What the key is for, in words."`
	Assistant   bool         `json:"assistant" doc:"It reaches abilities and MCP only."`
	Permissions []string     `json:"permissions" nullable:"true" doc:"What it may do at most; null for all that its owner may."`
	Approval    op.Approvals `json:"approval" doc:"Which of its calls wait until a person approves them."`
	ExpiresAt   *time.Time   `json:"expires_at" nullable:"true" doc:"When it ends by itself; null for never."`
	CreatedAt   time.Time    `json:"created_at" doc:"When it was made."`
	LastUsedAt  *time.Time   `json:"last_used_at" nullable:"true" doc:"Within a few minutes."`
	LastAddress string       `json:"last_address" doc:"Where it was last used from."`
}

const shown = `id, name, assistant, permissions, approval, expires_at, created_at, last_used_at, last_address`

// newApplicationPassword is a new key and its password, which is shown this once.
type newApplicationPassword struct {
	ApplicationPassword
	Password string `json:"password,omitempty" doc:"24 characters in groups; spaces do not count. Shown only once."`
}

// WithoutSecret is the answer to a repeated call.
func (n newApplicationPassword) WithoutSecret() any { return n.ApplicationPassword }

// Of lists the keys of a user.
func Of(ctx context.Context, tx *db.Tx, personID int64) ([]ApplicationPassword, error) {
	keys, err := db.Rows[ApplicationPassword](ctx, tx, `select `+shown+` from application_password where person_id = $1 order by id`, personID)
	if err != nil {
		return nil, fmt.Errorf("list application passwords: %w", err)
	}
	return keys, nil
}

// list lists the caller's keys; to a key that was limited, itself.
func list(ctx context.Context, tx *db.Tx, _ op.None) (db.List[ApplicationPassword], error) {
	keys, err := Of(ctx, tx, tx.Who.UserID)
	keys = slices.DeleteFunc(keys, func(k ApplicationPassword) bool { return !mayEndKey(tx, k.ID) })
	return db.All(keys), err
}

// mayEndKey reports whether the caller may see and end a key of their user. A credential that was limited may see and end itself only.
func mayEndKey(tx *db.Tx, id uuid.UUID) bool {
	return tx.Who.Limit == nil || tx.Who.Credential == auth.KeyKey(id.String())
}

// most is how many application passwords one user may have.
const most = 100

// create makes a key of the caller and mails them that there is one. Errors: 403 without a session that has
// just seen the password, so that no key makes another, 409 for too many keys.
func (r *Room) create(ctx context.Context, tx *db.Tx, in struct {
	Name        string       `json:"name" required:"true" minLength:"1" maxLength:"100" doc:"What the key is for, in words."`
	Assistant   bool         `json:"assistant,omitempty" doc:"For assistants: reaches abilities and MCP only."`
	Permissions []string     `json:"permissions,omitempty" maxItems:"20" doc:"Permissions that it is limited to. It never has more than its owner has at the time of a call."`
	Approval    op.Approvals `json:"approval,omitempty" doc:"Which of its calls wait until a person approves them; never when left out."`
	ExpiresAt   time.Time    `json:"expires_at,omitzero" doc:"When it ends by itself."`
}) (newApplicationPassword, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return newApplicationPassword{}, err
	}
	name := strings.TrimSpace(in.Name)
	problems := fault.Problems{}
	problems.Add("name", form.Name(name, 100))
	k := key{ID: db.NewID(), PersonID: tx.Who.UserID, Name: name, Assistant: in.Assistant, Approval: in.Approval.OrNever(), CreatedAt: tx.Now}
	if in.Permissions != nil {
		k.Permissions = []string{}
		for _, p := range in.Permissions {
			if !slices.Contains(auth.Permissions, p) {
				problems.Add("permissions", typed.Unknown("permission", p))
			}
		}
		for _, p := range auth.Permissions {
			if slices.Contains(in.Permissions, p) {
				k.Permissions = append(k.Permissions, p)
			}
		}
	}
	if !in.ExpiresAt.IsZero() {
		at := in.ExpiresAt.UTC().Truncate(time.Second)
		if !at.After(tx.Now) {
			problems.Add("expires_at", fault.NewProblem("past", "must be in the future"))
		}
		k.ExpiresAt = &at
	}
	if err := problems.Err(); err != nil {
		return newApplicationPassword{}, err
	}
	p, err := people.Lock(ctx, tx, tx.Who.UserID)
	if err != nil {
		return newApplicationPassword{}, err
	}
	var have int
	if err := tx.QueryRow(ctx, `select count(*) from application_password where person_id = $1`, tx.Who.UserID).Scan(&have); err != nil {
		return newApplicationPassword{}, fmt.Errorf("count application passwords: %w", err)
	}
	if have >= most {
		return newApplicationPassword{}, fault.Conflict("too_many", "There are too many application passwords. Revoke one first.")
	}
	password := newKey()
	hash := auth.PasswordHash(password)
	k.Hash = hash[:]
	_, err = tx.Exec(ctx, `insert into application_password (`+columns+`) values (@id, @person, @name, @assistant, @hash, @permissions, @approval, @expires, @now)`,
		db.Args{"id": k.ID, "person": k.PersonID, "name": k.Name, "assistant": k.Assistant, "hash": k.Hash, "permissions": k.Permissions, "approval": k.Approval,
			"expires": k.ExpiresAt, "now": k.CreatedAt})
	if err != nil {
		return newApplicationPassword{}, fmt.Errorf("store application password: %w", err)
	}
	if err := r.noticeKey(ctx, tx, p, name); err != nil {
		return newApplicationPassword{}, err
	}
	made := ApplicationPassword{ID: k.ID, Name: k.Name, Assistant: k.Assistant, Permissions: k.Permissions, Approval: k.Approval, ExpiresAt: k.ExpiresAt, CreatedAt: k.CreatedAt}
	return newApplicationPassword{made, password}, publish(tx, k)
}

// update changes which calls of a key of the caller wait; 404 for another's.
func update(ctx context.Context, tx *db.Tx, in struct {
	op.ByID
	Approval opt.Value[op.Approvals] `json:"approval,omitzero" doc:"Which of its calls wait until a person approves them."`
}) (ApplicationPassword, error) {
	missing := fault.NotFound("application password")
	before, err := db.Find[ApplicationPassword](ctx, tx, missing, `select `+shown+` from application_password where id = $1 and person_id = $2 for update`, in.ID, tx.Who.UserID)
	if err != nil {
		return before, err
	}
	after := before
	in.Approval.Apply(&after.Approval)
	if err := tx.ChangedFrom(before, after); err != nil || after.Approval == before.Approval {
		return before, err
	}
	k, err := db.Find[key](ctx, tx, missing, `update application_password set approval = $2 where id = $1 returning `+columns, in.ID, after.Approval)
	if err != nil {
		return before, err
	}
	return after, publish(tx, k)
}

func remove(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	if !mayEndKey(tx, in.ID) {
		return op.None{}, fault.NotFound("application password")
	}
	return op.None{}, EndOf(ctx, tx, tx.Who.UserID, in.ID)
}

// EndOf revokes a key of a user; 404 for another's.
func EndOf(ctx context.Context, tx *db.Tx, personID int64, id uuid.UUID) error {
	tag, err := tx.Exec(ctx, `delete from application_password where id = $1 and person_id = $2`, id, personID)
	if err != nil {
		return fmt.Errorf("delete application password: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return fault.NotFound("application password")
	}
	tx.Tombstone(proto.IdentityTopic, auth.KeyKey(id.String()))
	return nil
}

// EndAll revokes all keys of a user.
func EndAll(ctx context.Context, tx *db.Tx, personID int64) error {
	return people.Withdraw(ctx, tx, auth.KeyKey, `delete from application_password where person_id = $1 returning id::text`, personID)
}

// onKeySeen notes when and from where a key was last used.
func onKeySeen(ctx context.Context, tx *db.Tx, e bus.Event, in *proto.KeySeen) error {
	id, err := uuid.Parse(in.GetId())
	if err != nil {
		return fmt.Errorf("id of an application password: %w", err)
	}
	_, err = tx.Exec(ctx, `update application_password set last_used_at = $2, last_address = $3 where id = $1 and coalesce(last_used_at, '-infinity') < $2`,
		id, e.At.Truncate(time.Second), in.GetAddress())
	if err != nil {
		return fmt.Errorf("note the use of application_password %s: %w", id, err)
	}
	return nil
}

// newKey is 24 random characters in groups of four.
func newKey() string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"
	var b strings.Builder
	for i := range 24 {
		if i > 0 && i%4 == 0 {
			b.WriteByte(' ')
		}
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			panic(err) // the system has no random numbers, so no secret can be made
		}
		b.WriteByte(letters[n.Int64()])
	}
	return b.String()
}

// endExpired deletes the application passwords whose time is over. They stopped working by themselves.
func (r *Room) endExpired(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		return people.Withdraw(ctx, tx, auth.KeyKey, `delete from application_password where expires_at < $1 returning id::text`, tx.Now)
	})
}

func publishAll(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	return row.Each(ctx, tx, func(k key) error { return publish(tx, k) }, `select `+columns+` from application_password where id = any($1) order by id`, ids)
}

func (r *Room) noticeKey(ctx context.Context, tx *db.Tx, p people.Person, name string) error {
	return r.people.Notice(ctx, tx, p, "new_key", "name", name)
}
