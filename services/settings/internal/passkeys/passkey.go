package passkeys

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/form"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/secrets"
	"frontdesk/services/settings/internal/sessions"
)

const (
	// challengeLife is how long a browser may take to answer.
	challengeLife  = 5 * time.Minute
	passkeyPurpose = "passkey challenge"
	// most is how many passkeys one user may have.
	most = 20
)

// newRelyingParty is the site as passkeys know it: they belong to the host of its public address.
func newRelyingParty(publicURL string) (*webauthn.WebAuthn, error) {
	u, err := url.Parse(publicURL)
	if err != nil {
		return nil, fmt.Errorf("public address: %w", err)
	}
	return webauthn.New(&webauthn.Config{RPID: u.Hostname(), RPDisplayName: u.Hostname(), RPOrigins: []string{u.Scheme + "://" + u.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{ResidentKey: protocol.ResidentKeyRequirementRequired,
			UserVerification: protocol.VerificationRequired}})
}

// holder is a user and their passkeys, for the library.
type holder struct {
	person      people.Person
	handle      []byte
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte                         { return h.handle }
func (h holder) WebAuthnName() string                       { return h.person.Login }
func (h holder) WebAuthnDisplayName() string                { return h.person.Name }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

// handleOf names a user to devices, which show it to nobody. It tells nothing about the user.
func (r *Room) handleOf(personID int64) []byte {
	return r.Keys.Lasting("passkey of " + row.Key(personID))
}

func (r *Room) holderOf(ctx context.Context, tx *db.Tx, p people.Person) (holder, error) {
	rows, err := tx.Query(ctx, `select credential from passkey where person_id = $1 order by id`, p.ID)
	if err != nil {
		return holder{}, fmt.Errorf("read passkeys: %w", err)
	}
	credentials, err := pgx.CollectRows(rows, pgx.RowTo[webauthn.Credential])
	if err != nil {
		return holder{}, fmt.Errorf("read passkeys: %w", err)
	}
	return holder{p, r.handleOf(p.ID), credentials}, nil
}

// passkeyChallenge is what a browser needs to make or use a passkey.
type passkeyChallenge struct {
	State     string         `json:"state" doc:"To send back with the browser's answer, within five minutes."`
	PublicKey map[string]any `json:"public_key" doc:"Options of navigator.credentials as JSON: for PublicKeyCredential.parseCreationOptionsFromJSON or parseRequestOptionsFromJSON."`
}

// PasskeyAnswer is the browser's answer to a challenge.
type PasskeyAnswer struct {
	State      string         `json:"state" required:"true" maxLength:"4000" doc:"The state that came with the options."`
	Credential map[string]any `json:"credential" required:"true" doc:"The credential that the browser gave, as its toJSON() makes it."`
}

// challenge seals what the answer is checked against, so that it travels through the browser.
func (r *Room) challenge(session *webauthn.SessionData, options any) (out passkeyChallenge, err error) {
	raw, err := json.Marshal(session)
	if err != nil {
		return out, fmt.Errorf("encode challenge: %w", err)
	}
	out.State = base64.RawURLEncoding.EncodeToString(r.Keys.Seal(passkeyPurpose, raw))
	shown, err := json.Marshal(options)
	if err != nil {
		return out, fmt.Errorf("encode options: %w", err)
	}
	return out, json.Unmarshal(shown, &out.PublicKey)
}

func wrongPasskey() error { return fault.Unauthorized("This passkey was not accepted.") }

// openChallenge is what a challenge was made with: 401 for a state that is not ours, too old or used before.
func (r *Room) openChallenge(ctx context.Context, tx *db.Tx, in PasskeyAnswer) (session webauthn.SessionData, credential []byte, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(in.State)
	if err != nil {
		return session, nil, wrongPasskey()
	}
	raw, err := r.Keys.Open(passkeyPurpose, sealed)
	if err != nil || json.Unmarshal(raw, &session) != nil || tx.Now.After(session.Expires) {
		return session, nil, wrongPasskey()
	}
	tag, err := tx.Exec(ctx, `insert into passkey_challenge (hash, expires_at) values ($1, $2) on conflict do nothing`, secrets.Hash(session.Challenge), session.Expires)
	if err != nil {
		return session, nil, fmt.Errorf("use up challenge: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return session, nil, wrongPasskey()
	}
	// The library compares with the clock of the process.
	session.Expires = time.Now().Add(time.Minute)
	credential, err = json.Marshal(in.Credential)
	return session, credential, err
}

// passkey is a key that a device of the user holds.
type passkey struct {
	ID         uuid.UUID  `json:"id" format:"uuid" doc:"The id of the record."`
	Name       string     `json:"name" doc:"The device, in words."`
	CreatedAt  time.Time  `json:"created_at" doc:"When it was made."`
	LastUsedAt *time.Time `json:"last_used_at" nullable:"true" doc:"When it was last used; null for never."`
}

func list(ctx context.Context, tx *db.Tx, _ op.None) (db.List[passkey], error) {
	all, err := db.Rows[passkey](ctx, tx, `select id, name, created_at, last_used_at from passkey where person_id = $1 order by id`, tx.Who.UserID)
	if err != nil {
		return db.List[passkey]{}, fmt.Errorf("list passkeys: %w", err)
	}
	return db.All(all), nil
}

// start makes the challenge for a new passkey of the caller; 403 without a recent password.
func (r *Room) start(ctx context.Context, tx *db.Tx, _ op.None) (passkeyChallenge, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return passkeyChallenge{}, err
	}
	p, err := people.ByID(ctx, tx, tx.Who.UserID)
	if err != nil {
		return passkeyChallenge{}, err
	}
	h, err := r.holderOf(ctx, tx, p)
	if err != nil {
		return passkeyChallenge{}, err
	}
	options, session, err := r.party.BeginRegistration(h, webauthn.WithExclusions(webauthn.Credentials(h.credentials).CredentialDescriptors()))
	if err != nil {
		return passkeyChallenge{}, fmt.Errorf("begin registration: %w", err)
	}
	session.Expires = tx.Now.Add(challengeLife)
	return r.challenge(session, options.Response)
}

// add stores the passkey that the caller's device has made, and mails them that there is one. Errors: 400 for an answer
// that does not fit, 403 without a recent password, 409 for too many passkeys.
func (r *Room) add(ctx context.Context, tx *db.Tx, in struct {
	PasskeyAnswer
	Name string `json:"name" required:"true" minLength:"1" maxLength:"100" doc:"The device, in words."`
}) (passkey, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return passkey{}, err
	}
	name := strings.TrimSpace(in.Name)
	if problem := form.Name(name, 100); !problem.IsZero() {
		return passkey{}, fault.Invalid("name", problem)
	}
	p, err := people.Lock(ctx, tx, tx.Who.UserID)
	if err != nil {
		return passkey{}, err
	}
	h, err := r.holderOf(ctx, tx, p)
	if err != nil {
		return passkey{}, err
	}
	if len(h.credentials) >= most {
		return passkey{}, fault.Conflict("too_many", "There are too many passkeys. Remove one first.")
	}
	refused := fault.Invalid("credential", fault.NewProblem("wrong", "was not accepted. Begin anew"))
	session, raw, err := r.openChallenge(ctx, tx, in.PasskeyAnswer)
	if err != nil {
		if row.UnlessRefused(err) == nil {
			err = refused
		}
		return passkey{}, err
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(raw)
	if err != nil {
		return passkey{}, refused
	}
	c, err := r.party.CreateCredential(h, session, answer)
	if err != nil {
		return passkey{}, refused
	}
	k := passkey{ID: db.NewID(), Name: name, CreatedAt: tx.Now}
	_, err = tx.Exec(ctx, `insert into passkey (id, person_id, name, credential_id, credential, created_at) values ($1, $2, $3, $4, $5, $6)`,
		k.ID, p.ID, k.Name, c.ID, c, k.CreatedAt)
	if db.Violates(err, "passkey_credential_id_key") {
		return passkey{}, refused
	}
	if err != nil {
		return passkey{}, fmt.Errorf("store passkey: %w", err)
	}
	return k, r.people.Notice(ctx, tx, p, "new_passkey", "name", name)
}

// remove removes a passkey of the caller. Errors: 403 without a recent password, 404 for another's.
func remove(ctx context.Context, tx *db.Tx, in op.ByID) (op.None, error) {
	if err := sessions.RecentPassword(ctx, tx); err != nil {
		return op.None{}, err
	}
	tag, err := tx.Exec(ctx, `delete from passkey where id = $1 and person_id = $2`, in.ID, tx.Who.UserID)
	if err != nil {
		return op.None{}, fmt.Errorf("delete passkey: %w", err)
	}
	if tag.RowsAffected() == 0 {
		return op.None{}, fault.NotFound("passkey")
	}
	return op.None{}, nil
}

// EndAll removes all passkeys of a user.
func EndAll(ctx context.Context, tx *db.Tx, personID int64) error {
	if _, err := tx.Exec(ctx, `delete from passkey where person_id = $1`, personID); err != nil {
		return fmt.Errorf("delete passkeys: %w", err)
	}
	return nil
}

// startSignIn makes the challenge for signing in with any passkey of this site.
func (r *Room) startSignIn(_ context.Context, tx *db.Tx, _ op.None) (passkeyChallenge, error) {
	options, session, err := r.party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return passkeyChallenge{}, fmt.Errorf("begin sign-in: %w", err)
	}
	session.Expires = tx.Now.Add(challengeLife)
	return r.challenge(session, options.Response)
}

// Use checks the answer to a challenge and gives the locked user whose passkey it is; 401 for any other answer, and for
// another user than only, unless that is 0.
func (r *Room) Use(ctx context.Context, tx *db.Tx, in PasskeyAnswer, only int64) (people.Person, error) {
	session, raw, err := r.openChallenge(ctx, tx, in)
	if err != nil {
		return people.Person{}, err
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(raw)
	if err != nil {
		return people.Person{}, wrongPasskey()
	}
	var p people.Person
	var failed error
	c, err := r.party.ValidateDiscoverableLogin(func(rawID, handle []byte) (webauthn.User, error) {
		var personID int64
		if failed = tx.QueryRow(ctx, `select person_id from passkey where credential_id = $1`, rawID).Scan(&personID); failed != nil {
			return nil, failed
		}
		if p, failed = people.Lock(ctx, tx, personID); failed != nil {
			return nil, failed
		}
		h, err := r.holderOf(ctx, tx, p)
		if failed = err; err == nil && (!bytes.Equal(handle, h.handle) || only != 0 && only != p.ID) {
			return nil, wrongPasskey()
		}
		return h, err
	}, session, answer)
	if failed != nil && !errors.Is(failed, pgx.ErrNoRows) && row.UnlessRefused(failed) != nil {
		return p, fmt.Errorf("find passkey: %w", failed)
	}
	// A counter that steps back is that of a copy.
	if err != nil || c.Authenticator.CloneWarning {
		return p, wrongPasskey()
	}
	if _, err := tx.Exec(ctx, `update passkey set credential = $2, last_used_at = $3 where credential_id = $1`, c.ID, c, tx.Now); err != nil {
		return p, fmt.Errorf("use passkey: %w", err)
	}
	return p, nil
}

// DeleteOutdated deletes up to n challenges that nobody can answer any more, and returns how many.
func DeleteOutdated(ctx context.Context, tx *db.Tx, n int) (deleted int, err error) {
	tag, err := tx.Exec(ctx, `delete from passkey_challenge where hash = any(array(select hash from passkey_challenge where expires_at < $1
		order by expires_at limit $2 for update skip locked))`, tx.Now, n)
	return int(tag.RowsAffected()), err
}
