package passwords

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/argon2id"

	"frontdesk/libs/auth"
	"frontdesk/libs/db"
	"frontdesk/libs/fault"
	"frontdesk/libs/op"
	"frontdesk/services/settings/internal/people"
	"frontdesk/services/settings/internal/row"
	"frontdesk/services/settings/internal/sessions"
)

// On reports whether a user may sign in by password or passkey. Where the organization's account is the only way, that is the first administrator, for
// when the provider is down.
func (r *Room) On(p people.Person) bool {
	return !r.Config.OIDCOnly || strings.EqualFold(p.Login, r.Config.AdminLogin) && slices.Contains(p.Roles, auth.SiteAdmin)
}

// ErrOff refuses to let somebody in by other means than the organization's account.
func (r *Room) ErrOff() error {
	return fault.Refused("organization_only", "Sign in with your account at "+r.Config.OIDCName+".")
}

// FailOff is when ErrOff comes, see op.Fails.
const FailOff = "People sign in with the organization's account only (SVC_OIDC_ONLY). The first administrator is let in all the same."

// Attempts are the attempts allowed for each visitor address, and for each account.
var Attempts = db.Limit{N: 10, Per: time.Minute}

// Shortest in characters.
const Shortest = 8

// AccountOf is the key under which attempts at a user's password are counted, whatever login was typed.
func AccountOf(personID int64) string { return "account/#" + row.Key(personID) }

// Check compares a password with the user's for an action, outside any transaction because that takes tens of milliseconds, and
// gives the hash that it matched. A user with the id 0 does not exist. Errors: 429 when account has used up its attempts; wrong
// for another password, which the audit log then has an entry of.
func (r *Room) Check(ctx context.Context, d *db.DB, action, account string, personID int64, password string, wrong error) (hash string, err error) {
	wait, err := d.Allow(ctx, r.Config.RateFactor, db.Bucket{Key: account, Limit: Attempts})
	if err != nil {
		return "", err
	}
	if wait > 0 {
		return "", fault.RateLimited(wait)
	}
	// A user who does not exist takes the same steps.
	err = d.Read(ctx, func(tx *db.Tx) error {
		hash, err = people.PasswordHash(ctx, tx, personID)
		return err
	})
	if err != nil {
		return "", err
	}
	matches, err := r.hasher.matches(ctx, password, hash)
	if err != nil {
		return "", err
	}
	if !matches {
		return "", people.Refusing(ctx, d, func(tx *db.Tx) (refusal, err error) {
			return wrong, people.AuditRefusal(ctx, tx, action, personID)
		})
	}
	return hash, nil
}

// Argon are the costs that OWASP gives for argon2id with one thread.
var Argon = &argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hasher hashes a few passwords at a time: each takes 19 MiB and a core for some tens of milliseconds. A password that
// waits longer than patience for its turn is 503.
type hasher struct{ turns chan struct{} }

const hashers = 2

// Hash hashes a password that somebody chooses.
func (r *Room) Hash(ctx context.Context, password string) (string, error) {
	return r.hasher.hash(ctx, password)
}

func newHasher() hasher { return hasher{make(chan struct{}, hashers)} }

// patience is how long a password waits for its turn.
const patience = 5 * time.Second

func (h hasher) turn(ctx context.Context) (done func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case h.turns <- struct{}{}:
		return func() { <-h.turns }, nil
	case <-ctx.Done():
		return nil, fault.Unavailable()
	}
}

func (h hasher) hash(ctx context.Context, password string) (string, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	return argon2id.CreateHash(password, Argon)
}

// nobodys is the hash that a password is compared with if the login does not exist, so that the answer takes as long.
const nobodys = "$argon2id$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// matches reports whether hash is that of password. An empty hash matches nothing, and takes as long to refuse.
func (h hasher) matches(ctx context.Context, password, hash string) (bool, error) {
	done, err := h.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	if hash == "" {
		_, err := argon2id.ComparePasswordAndHash(password, nobodys)
		return false, err
	}
	return argon2id.ComparePasswordAndHash(password, hash)
}

// confirmPassword is what the audit log calls confirming one.
const confirmPassword = "confirm-password"

// confirm notes that the caller's session has just seen the password. Errors: 400 for a wrong one, 429 after many.
func (r *Room) confirm(ctx context.Context, d *db.DB, in struct {
	Password string `json:"password" required:"true" maxLength:"1024" doc:"The password of the caller."`
}) (op.None, error) {
	who := db.ActorFrom(ctx)
	hash, err := sessions.Current(who)
	if err != nil {
		return op.None{}, err
	}
	if _, err := r.Check(ctx, d, confirmPassword, AccountOf(who.UserID), who.UserID, in.Password, fault.Invalid("password", fault.NewProblem("wrong", "is not right"))); err != nil {
		return op.None{}, err
	}
	return op.None{}, d.Do(ctx, func(tx *db.Tx) error {
		if err := sessions.NotePassword(ctx, tx, hash, who.UserID); err != nil {
			return err
		}
		return op.Audit(ctx, tx, confirmPassword, "user", row.Key(who.UserID))
	})
}
