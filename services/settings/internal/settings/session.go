package settings

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/proto"
)

// sessionLife is how long a session can last with somebody at it all the time.
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
		return "", err
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
		return err
	}
	return tx.Tombstone(ctx, proto.IdentityTopic, auth.SessionKey(hash))
}

// endSessions signs a user out everywhere but in the session keep.
func endSessions(ctx context.Context, tx *db.Tx, personID int64, keep []byte) error {
	rows, err := tx.Query(ctx, `delete from session where person_id = $1 and hash is distinct from $2 returning hash`, personID, keep)
	if err != nil {
		return err
	}
	return buryAll(ctx, tx, rows)
}

// buryAll takes ended sessions out of the other services.
func buryAll(ctx context.Context, tx *db.Tx, rows pgx.Rows) error {
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return err
	}
	for _, h := range hashes {
		if err := tx.Tombstone(ctx, proto.IdentityTopic, auth.SessionKey(h)); err != nil {
			return err
		}
	}
	return nil
}

func oneSession(ctx context.Context, tx *db.Tx, sql string, args ...any) (session, error) {
	rows, err := tx.Query(ctx, sql, args...)
	if err != nil {
		return session{}, err
	}
	s, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[session])
	if errors.Is(err, pgx.ErrNoRows) {
		return s, errNoSession()
	}
	return s, err
}

func publishSessions(ctx context.Context, tx *db.Tx, rows pgx.Rows) error {
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[session])
	if err != nil {
		return err
	}
	for _, s := range all {
		if err := publishSession(ctx, tx, s); err != nil {
			return err
		}
	}
	return nil
}
