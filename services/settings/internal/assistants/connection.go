package assistants

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/libs/opt"
	"frontdesk/proto"
)

const (
	// codeLife is how long the code of a consent can be used.
	codeLife = 2 * time.Minute
	// tokenLife is how long an access token works.
	tokenLife = 30 * time.Minute
	// connectionLife is how long a connection lasts that its assistant does not refresh.
	connectionLife = 90 * 24 * time.Hour
	// mostConnections is how many assistants one user may have connected.
	mostConnections = 50
)

// connection is an assistant that a person has connected.
type connection struct {
	ID            uuid.UUID
	PersonID      int64
	AssistantID   uuid.UUID
	Name          string
	Permissions   []string
	Denied        []string
	ReadOnly      bool
	Approval      op.Approvals
	RedirectURI   string
	CodeChallenge string
	CodeExpiresAt time.Time
	FamilyHash    []byte // nil until the code was used
	RefreshHash   []byte
	ExpiresAt     time.Time
}

const connectionColumns = `id, person_id, assistant_id, name, permissions, denied, read_only, approval, redirect_uri, code_challenge, code_expires_at, family_hash, refresh_hash, expires_at`

// Connection is an assistant that a person has connected, as that person sees it.
type Connection struct {
	ID          uuid.UUID    `json:"id" format:"uuid" doc:"The id of the record."`
	Name        string       `json:"name" doc:"As the assistant calls itself; nobody has checked it."`
	Host        string       `json:"host" doc:"Where the person was led back to when they agreed."`
	Permissions []string     `json:"permissions" doc:"What it may do at most."`
	Denied      []string     `json:"denied" doc:"Abilities that the person took away, whatever the permissions."`
	ReadOnly    bool         `json:"read_only" doc:"It may change nothing, whatever the permissions."`
	Approval    op.Approvals `json:"approval" doc:"Which of its calls wait until a person approves them."`
	CreatedAt   time.Time    `json:"created_at" doc:"When the person agreed."`
	ExpiresAt   time.Time    `json:"expires_at" doc:"When it ends unless the assistant comes back before."`
	LastUsedAt  *time.Time   `json:"last_used_at" nullable:"true" doc:"Within a few minutes."`
	LastAddress string       `json:"last_address" doc:"Where it was last used from."`
}

// Of lists the assistants that a user has connected and that have come for their tokens.
func Of(ctx context.Context, tx *db.Tx, personID int64) ([]Connection, error) {
	rows, err := db.Rows[listed](ctx, tx, `select `+shown+` from connection where person_id = $1 and `+isConnected+` order by id`, personID, tx.Now)
	if err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	all := make([]Connection, 0, len(rows))
	for _, r := range rows {
		all = append(all, r.connection())
	}
	return all, nil
}

type listed struct {
	Connection
	RedirectURI string
}

const shown = `id, name, '' as host, redirect_uri, permissions, denied, read_only, approval, created_at, expires_at, last_used_at, last_address`

// isConnected is the condition of connections whose assistant has come for its tokens, at the time $2.
const isConnected = `family_hash is not null and expires_at > $2`

func (l listed) connection() Connection {
	l.Host = hostOf(l.RedirectURI)
	return l.Connection
}

// ByID is a connection as services know its tokens, but without their hash; 404 once it has ended.
func ByID(ctx context.Context, tx *db.Tx, id uuid.UUID) (*proto.ApplicationPassword, error) {
	c, err := db.Find[connection](ctx, tx, fault.NotFound("connection"), `select `+connectionColumns+` from connection where id = $1 and `+isConnected, id, tx.Now)
	return accessToken{ConnectionID: c.ID, PersonID: c.PersonID, Name: c.Name, Permissions: c.Permissions, Denied: c.Denied, ReadOnly: c.ReadOnly, Approval: c.Approval,
		ExpiresAt: c.ExpiresAt}.published(), err
}

// updateConnection changes which calls of a connection of the caller wait, and publishes its tokens; 404 for another's.
func updateConnection(ctx context.Context, tx *db.Tx, in struct {
	op.ByID
	Approval opt.Value[op.Approvals] `json:"approval,omitzero" doc:"Which of its calls wait until a person approves them."`
}) (Connection, error) {
	found, err := db.Find[listed](ctx, tx, fault.NotFound("connection"), `select `+shown+` from connection where id = $1 and person_id = $3 and `+isConnected+` for update`, in.ID, tx.Now, tx.Who.UserID)
	if err != nil {
		return Connection{}, err
	}
	before, after := found.connection(), found.connection()
	in.Approval.Apply(&after.Approval)
	if err := tx.ChangedFrom(before, after); err != nil || after.Approval == before.Approval {
		return before, err
	}
	if _, err := tx.Exec(ctx, `update connection set approval = $2 where id = $1`, in.ID, after.Approval); err != nil {
		return before, fmt.Errorf("change connection %s: %w", in.ID, err)
	}
	return after, publishTokensWhere(ctx, tx, `c.id = $1 and t.expires_at > $2`, in.ID, tx.Now)
}

func listConnections(ctx context.Context, tx *db.Tx, _ op.None) (db.List[Connection], error) {
	all, err := Of(ctx, tx, tx.Who.UserID)
	return db.All(all), err
}

func deleteConnection(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	return op.None{}, EndOf(ctx, tx, tx.Who.UserID, in.ID)
}

// EndOf ends a connection of a user, and its tokens; 404 for another's.
func EndOf(ctx context.Context, tx *db.Tx, personID int64, id uuid.UUID) error {
	ended, err := endConnectionsWhere(ctx, tx, `id = $1 and person_id = $2`, id, personID)
	if err == nil && ended == 0 {
		err = fault.NotFound("connection")
	}
	return err
}

// EndAll ends all connections of a user.
func EndAll(ctx context.Context, tx *db.Tx, personID int64) error {
	_, err := endConnectionsWhere(ctx, tx, `person_id = $1`, personID)
	return err
}

// endConnectionsWhere ends connections and publishes the end of their tokens. It returns how many ended.
func endConnectionsWhere(ctx context.Context, tx *db.Tx, where string, args ...any) (int, error) {
	rows, err := tx.Query(ctx, `select id from connection where `+where+` order by id for update`, args...)
	if err != nil {
		return 0, fmt.Errorf("lock connections: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	// A token is added under the lock of its connection, so none is missed.
	if err := endTokensWhere(ctx, tx, `connection_id = any($1)`, ids); err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, `delete from connection where id = any($1)`, ids); err != nil {
		return 0, fmt.Errorf("end connections: %w", err)
	}
	return len(ids), nil
}

// endExpiredConnections deletes connections that their assistants have left, codes that nobody used, and tokens whose time is over.
func (r *Room) endExpiredConnections(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		if _, err := endConnectionsWhere(ctx, tx, `expires_at < $1`, tx.Now); err != nil {
			return err
		}
		return endTokensWhere(ctx, tx, `expires_at < $1`, tx.Now)
	})
}

// onConnectionSeen notes when and from where a token of a connection was last used.
func onConnectionSeen(ctx context.Context, tx *db.Tx, e bus.Event, in *proto.KeySeen) error {
	id, err := uuid.Parse(in.GetId())
	if err != nil {
		return fmt.Errorf("id of a connection: %w", err)
	}
	_, err = tx.Exec(ctx, `update connection set last_used_at = $2, last_address = $3 where id = $1 and coalesce(last_used_at, '-infinity') < $2`,
		id, e.At.Truncate(time.Second), in.GetAddress())
	if err != nil {
		return fmt.Errorf("note the use of connection %s: %w", id, err)
	}
	return nil
}
