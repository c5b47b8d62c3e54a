package assistants

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/secrets"
)

// tokens are what an assistant gets for a code or a refresh token.
type tokens struct {
	access, refresh string
	permissions     []string
}

// errGrant says that a code or refresh token is not good. Nothing more is said, because whoever holds it may have stolen it.
var errGrant = badOAuth("invalid_grant", "The code or token is not valid, was used before, is another client's, or its time is over.")

// exchange is what an assistant sends for a code.
type exchange struct{ Code, Verifier, RedirectURI string }

// useCode gives an assistant tokens for a code. It fails with errGrant. A code that comes again ends the connection that it has made, because one of
// the two has stolen it; so the caller commits, whatever the outcome.
func (r *Room) useCode(ctx context.Context, tx *db.Tx, a assistant, in exchange) (tokens, error) {
	c, err := db.Find[connection](ctx, tx, errGrant, `select `+connectionColumns+` from connection where code_hash = $1 for update`, secrets.Hash(in.Code))
	if err != nil {
		return tokens{}, err
	}
	if c.FamilyHash != nil {
		return tokens{}, r.endStolen(ctx, tx, c)
	}
	verified := sha256.Sum256([]byte(in.Verifier))
	if !c.CodeExpiresAt.After(tx.Now) || c.AssistantID != a.ID || c.RedirectURI != in.RedirectURI ||
		!secrets.Same(base64.RawURLEncoding.EncodeToString(verified[:]), c.CodeChallenge) {
		return tokens{}, errGrant
	}
	family, hash := secrets.New()
	c.FamilyHash = hash
	return issue(ctx, tx, c, family, c.Permissions)
}

// refresh gives an assistant new tokens for a refresh token, which ends; the access token has the permissions of scope only, if that names some. It fails
// with invalid_scope for those that the person has not agreed to, and with errGrant. A refresh token that ended before ends the connection, because
// either its assistant or a thief has used it; so the caller commits when it is errGrant.
func (r *Room) refresh(ctx context.Context, tx *db.Tx, a assistant, token string, scope []string) (tokens, error) {
	family, secret, _ := strings.Cut(strings.TrimPrefix(token, refreshPrefix), ".")
	c, err := db.Find[connection](ctx, tx, errGrant, `select `+connectionColumns+` from connection where family_hash = $1 for update`, secrets.Hash(family))
	if err != nil {
		return tokens{}, err
	}
	if !secrets.Same(string(c.RefreshHash), string(secrets.Hash(secret))) {
		return tokens{}, r.endStolen(ctx, tx, c)
	}
	if c.AssistantID != a.ID || !c.ExpiresAt.After(tx.Now) {
		return tokens{}, errGrant
	}
	for _, p := range scope {
		if !slices.Contains(c.Permissions, p) {
			return tokens{}, badOAuth("invalid_scope", "The person has not agreed to "+p+".")
		}
	}
	return issue(ctx, tx, c, family, within(c.Permissions, scope))
}

// within are those permissions that a scope names, and seeing contacts, which everything else requires; all if it names none.
func within(permissions, scope []string) []string {
	return slices.DeleteFunc(slices.Clone(permissions), func(p string) bool {
		return len(scope) > 0 && p != auth.ViewContacts && !slices.Contains(scope, p)
	})
}

// endStolen ends a connection of which a code or refresh token came twice, mails its person and fails with errGrant.
func (r *Room) endStolen(ctx context.Context, tx *db.Tx, c connection) error {
	if _, err := endConnectionsWhere(ctx, tx, `id = $1`, c.ID); err != nil {
		return err
	}
	p, err := people.ByID(ctx, tx, c.PersonID)
	if err != nil {
		return err
	}
	if err := op.Audit(ctx, tx, "end-reused-connection", "connection", c.ID.String()); err != nil {
		return err
	}
	return cmp.Or(r.noticeStolen(ctx, tx, p, c.Name), errGrant)
}

// revoke ends the connection to which an access or refresh token belongs. An unknown token is no error; that of another client than by, if by is
// known, is errGrant.
func revoke(ctx context.Context, tx *db.Tx, token string, by *assistant) error {
	family, _, _ := strings.Cut(strings.TrimPrefix(token, refreshPrefix), ".")
	unknown := errors.New("unknown token")
	c, err := db.Find[connection](ctx, tx, unknown, `select `+connectionColumns+` from connection
		where family_hash = $1 or id = (select connection_id from access_token where hash = $2) for update`, secrets.Hash(family), secrets.Hash(token))
	switch {
	case errors.Is(err, unknown):
		return nil
	case err != nil:
		return err
	case by != nil && by.ID != c.AssistantID:
		return errGrant
	}
	if _, err := endConnectionsWhere(ctx, tx, `id = $1`, c.ID); err != nil {
		return err
	}
	tx.Who.UserID, tx.Who.Label = c.PersonID, c.Name
	return op.Audit(ctx, tx, "revoke-connection", "connection", c.ID.String())
}

// The prefixes let whoever finds a token see what it is.
const accessPrefix, refreshPrefix = "fda_", "fdr_"

// issue gives a locked connection a new access token, and a refresh token of its family in place of the one before. The access tokens
// before stay until their time is over, for the calls under way.
func issue(ctx context.Context, tx *db.Tx, c connection, family string, permissions []string) (tokens, error) {
	secret, refreshHash := secrets.New()
	access, _ := secrets.New()
	access = accessPrefix + access
	_, err := tx.Exec(ctx, `update connection set family_hash = $2, refresh_hash = $3, expires_at = $4 where id = $1`, c.ID, c.FamilyHash, refreshHash, tx.Now.Add(connectionLife))
	if err != nil {
		return tokens{}, fmt.Errorf("refresh connection %s: %w", c.ID, err)
	}
	t := accessToken{ID: db.NewID(), ConnectionID: c.ID, Hash: secrets.Hash(access), ExpiresAt: tx.Now.Add(tokenLife), PersonID: c.PersonID, Name: c.Name, Permissions: permissions, Denied: c.Denied, ReadOnly: c.ReadOnly, Approval: c.Approval}
	_, err = tx.Exec(ctx, `insert into access_token (id, connection_id, hash, expires_at, permissions) values ($1, $2, $3, $4, $5)`,
		t.ID, t.ConnectionID, t.Hash, t.ExpiresAt, t.Permissions)
	if err != nil {
		return tokens{}, fmt.Errorf("store access token: %w", err)
	}
	return tokens{access, refreshPrefix + family + "." + secret, permissions}, publishToken(tx, t)
}

// accessToken is a token with what its connection says of it.
type accessToken struct {
	ID, ConnectionID uuid.UUID
	Hash             []byte
	ExpiresAt        time.Time
	PersonID         int64
	Name             string
	Permissions      []string
	Denied           []string
	ReadOnly         bool
	Approval         op.Approvals
}

func (t accessToken) published() *proto.ApplicationPassword {
	return &proto.ApplicationPassword{Id: t.ConnectionID.String(), UserId: t.PersonID, Name: t.Name, Assistant: true, Bearer: true, Hash: t.Hash, Limited: true,
		Permissions: t.Permissions, Denied: t.Denied, ReadOnly: t.ReadOnly, Approval: string(t.Approval), ExpiresAt: timestamppb.New(t.ExpiresAt)}
}

func publishToken(tx *db.Tx, t accessToken) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.TokenKey(t.ID.String()), &proto.Identity{Version: 1, Record: &proto.Identity_Key{Key: t.published()}})
}

func publishTokens(ctx context.Context, tx *db.Tx, ids []uuid.UUID) error {
	return publishTokensWhere(ctx, tx, `t.id = any($1)`, ids)
}

func publishTokensWhere(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	return row.Each(ctx, tx, func(t accessToken) error { return publishToken(tx, t) }, `select t.id, t.connection_id, t.hash, t.expires_at, c.person_id, c.name, coalesce(t.permissions, c.permissions) as permissions, c.denied, c.read_only, c.approval
		from access_token t join connection c on c.id = t.connection_id where `+where+` order by t.id`, args...)
}

func (r *Room) noticeStolen(ctx context.Context, tx *db.Tx, p people.Person, name string) error {
	return r.people.Notice(ctx, tx, p, "connection_reused", "name", name)
}

func endTokensWhere(ctx context.Context, tx *db.Tx, where string, args ...any) error {
	return people.Withdraw(ctx, tx, auth.TokenKey, `delete from access_token where `+where+` returning id::text`, args...)
}
