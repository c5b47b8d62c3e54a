package sessions

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"frontdesk/libs/auth"
	"frontdesk/libs/bus"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/proto"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/site"
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

const columns = `hash, person_id, channel, two_factor, seen_at, expires_at`

// Proof is what a user has shown of themselves when a session starts.
type Proof struct {
	// TwoFactor is true for a second factor as well.
	TwoFactor bool
	// At is when they gave their password, here or at the organization's provider; zero for nobody knows.
	At time.Time
	// Issuer and SID are the provider that says so, and the session there, if it names one; empty for a sign-in here.
	Issuer, SID string
}

// Start signs the locked user in, and answers with the session's cookie.
func (r *Room) Start(ctx context.Context, tx *db.Tx, personID int64, proof Proof) (*http.Cookie, error) {
	token, hash := secrets.New()
	started := session{Hash: hash, PersonID: personID, Channel: tx.Who.Channel, TwoFactor: proof.TwoFactor, SeenAt: tx.Now, ExpiresAt: tx.Now.Add(sessionLife)}
	var typed *time.Time
	if !proof.At.IsZero() {
		typed = &proof.At
	}
	_, err := tx.Exec(ctx, `insert into session (`+columns+`, created_at, password_at, browser, address, issuer, sid)
		values (@hash, @person, @channel, @two_factor, @now, @expires, @now, coalesce(@typed, timestamptz '-infinity'), @browser, @address, nullif(@issuer, ''), nullif(@sid, ''))`,
		db.Args{"hash": hash, "person": personID, "channel": started.Channel, "two_factor": proof.TwoFactor, "now": tx.Now, "expires": started.ExpiresAt, "typed": typed,
			"browser": people.BrowserName(ctx), "address": tx.Who.Address, "issuer": proof.Issuer, "sid": proof.SID})
	if err != nil {
		return nil, fmt.Errorf("start session: %w", err)
	}
	err = people.Withdraw(ctx, tx, auth.SessionKey, `delete from session where hash in (
		select hash from session where person_id = $1 order by seen_at desc, created_at desc, hash = $2 desc offset $3) returning hash`, personID, hash, mostSessions)
	if err != nil {
		return nil, err
	}
	if err := publish(tx, started); err != nil {
		return nil, err
	}
	// The new cookie takes the place of this browser's old one, whose session nobody could end by signing out any more.
	if c, err := (&http.Request{Header: op.Header(ctx)}).Cookie(auth.Cookie); err == nil && c.Value != "" {
		if err := people.Withdraw(ctx, tx, auth.SessionKey, `delete from session where hash = $1 returning hash`, secrets.Hash(c.Value)); err != nil {
			return nil, err
		}
	}
	return r.Cookie(auth.Cookie, token, sessionLife), nil
}

// heardWithin is how long a sign-in waits for its session. Without Kafka none arrives.
const heardWithin = 3 * time.Second

// Hear waits until this process has heard of the session of a cookie, which was just started, as all do over Kafka. The answer would come before the
// session counts otherwise whenever the relay is slow, and the first request in it would be refused.
func (r *Room) Hear(ctx context.Context, started *http.Cookie) {
	ctx, cancel := context.WithTimeout(ctx, heardWithin)
	defer cancel()
	key := auth.SessionKey(secrets.Hash(started.Value))
	r.Identity.Table.Wait(ctx, func() bool {
		_, known := r.Identity.Table.Get(key)
		return known
	})
}

func publish(tx *db.Tx, s session) error {
	return tx.EmitMessage(proto.IdentityTopic, auth.SessionKey(s.Hash), &proto.Identity{Version: s.SeenAt.Unix(), Record: &proto.Identity_Session{Session: &proto.Session{
		Hash: s.Hash, UserId: s.PersonID, Channel: s.Channel, TwoFactor: s.TwoFactor,
		SeenAt: timestamppb.New(s.SeenAt), ExpiresAt: timestamppb.New(s.ExpiresAt)}}})
}

// EndAll signs a user out everywhere except in the session with the hash keep; nil keeps none.
func EndAll(ctx context.Context, tx *db.Tx, personID int64, keep []byte) error {
	return people.Withdraw(ctx, tx, auth.SessionKey, `delete from session where person_id = $1 and hash is distinct from $2 returning hash`, personID, keep)
}

// OwnerAtProvider is whose session it is that was begun as the session sid of a provider; 0 for nobody's.
func OwnerAtProvider(ctx context.Context, tx *db.Tx, issuer, sid string) (personID int64, err error) {
	err = tx.QueryRow(ctx, `select coalesce((select person_id from session where issuer = $1 and sid = $2 limit 1), 0)`, issuer, sid).Scan(&personID)
	if err != nil {
		return 0, fmt.Errorf("find session of a provider: %w", err)
	}
	return personID, nil
}

// EndAtProvider ends the sessions of a user that were begun at a provider: those of one session there, or all if sid is empty.
func EndAtProvider(ctx context.Context, tx *db.Tx, personID int64, issuer, sid string) error {
	return people.Withdraw(ctx, tx, auth.SessionKey, `delete from session where person_id = $1 and issuer = $2 and ($3 = '' or sid = $3) returning hash`, personID, issuer, sid)
}

// one runs a statement that gives one row of columns; 401 when it gives none.
func one(ctx context.Context, tx *db.Tx, sql string, args ...any) (session, error) {
	return db.Find[session](ctx, tx, errNoSession(), sql, args...)
}

// onSessionSeen notes when a session was last used, so that it does not end as an idle one. A session that has ended, or was
// used later, stays as it is.
func onSessionSeen(ctx context.Context, tx *db.Tx, e bus.Event, in *proto.SessionSeen) error {
	s, err := one(ctx, tx, `update session set seen_at = $2 where hash = $1 and seen_at < $2 returning `+columns, in.GetHash(), e.At)
	if err != nil {
		return row.UnlessRefused(err)
	}
	return publish(tx, s)
}

// ByHash is how a session came about and when it ends; 401 for one that has ended.
func ByHash(ctx context.Context, tx *db.Tx, hash []byte) (channel string, until time.Time, err error) {
	s, err := one(ctx, tx, `select `+columns+` from session where hash = $1`, hash)
	return s.Channel, s.ExpiresAt, err
}

// GiveTwoFactor notes that a session was given a second factor.
func GiveTwoFactor(ctx context.Context, tx *db.Tx, hash []byte) error {
	s, err := one(ctx, tx, `update session set two_factor = true where hash = $1 returning `+columns, hash)
	if err != nil {
		return err
	}
	return publish(tx, s)
}

// TakeTwoFactor notes that no session of a user counts as one with a second factor any more.
func TakeTwoFactor(ctx context.Context, tx *db.Tx, personID int64) error {
	return publishAll(ctx, tx, `update session set two_factor = false where person_id = $1 returning `+columns, personID)
}

// publishAll publishes the sessions that a statement gives as rows of columns.
func publishAll(ctx context.Context, tx *db.Tx, sql string, args ...any) error {
	return row.Each(ctx, tx, func(s session) error { return publish(tx, s) }, sql, args...)
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

// Of lists the browsers in which a user is signed in, the one that was used last first.
func Of(ctx context.Context, tx *db.Tx, personID int64) ([]OpenSession, error) {
	// Callers with a key have no current session.
	current, _ := Current(tx.Who)
	all, err := db.Rows[OpenSession](ctx, tx, `select id, browser, address, channel, two_factor, created_at, seen_at, expires_at, coalesce(hash = $2, false) as current
		from session where person_id = $1 and expires_at > $3 order by seen_at desc, id`, personID, current, tx.Now)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return all, nil
}

func list(ctx context.Context, tx *db.Tx, _ op.None) (db.List[OpenSession], error) {
	all, err := Of(ctx, tx, tx.Who.UserID)
	return db.All(all), err
}

// end signs a browser of the caller out; 404 for another's.
func end(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	return op.None{}, EndOf(ctx, tx, tx.Who.UserID, in.ID)
}

// EndOf signs a browser of a user out; 404 for another's.
func EndOf(ctx context.Context, tx *db.Tx, personID int64, id uuid.UUID) error {
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

// endIdle removes sessions that can no longer be used, so that the copies in all services stay small.
func (r *Room) endIdle(ctx context.Context) error {
	return r.DB.Do(ctx, func(tx *db.Tx) error {
		idle, err := site.IdleHours(ctx, tx)
		if err != nil {
			return err
		}
		return people.Withdraw(ctx, tx, auth.SessionKey, `delete from session where expires_at < $1 or seen_at < $1::timestamptz - make_interval(hours => $2) returning hash`,
			tx.Now, idle+1)
	})
}

// Current is the hash of the caller's session; 401 for callers without one.
func Current(who db.Actor) ([]byte, error) {
	text, ok := strings.CutPrefix(who.Credential, "session/")
	if !who.Session || !ok {
		return nil, errNoSession()
	}
	hash, err := hex.DecodeString(text)
	if err != nil {
		return nil, errNoSession()
	}
	return hash, nil
}

func errNoSession() error { return fault.Unauthorized("This needs a browser session. Sign in first.") }

// Cookie is one that no script reads.
func (r *Room) Cookie(name, token string, life time.Duration) *http.Cookie {
	//nolint:gosec // it is Secure wherever people come over https
	return &http.Cookie{Name: name, Value: token, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(r.Config.PublicURL, "https:"), MaxAge: int(life.Seconds())}
}

// signedOut answers a sign-out: it takes the cookie away.
type signedOut struct {
	op.None
	cookie *http.Cookie
}

// Headers clears the session cookie.
func (s signedOut) Headers() http.Header { return http.Header{"Set-Cookie": {s.cookie.String()}} }

// signOut ends the caller's session. It is no error when that has happened already.
func (r *Room) signOut(ctx context.Context, tx *db.Tx, _ op.None) (signedOut, error) {
	hash, err := Current(tx.Who)
	if err != nil {
		return signedOut{}, err
	}
	if _, err := tx.Exec(ctx, `delete from session where hash = $1`, hash); err != nil {
		return signedOut{}, fmt.Errorf("end session: %w", err)
	}
	tx.Tombstone(proto.IdentityTopic, auth.SessionKey(hash))
	return signedOut{cookie: r.Cookie(auth.Cookie, "", -time.Second)}, nil
}

// RecentPassword refuses a caller whose session has not seen the password within passwordRecent, with 403
// svc_password_required. The operations that ask for it are for people only.
func RecentPassword(ctx context.Context, tx *db.Tx) error {
	hash, err := Current(tx.Who)
	if err != nil {
		return err
	}
	var recent bool
	err = tx.QueryRow(ctx, `select coalesce((select password_at > $2 from session where hash = $1), false)`, hash, tx.Now.Add(-passwordRecent)).Scan(&recent)
	if err != nil {
		return fmt.Errorf("read when the password was typed: %w", err)
	}
	if !recent {
		return fault.New(http.StatusForbidden, "svc_password_required", "Type your password once more: POST /auth/confirm.")
	}
	return nil
}

// passwordRecent is for how long a typed password counts for what a stolen session must not do.
const passwordRecent = 10 * time.Minute

// NotePassword notes that a session has just seen the password, or that its person has just signed in at the provider once more. 401 for a
// session that has ended, or is another user's.
func NotePassword(ctx context.Context, tx *db.Tx, hash []byte, personID int64) error {
	tag, err := tx.Exec(ctx, `update session set password_at = $3 where hash = $1 and person_id = $2`, hash, personID, tx.Now)
	if err != nil {
		return fmt.Errorf("note the password: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return errNoSession()
	}
	return nil
}

// endRestored ends all sessions of a backup if no topic says which of them have ended since.
func (r *Room) endRestored(ctx context.Context) (did []string, err error) {
	err = r.DB.Do(ctx, func(tx *db.Tx) error {
		did = nil
		tx.History = true
		sessions, err := tx.Exec(ctx, `delete from session where not exists (select from logged where topic = $1)`, proto.IdentityTopic)
		if err != nil {
			return fmt.Errorf("end all sessions: %w", err)
		}
		if n := sessions.RowsAffected(); n > 0 {
			did = append(did, fmt.Sprintf("%d sessions are ended, because nothing says which of them were ended since the backup", n))
		}
		return nil
	})
	return did, err
}
