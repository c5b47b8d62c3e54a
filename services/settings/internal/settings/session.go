package settings

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// sessionLife is how long a session lasts at most, however much it is used.
const sessionLife = 7 * 24 * time.Hour

// session is a browser that signed in.
type session struct {
	Hash      []byte
	PersonID  int64
	Channel   string
	TwoFactor bool
	SeenAt    time.Time
	ExpiresAt time.Time
}

const sessionColumns = `hash, person_id, channel, two_factor, seen_at, expires_at`

// newToken is a secret of 256 bits and the hash under which it is kept.
func newToken() (token string, hash []byte) {
	secret := make([]byte, 32)
	_, _ = rand.Read(secret)
	token = base64.RawURLEncoding.EncodeToString(secret)
	return token, tokenHash(token)
}

func tokenHash(token string) []byte {
	h := sha256.Sum256([]byte(token))
	return h[:]
}

// startSession signs a user in and answers with the cookie's token.
func startSession(ctx context.Context, tx *db.Tx, personID int64, channel string, twoFactor bool) (string, error) {
	token, hash := newToken()
	s := session{Hash: hash, PersonID: personID, Channel: channel, TwoFactor: twoFactor, SeenAt: tx.Now, ExpiresAt: tx.Now.Add(sessionLife)}
	_, err := tx.Exec(ctx, `insert into session (`+sessionColumns+`, created_at) values ($1, $2, $3, $4, $5, $6, $7)`,
		s.Hash, s.PersonID, s.Channel, s.TwoFactor, s.SeenAt, s.ExpiresAt, tx.Now)
	if err != nil {
		return "", fmt.Errorf("start session: %w", err)
	}
	return token, publishSession(ctx, tx, s)
}

func publishSession(ctx context.Context, tx *db.Tx, s session) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.SessionKey(s.Hash), &proto.Identity{Record: &proto.Identity_Session{Session: &proto.Session{
		Hash: s.Hash, UserId: s.PersonID, Channel: s.Channel, TwoFactor: s.TwoFactor,
		SeenAt: timestamppb.New(s.SeenAt), ExpiresAt: timestamppb.New(s.ExpiresAt)}}})
}

// endSession signs one browser out. It is no error when that has happened already.
func endSession(ctx context.Context, tx *db.Tx, hash []byte) error {
	if _, err := tx.Exec(ctx, `delete from session where hash = $1`, hash); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return tx.Tombstone(ctx, proto.IdentityTopic, auth.SessionKey(hash))
}

// endSessions signs a user out everywhere except in the session with the hash keep; nil keeps none.
func endSessions(ctx context.Context, tx *db.Tx, personID int64, keep []byte) error {
	rows, err := tx.Query(ctx, `delete from session where person_id = $1 and hash is distinct from $2 returning hash`, personID, keep)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return withdrawSessions(ctx, tx, rows)
}

// withdrawSessions publishes the end of the sessions whose hashes rows gives.
func withdrawSessions(ctx context.Context, tx *db.Tx, rows pgx.Rows) error {
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	for _, h := range hashes {
		if err := tx.Tombstone(ctx, proto.IdentityTopic, auth.SessionKey(h)); err != nil {
			return err
		}
	}
	return nil
}

// oneSession runs a statement that gives one row of sessionColumns; 401 when it gives none.
func oneSession(ctx context.Context, tx *db.Tx, sql string, args ...any) (session, error) {
	s, err := one[session](ctx, tx, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		return s, errNoSession()
	}
	if err != nil {
		return s, fmt.Errorf("read or change a session: %w", err)
	}
	return s, nil
}

// keepSession notes when a session was last used, so that it does not end as an idle one. A session that has ended, or was
// used later, stays as it is.
func keepSession(ctx context.Context, tx *db.Tx, hash []byte, at time.Time) error {
	s, err := oneSession(ctx, tx, `update session set seen_at = $2 where hash = $1 and seen_at < $2 returning `+sessionColumns, hash, at)
	if err != nil {
		return unlessRefused(err)
	}
	return publishSession(ctx, tx, s)
}

// publishSessions publishes the sessions that a statement gives as rows of sessionColumns.
func publishSessions(ctx context.Context, tx *db.Tx, sql string, args ...any) error {
	all, err := many[session](ctx, tx, sql, args...)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	for _, s := range all {
		if err := publishSession(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}
