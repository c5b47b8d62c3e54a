package settings

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
)

const (
	// sessionLife is how long a session lasts at most, however much it is used.
	sessionLife = 7 * 24 * time.Hour
	// mostSessions is how many browsers one user may be signed in with; a further one ends the session that was used
	// longest ago.
	mostSessions = 20
)

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

// startSession signs the locked user in, who has just given their password, and answers with the cookie's token.
func startSession(ctx context.Context, tx *db.Tx, personID int64, channel string, twoFactor bool) (string, error) {
	token, hash := newToken()
	s := session{Hash: hash, PersonID: personID, Channel: channel, TwoFactor: twoFactor, SeenAt: tx.Now, ExpiresAt: tx.Now.Add(sessionLife)}
	_, err := tx.Exec(ctx, `insert into session (`+sessionColumns+`, created_at, password_at, browser, address)
		values (@hash, @person, @channel, @two_factor, @now, @expires, @now, @now, @browser, @address)`,
		pgx.NamedArgs{"hash": s.Hash, "person": s.PersonID, "channel": s.Channel, "two_factor": s.TwoFactor, "now": tx.Now, "expires": s.ExpiresAt,
			"browser": browserName(ctx), "address": tx.Who.Address})
	if err != nil {
		return "", fmt.Errorf("start session: %w", err)
	}
	rows, err := tx.Query(ctx, `delete from session where hash in (
		select hash from session where person_id = $1 order by seen_at desc, created_at desc, hash = $2 desc offset $3) returning hash`, personID, hash, mostSessions)
	if err != nil {
		return "", fmt.Errorf("bound sessions: %w", err)
	}
	if err := withdrawSessions(tx, rows); err != nil {
		return "", err
	}
	return token, publishSession(tx, s)
}

// heardWithin is how long a sign-in waits for its session. Without Kafka none arrives.
const heardWithin = 3 * time.Second

// hear waits until this process has heard of the session with a token, which was just started, as all do over Kafka. The answer would come before the
// session counts otherwise whenever the relay is slow, and the first request in it would be refused.
func (s *service) hear(ctx context.Context, token string) {
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	key := auth.SessionKey(tokenHash(token))
	s.Identity.Table.Wait(ctx, func() bool {
		_, known := s.Identity.Table.Get(key)
		return known
	})
}

func publishSession(tx *db.Tx, s session) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.SessionKey(s.Hash), &proto.Identity{Version: s.SeenAt.Unix(), Record: &proto.Identity_Session{Session: &proto.Session{
		Hash: s.Hash, UserId: s.PersonID, Channel: s.Channel, TwoFactor: s.TwoFactor,
		SeenAt: timestamppb.New(s.SeenAt), ExpiresAt: timestamppb.New(s.ExpiresAt)}}})
}

// endSession signs one browser out. It is no error when that has happened already.
func endSession(ctx context.Context, tx *db.Tx, hash []byte) error {
	if _, err := tx.Exec(ctx, `delete from session where hash = $1`, hash); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	tx.Tombstone(proto.IdentityTopic, auth.SessionKey(hash))
	return nil
}

// endSessions signs a user out everywhere except in the session with the hash keep; nil keeps none.
func endSessions(ctx context.Context, tx *db.Tx, personID int64, keep []byte) error {
	rows, err := tx.Query(ctx, `delete from session where person_id = $1 and hash is distinct from $2 returning hash`, personID, keep)
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	return withdrawSessions(tx, rows)
}

// withdrawSessions publishes the end of the sessions whose hashes rows gives.
func withdrawSessions(tx *db.Tx, rows pgx.Rows) error {
	hashes, err := pgx.CollectRows(rows, pgx.RowTo[[]byte])
	if err != nil {
		return fmt.Errorf("end sessions: %w", err)
	}
	for _, h := range hashes {
		tx.Tombstone(proto.IdentityTopic, auth.SessionKey(h))
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
	return publishSession(tx, s)
}

// publishSessions publishes the sessions that a statement gives as rows of sessionColumns.
func publishSessions(ctx context.Context, tx *db.Tx, sql string, args ...any) error {
	all, err := many[session](ctx, tx, sql, args...)
	if err != nil {
		return fmt.Errorf("read sessions: %w", err)
	}
	for _, s := range all {
		if err := publishSession(tx, s); err != nil {
			return err
		}
	}
	return nil
}

// OpenSession is a browser that is signed in, as its user recognises it.
type OpenSession struct {
	ID        uuid.UUID `json:"id" format:"uuid" doc:"The id of the record."`
	Browser   string    `json:"browser" doc:"Browser and system, as the browser calls itself."`
	Address   string    `json:"address" doc:"Where the user signed in from."`
	Channel   string    `json:"channel" enum:"app,portal" doc:"app or portal."`
	TwoFactor bool      `json:"two_factor" doc:"A second factor was given."`
	CreatedAt time.Time `json:"created_at" doc:"When it began."`
	SeenAt    time.Time `json:"seen_at" doc:"When it was last used, within a few minutes."`
	ExpiresAt time.Time `json:"expires_at" doc:"When it ends."`
	Current   bool      `json:"current" doc:"The session that asks."`
}

func openSessions(ctx context.Context, tx *db.Tx, personID int64) ([]OpenSession, error) {
	// Callers with a key have no current session.
	current, _ := currentSession(tx.Who)
	all, err := many[OpenSession](ctx, tx, `select id, browser, address, channel, two_factor, created_at, seen_at, expires_at, coalesce(hash = $2, false) as current
		from session where person_id = $1 and expires_at > $3 order by seen_at desc, id`, personID, current, tx.Now)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return all, nil
}

func listSessions(ctx context.Context, tx *db.Tx, _ op.None) (db.List[OpenSession], error) {
	all, err := openSessions(ctx, tx, tx.Who.UserID)
	return db.All(all), err
}

// endOpenSession signs a browser of the caller out; 404 for another's.
func endOpenSession(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	return op.None{}, endSessionOf(ctx, tx, tx.Who.UserID, in.ID)
}

func endSessionOf(ctx context.Context, tx *db.Tx, personID int64, id uuid.UUID) error {
	var hash []byte
	err := tx.QueryRow(ctx, `delete from session where id = $1 and person_id = $2 returning hash`, id, personID).Scan(&hash)
	if errors.Is(err, pgx.ErrNoRows) {
		return fault.NotFound("session")
	}
	if err != nil {
		return fmt.Errorf("end session %s: %w", id, err)
	}
	tx.Tombstone(proto.IdentityTopic, auth.SessionKey(hash))
	return nil
}
