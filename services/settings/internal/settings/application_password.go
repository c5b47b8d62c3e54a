package settings

import (
	"context"
	"crypto/rand"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

// key is a row of the table application_password.
type key struct {
	ID        uuid.UUID
	PersonID  int64
	Name      string
	Assistant bool
	Hash      []byte
	CreatedAt time.Time
}

const keyColumns = `id, person_id, name, assistant, hash, created_at`

func publishKey(ctx context.Context, tx *db.Tx, k key) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.KeyKey(k.ID.String()), &proto.Identity{Record: &proto.Identity_Key{
		Key: &proto.ApplicationPassword{Id: k.ID.String(), UserId: k.PersonID, Name: k.Name, Assistant: k.Assistant, Hash: k.Hash}}})
}

// ApplicationPassword is a key of the caller, without the password.
type ApplicationPassword struct {
	ID        uuid.UUID `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	Assistant bool      `json:"assistant" doc:"It reaches abilities and MCP only."`
	CreatedAt time.Time `json:"created_at"`
}

// NewApplicationPassword is a new key and its password, which is shown this once.
type NewApplicationPassword struct {
	ApplicationPassword
	Password string `json:"password,omitempty" doc:"24 characters in groups; spaces do not count. Shown only once."`
}

// WithoutSecret is the answer to a repeated call.
func (n NewApplicationPassword) WithoutSecret() any { return n.ApplicationPassword }

func listApplicationPasswords(ctx context.Context, tx *db.Tx, _ op.None) (db.List[ApplicationPassword], error) {
	keys, err := many[ApplicationPassword](ctx, tx, `select id, name, assistant, created_at from application_password where person_id = $1 order by id`, tx.Who.UserID)
	if err != nil {
		return db.List[ApplicationPassword]{}, fmt.Errorf("list application passwords: %w", err)
	}
	return db.All(keys), nil
}

// mostKeys is how many application passwords one user may have.
const mostKeys = 100

func createApplicationPassword(ctx context.Context, tx *db.Tx, in struct {
	Name      string `json:"name" required:"true" minLength:"1" maxLength:"100"`
	Assistant bool   `json:"assistant,omitempty" doc:"For assistants: reaches abilities and MCP only."`
}) (NewApplicationPassword, error) {
	name := strings.TrimSpace(in.Name)
	if problem := form.Name(name, 100); !problem.IsZero() {
		return NewApplicationPassword{}, fault.Invalid("name", problem)
	}
	if _, err := lockPerson(ctx, tx, tx.Who.UserID); err != nil {
		return NewApplicationPassword{}, err
	}
	var have int
	if err := tx.QueryRow(ctx, `select count(*) from application_password where person_id = $1`, tx.Who.UserID).Scan(&have); err != nil {
		return NewApplicationPassword{}, fmt.Errorf("count application passwords: %w", err)
	}
	if have >= mostKeys {
		return NewApplicationPassword{}, fault.Conflict("too_many", "There are too many application passwords. Revoke one first.")
	}
	password := newKey()
	hash := auth.PasswordHash(password)
	k := key{ID: db.NewID(), PersonID: tx.Who.UserID, Name: name, Assistant: in.Assistant, Hash: hash[:], CreatedAt: tx.Now}
	_, err := tx.Exec(ctx, `insert into application_password (`+keyColumns+`) values ($1, $2, $3, $4, $5, $6)`,
		k.ID, k.PersonID, k.Name, k.Assistant, k.Hash, k.CreatedAt)
	if err != nil {
		return NewApplicationPassword{}, fmt.Errorf("store application password: %w", err)
	}
	return NewApplicationPassword{ApplicationPassword{k.ID, k.Name, k.Assistant, k.CreatedAt}, password}, publishKey(ctx, tx, k)
}

func deleteApplicationPassword(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	tag, err := tx.Exec(ctx, `delete from application_password where id = $1 and person_id = $2`, in.ID, tx.Who.UserID)
	if err != nil {
		return op.None{}, fmt.Errorf("delete application password: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return op.None{}, fault.NotFound("application password")
	}
	return op.None{}, tx.Tombstone(ctx, proto.IdentityTopic, auth.KeyKey(in.ID.String()))
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
